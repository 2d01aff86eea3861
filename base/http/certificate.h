// Certificates made on the spot.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace capi::http {

struct Certificate {
  std::string cert_pem, key_pem;
};

// A self-signed server certificate (ECDSA P-256, ten years) for these host names and IP addresses.
Result<Certificate> MakeSelfSigned(const std::vector<std::string>& hosts);

}  // namespace capi::http
