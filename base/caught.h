// Exceptions where a thread has to go on (behaviour.md F7).
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace capi {

// What `step` threw, in words; nullopt where it returned.
template <typename Step>
[[nodiscard]] std::optional<std::string> Caught(Step step) {
  try {
    step();
    return std::nullopt;
  } catch (const std::exception& e) {
    return std::string("exception: ") + e.what();
  } catch (...) {
    return "an exception that isn't one of the standard library's";
  }
}

}  // namespace capi
