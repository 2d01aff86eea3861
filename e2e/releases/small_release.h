// A release of six small objects, one of each stage, whose two versions differ in all that an upgrade can change.
#pragma once

#include <string>

#include "e2e/support/cluster.h"

namespace capi::e2e {

// For a test that needs one provider beside the core.
inline const Managed kSmall{api::ProviderType::kInfrastructure, "small", "small", "small-controller-manager"};

// From v1.1.0 on the CRD has another storage version and the ConfigMap another name. A value.
struct SmallRelease {
  std::string version;
  std::string contract = "v1beta1";
  bool can_run = true;  // else no node fits
};

// As a ConfigMap in the provider's Namespace. That Namespace's name is part of the names of what isn't namespaced, and
// all but a core's names begin with the provider's, so that several can live side by side.
void StoreSmall(Cluster& cluster, const Managed& provider, const SmallRelease& release);
Json SmallSource(const Managed& provider);  // spec.fetchConfig

}  // namespace capi::e2e
