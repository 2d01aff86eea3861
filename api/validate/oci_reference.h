// How people name an artifact in a registry (spec.fetchConfig.oci).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::api {

// "[oci://|https://|http://]host[:port]/repository[:tag][@sha256:<hex>]". A value.
struct OciReference {
  bool plain_http = false;  // http://, and nothing else
  std::string host;         // with its port, an IPv6 address in brackets
  std::string repository;   // "org/provider"
  std::string tag, digest;  // "" where none is named; the digest counts where both are
  // As it can be written again: with "http://" or "oci://".
  std::string ToString() const;
};
// kInvalidArgument with what is wrong.
Result<OciReference> ParseOciReference(std::string_view text);

// "sha256:" and 64 lower-case hexadecimal digits.
bool IsSha256Digest(std::string_view text);

}  // namespace capi::api
