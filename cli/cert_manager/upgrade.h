// A cert-manager that clusterctl installed, and the one that the configuration names (behaviour.md L12, L13).
#pragma once

#include <optional>
#include <vector>

#include "cli/cert_manager/cert_manager.h"
#include "cli/cert_manager/decision.h"

namespace capi::cli {

// A value.
struct CertManagerUpgrade {
  CertManagerSettings settings;
  CertManagerDecision decision;
  std::vector<kube::Object> installed;  // what is in the cluster with clusterctl's label
  std::vector<kube::Object> objects;    // what the configuration names
};

// Writes nothing. nullopt where clusterctl installed none, or the configuration says that others do. An error where
// what it names can't be had.
Result<std::optional<CertManagerUpgrade>> PlanCertManagerUpgrade(const Context& ctx, const Config& config,
                                                                 kube::Client& client, Notes& notes);

// What a person is told of it: `Cert-Manager will be upgraded from "v1.19.1" to "v1.21.1"`.
std::string AsText(const CertManagerUpgrade& upgrade);

// In place: it isn't deleted first, so that what needs it finds it. Objects of its kinds are brought to the version
// that is stored now where the new CRDs lack an older one. Waits until it answers. It can be repeated.
Status UpgradeCertManager(const Context& ctx, kube::Client& client, CertManagerUpgrade upgrade, Notes& notes);

}  // namespace capi::cli
