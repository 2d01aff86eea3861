// A release of six small objects, one of each stage, whose two versions differ in all that an upgrade can change.
#pragma once

#include <string>

#include "e2e/cluster.h"

namespace capi::e2e {

// Components of v1.0.0, v1.1.0 and so on, as a core release. `name` is part of the names of what isn't namespaced, so
// that several can live side by side. From v1.1.0 on the CRD has another storage version and the ConfigMap another
// name.
std::string SmallCoreComponents(const std::string& name, const std::string& version);

// The same as a ConfigMap in namespace `ns`, as a core provider's release of that version.
void StoreSmallCore(Cluster& cluster, const std::string& ns, const std::string& name, const std::string& version);

}  // namespace capi::e2e
