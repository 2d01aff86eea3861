// Base64, gzip, digests, and random bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi {

std::string Base64Encode(std::string_view bytes);
Result<std::string> Base64Decode(std::string_view text);  // standard alphabet; white space is skipped

// Deterministic: no name, no time.
std::string Gzip(std::string_view bytes);
// kInvalidArgument for what is no gzip, is cut off, or unpacks to more than `max_bytes`.
Result<std::string> Gunzip(std::string_view bytes, size_t max_bytes = 256u << 20);

std::string Sha256Hex(std::string_view bytes);  // lower case
std::string HmacSha256Hex(std::string_view key, std::string_view bytes);

// Of the cryptographic generator. Ends the process where there is none.
std::string RandomBytes(size_t size);

}  // namespace capi
