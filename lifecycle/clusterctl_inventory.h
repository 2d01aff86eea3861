// clusterctl's inventory: the objects by which it knows which providers a cluster has (behaviour.md A1).
//
// Providers of ours get one each, as clusterctl would have written it, so that its `upgrade plan`, `init`, `describe`
// and `move` work with them. Format: docs/formats.md, "clusterctl's inventory".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "base/context.h"
#include "kube/apply/manifest.h"
#include "kube/client/client.h"
#include "lifecycle/plan/clusterctl_entry.h"

namespace capi::lifecycle {

const kube::Resource& ClusterctlProviders();

// The entry for a provider of ours: applied last, so that it is there only when everything else is.
kube::Manifest EntryManifest(const api::ProviderId& id, const std::string& version);
kube::ObjectId EntryId(const api::ProviderId& id);

// nullopt for an object that is none: no name, or a type that nobody knows.
std::optional<ClusterctlEntry> ParseEntry(const kube::Object& object);
// All entries in the cluster; none where it doesn't have the kind.
Result<std::vector<ClusterctlEntry>> ListEntries(const Context& ctx, kube::Client& client);

// Creates the CustomResourceDefinition where the cluster lacks it, as `clusterctl init` does. It is nobody's: it stays.
Status EnsureEntryCrd(const Context& ctx, kube::Client& client, std::string_view field_manager = api::kFieldManager);

}  // namespace capi::lifecycle
