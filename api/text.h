// Text as Go's tools print and read it, where users know those forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capi::api {

// Go's %q: in double quotes, with escapes. Bytes above ASCII stay as they are.
std::string GoQuote(std::string_view text);

// True for one or more ASCII digits and nothing else.
bool AllDigits(std::string_view text);

// Unsigned decimal into `out`; false for anything but digits or for what doesn't fit.
bool ParseUint(std::string_view text, std::uint64_t& out);

}  // namespace capi::api
