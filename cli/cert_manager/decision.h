// Whether a cert-manager that clusterctl installed is to be upgraded. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::cli {

// On every object of cert-manager that clusterctl has installed; objects from before it have none.
inline constexpr std::string_view kCertManagerVersionAnnotation = "cert-manager.clusterctl.cluster.x-k8s.io/version";

// A value.
struct CertManagerDecision {
  std::string from;  // the version that is there; "" where none of clusterctl's is
  bool upgrade = false;
};

// Of what is there with clusterctl's label, and what the configured version brings. kInvalidArgument for a version that
// is none.
Result<CertManagerDecision> DecideCertManager(const std::string& desired, const std::vector<kube::Object>& installed,
                                              const std::vector<kube::Object>& to_install);

}  // namespace capi::cli
