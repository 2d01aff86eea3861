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
  // Nothing of it runs: what a person is told of that. There is nothing to decide then. Else "".
  std::string gone;
};

// What is in the cluster, without a decision. nullopt where clusterctl installed none, the configuration says that
// others do, or, with a warning, somebody else has taken it over or runs a newer one. Writes nothing.
Result<std::optional<CertManagerUpgrade>> FindCertManager(const Context& ctx, const Config& config,
                                                          kube::Client& client, Notes& notes);

// Fetches what the configuration names, and decides. kFailedPrecondition where an upgrade to a newer one was broken
// off. Writes nothing.
Status DecideUpgrade(const Context& ctx, const Config& config, CertManagerUpgrade& upgrade, Notes& notes);

// What a person is told of it: `Cert-Manager will be upgraded from "v1.19.1" to "v1.21.1"`.
std::string AsText(const CertManagerUpgrade& upgrade);

// Whether the server would take it, in a dry-run.
Status CheckUpgrade(const Context& ctx, kube::Client& client, const CertManagerUpgrade& upgrade);

// In place: it isn't deleted first, so that what needs it finds it. Objects of its kinds are brought to the version
// that is stored now where the new CRDs lack an older one; what the new one no longer has goes once the new pods run
// and it answers. It can be repeated: until all is done its kinds say that it isn't.
Status UpgradeCertManager(const Context& ctx, kube::Client& client, CertManagerUpgrade upgrade, Notes& notes);

}  // namespace capi::cli
