// Unpacks zlib's format (RFC 1950), of which the next thing begins where it ends.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace capi {

// `packed` begins with a stream that unpacks to `size` bytes, which go to `take` piece by piece. How many bytes of
// `packed` it has. kInvalidArgument for what is none, is cut off, or is longer or shorter.
Result<size_t> Inflate(std::string_view packed, size_t size, const std::function<void(std::string_view)>& take);

}  // namespace capi
