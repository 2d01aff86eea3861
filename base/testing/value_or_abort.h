// For the set-up of a test: without it there is nothing to test.
#pragma once

#include <fmt/core.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace capi {

// The value, or the end of the program with `what` and the error on stderr. Thread-safe.
template <typename T>
T ValueOrAbort(Result<T> result, std::string_view what) {
  if (!result.ok()) {
    fmt::print(stderr, "test set-up: {}: {}\n", what, result.error().message);
    std::abort();
  }
  return std::move(result).value();
}

}  // namespace capi
