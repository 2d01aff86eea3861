// Whether a release could be applied over another one that is in a cluster (behaviour.md L13, L23).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "kube/apply/manifest.h"
#include "kube/client/client.h"

namespace capi::lifecycle {

// What it takes. A value.
struct UpgradeNeeds {
  std::vector<std::string> to_migrate;  // CRDs whose objects have to be migrated first (U3)
  bool switches = false;                // a CRD would store another version, or stop serving one
};

// All that the server would refuse is an error before anything is changed; what it would refuse only until CRDs are
// migrated isn't. Writes nothing.
Result<UpgradeNeeds> TryUpgrade(const Context& ctx, kube::Client& client, std::vector<kube::Manifest> manifests,
                                std::string_view field_manager);

}  // namespace capi::lifecycle
