// What others wrote, as it may reach a terminal. Pure.
#pragma once

#include <string>
#include <string_view>

namespace capi::cli {

// Without what would steer a terminal: control characters are replaced, but for those in `kept`.
std::string Printable(std::string_view text, std::string_view kept = "\n");

}  // namespace capi::cli
