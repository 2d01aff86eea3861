// Base64, percent escapes, gzip, digests, and random bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capi {

std::string Base64Encode(std::string_view bytes);
Result<std::string> Base64Decode(std::string_view text);  // standard alphabet; white space is skipped

// All bytes but letters, digits, "-._~" and those of `plain` as %XX.
std::string PercentEscape(std::string_view text, std::string_view plain = "");
std::string PercentUnescape(std::string_view text);  // what is no escape stays

// Deterministic: no name, no time. Takes no more memory than it has characters.
std::string Gzip(std::string_view bytes);
// kInvalidArgument for what is no gzip, is cut off, or unpacks to more than `max_bytes`.
Result<std::string> Gunzip(std::string_view bytes, size_t max_bytes);

std::string Sha256Hex(std::string_view bytes);  // lower case

// The same of bytes that come piece by piece. Ends the process where there is no SHA-256. Thread-compatible.
class RunningSha256 {
 public:
  RunningSha256();
  ~RunningSha256();
  RunningSha256(const RunningSha256&) = delete;
  RunningSha256& operator=(const RunningSha256&) = delete;

  void Add(std::string_view piece);
  std::string Hex();  // of all so far; call once, at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string HmacSha256Hex(std::string_view key, std::string_view bytes);

// Of the cryptographic generator. Ends the process where there is none.
std::string RandomBytes(size_t size);

}  // namespace capi
