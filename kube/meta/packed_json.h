// JSON that is kept for long and read seldom, as its text: a tree takes some five times as much memory.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"

namespace capi::kube {

// A value; copies share the text. What is compared is the value: equal texts are equal values, as the keys of objects
// are sorted. Thread-compatible.
class PackedJson {
 public:
  PackedJson() = default;         // null
  PackedJson(const Json& value);  // not explicit: each Json is one

  Json Unpack() const;
  bool is_null() const { return text_ == nullptr; }
  bool empty() const { return is_null() || *text_ == "[]" || *text_ == "{}"; }
  bool IsSame(const PackedJson& other) const { return text_ == other.text_; }  // a copy of this
  bool operator==(const PackedJson& other) const {
    return text_ == other.text_ || (text_ != nullptr && other.text_ != nullptr && *text_ == *other.text_);
  }

 private:
  std::shared_ptr<const std::string> text_;
};

}  // namespace capi::kube
