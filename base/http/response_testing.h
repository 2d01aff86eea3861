// For tests of what reads answers.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/http/response_reader.h"

namespace capi::http_testing {

// A text in pieces of a given size. Thread-compatible.
class Pieces : public http::ByteSource {
 public:
  Pieces(std::string_view text, size_t piece) : text_(text), piece_(piece) {}
  Result<size_t> Read(char* into, size_t size) override {
    size_t count = text_.copy(into, std::min(piece_, size));
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
  size_t piece_;
};

}  // namespace capi::http_testing
