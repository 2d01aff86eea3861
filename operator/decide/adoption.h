// Taking over what another tool installed (behaviour.md A1 to A2): how it is told, and what is said of it. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/adoption.h"
#include "api/kinds.h"
#include "kube/apply/preview.h"
#include "lifecycle/plan/clusterctl_entry.h"
#include "operator/decide/hold.h"
#include "operator/decide/observation.h"

namespace capi::ops {

inline constexpr std::string_view kClusterctl = "clusterctl";
inline constexpr std::string_view kPeer = "cluster-api-operator";

using lifecycle::ClusterctlEntry;

// This operator has never applied anything for the provider.
bool NeverInstalled(const api::Provider& provider);

// The peer operator installed the provider, and its marks are still on the object; nullopt where they aren't.
std::optional<FormerInstall> LeftByPeer(const api::Provider& provider);

// The version in our own entry of clusterctl's inventory for this provider, in its own namespace; "" for none (U11).
std::string InstalledByUs(const api::ProviderId& id, std::span<const ClusterctlEntry> entries);
// The entry for this provider that isn't ours, in its own namespace or else in another.
std::optional<FormerInstall> InstalledByClusterctl(const api::ProviderId& id, std::span<const ClusterctlEntry> entries);

// A1a: clusterctl's components are in another namespace than the Provider object, so that they can't be its.
std::optional<Hold> InstalledElsewhere(const Observation& o);

// A2: an apply would change what runs, in words; paths alone, since values may be secrets.
Hold DifferencesHold(const FormerInstall& former, const std::vector<kube::Difference>& differences);
bool MayOverwrite(const api::Provider& provider);

}  // namespace capi::ops
