// Who makes certificates, and what has to be seen for that (behaviour.md I19). Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "kube/cache/store.h"
#include "operator/observe/settings.h"

namespace capi::ops {

// The Deployments of cert-manager's controller, wherever they are: its manifests and its chart give them these labels.
inline constexpr const char* kCertManagerSelector =
    "app.kubernetes.io/component=controller,app.kubernetes.io/name=cert-manager";

struct CertManagerSight {
  bool serves = false;
  std::optional<Millis> until{};  // it isn't available, and counts as serving for so long
};
// One that is available serves. Where certificates are its own already (`in_use`), one that isn't available serves for
// ten minutes more: it may be restarting, or be upgraded. One of no replicas doesn't.
CertManagerSight SightOf(const std::vector<kube::ObjectPtr>& controllers, bool in_use, WallTime now);

// With --namespace, Secrets can be watched there and nowhere else. Needed only where the operator may make some.
bool SeesSecretsOfOneNamespace(const Settings& settings);

}  // namespace capi::ops
