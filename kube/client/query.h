// The query part of a request's target.
#pragma once

#include <string>
#include <string_view>

namespace capi::kube {

// A value.
class Query {
 public:
  // Left out where `value` is empty.
  void Add(std::string_view key, std::string_view value);
  std::string AppendTo(std::string path) const { return text_.empty() ? path : path + "?" + text_; }

 private:
  std::string text_;
};

}  // namespace capi::kube
