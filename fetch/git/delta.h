// One object of git as what another one has, and what it has not.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::fetch {

// How large what comes of it will be. kInvalidArgument where it isn't of a base of this size.
Result<size_t> SizeOfDelta(size_t base, std::string_view delta);

// kInvalidArgument for what is no delta of this base, or what comes of it has more than `most` bytes.
Result<std::string> ApplyDelta(std::string_view base, std::string_view delta, size_t most);

}  // namespace capi::fetch
