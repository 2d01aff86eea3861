// Pieces of HTTP's grammar that requests and answers share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/http/client.h"

namespace capi::http {

// Whether two names of headers are the same one, in any case.
bool SameName(std::string_view a, std::string_view b);

// What HTTP calls a token: a method, a header's name.
bool IsToken(std::string_view text);

// The number that is all of `text`, in base 10 or 16; false for anything else, a sign or an overflow too.
bool ReadNumber(std::string_view text, int base, std::uint64_t& number);

// The values of all headers of that name. They live as long as `headers`.
std::vector<std::string_view> Values(const Headers& headers, std::string_view name);

// Whether an item of the comma-separated values of a header is this one, in any case. `item` is in lower case.
bool HasItem(const Headers& headers, std::string_view name, std::string_view item);

}  // namespace capi::http
