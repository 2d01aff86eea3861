// How clusterctl marks a cert-manager that it installed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace capi::cli {

inline constexpr std::string_view kLabelCore = "clusterctl.cluster.x-k8s.io/core";
inline constexpr std::string_view kCertManager = "cert-manager";      // the label's value
inline constexpr std::string_view kCertManagerWriter = "clusterctl";  // the field manager
// Kinds without which it can't answer.
inline constexpr const char* kCertManagerCrds[] = {"issuers.cert-manager.io", "certificates.cert-manager.io"};

inline std::string CertManagerSelector() { return fmt::format("{}={}", kLabelCore, kCertManager); }

}  // namespace capi::cli
