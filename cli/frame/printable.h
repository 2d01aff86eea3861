// Text of others for a person's terminal.
#pragma once

#include <string>
#include <string_view>

namespace capi::cli {

// What others wrote, without what would steer a terminal: control characters (but line breaks) are replaced.
std::string Printable(std::string_view text);
// In one line: line breaks, too.
std::string PrintableLine(std::string_view text);

}  // namespace capi::cli
