// Usages of a key, as cert-manager and OpenSSL name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capi::certificates {

// "cert sign" of cert-manager: what isCA says already.
inline constexpr std::string_view kCertSign = "cert sign";

// A value.
struct Usage {
  std::string_view name;     // cert-manager's: "server auth"
  std::string_view openssl;  // "serverAuth"
  bool extended = false;
};

// Null for one that can't be asked for here. Thread-safe.
const Usage* FindUsage(std::string_view name);

// OpenSSL's names, each once and sorted: two names of cert-manager may mean the same. A value.
struct UsageNames {
  std::vector<std::string> simple, extended;
};

// Of cert-manager's. Thread-safe.
UsageNames NamesOf(const std::vector<std::string>& usages);

}  // namespace capi::certificates
