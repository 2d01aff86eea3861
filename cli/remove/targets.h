// Which providers a command line means, in which order they go, and what stands in their way. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "base/result.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/provider_objects.h"
#include "kube/apply/inventory.h"

namespace capi::cli {

// A provider that the management cluster has. A value.
struct Target {
  api::ProviderId id;
  std::string version;             // the installed one; "" for none
  bool object = false;             // the operator looks after it
  bool entry = false;              // clusterctl's inventory has it
  std::string entry_uid;           // of that
  bool noted = false;              // an earlier run was removing it, as its Namespace notes, and was broken off
  kube::Inventory inventory;       // of its object's status
  std::string inventory_error;     // why that can't be read
  std::set<kube::ObjectId> named;  // Secrets and ConfigMaps that its spec names
  Json release_maps;               // selector of ConfigMaps with its release; null for none
  bool operator==(const Target&) const = default;
  bool left() const { return !object && !entry; }  // that run has removed it
  bool has_inventory() const { return inventory.size() != 0 || !inventory_error.empty(); }
};

// What an earlier run noted of a provider that it was removing. A value.
struct NotedProvider {
  api::ProviderId id;
  std::set<kube::ObjectId> named;  // as in Target
  Json release_maps;
  std::string entry_uid = {};  // "" where it had none
  bool operator==(const NotedProvider&) const = default;
};

// What the operator's objects and clusterctl's inventory have, each provider once, and what else `noted` has: what it
// says counts where the object isn't there to say so itself. A note of what was there before somebody installed the
// provider anew says nothing.
std::vector<Target> Merge(const std::vector<ProviderObject>& objects, const std::vector<InstalledProvider>& entries,
                          const std::vector<NotedProvider>& noted = {});

using NamesByType = std::map<api::ProviderType, std::vector<std::string>>;  // name, or name:version

// Those of `all` that are named; all of them without a name. kInvalidArgument or kNotFound in clusterctl's words. `ns`
// says which of two that have the same name; "" for any.
Result<std::vector<Target>> Select(const std::vector<Target>& all, const NamesByType& names, const std::string& ns);

// One round after the other: the core goes last, since the others need it.
std::vector<std::vector<Target>> Rounds(std::vector<Target> targets);

// X3: providers that stay need the core.
Status CheckCoreGoesLast(const std::vector<Target>& all, const std::vector<Target>& going);

// Providers that stay, and have the name of one that goes: both have the same objects outside of namespaces, and the
// operator would take them. `by_operator` says which go that way; without it they are left to the one that stays.
Status CheckOnlyOfItsName(const std::vector<Target>& all, const std::vector<Target>& going, bool by_operator);

// Whether `other` is the same provider in another namespace, and has objects: one that the operator refused (I5) has
// none.
bool SharesObjects(const Target& target, const Target& other);

// What else lives in the namespaces that are to go: providers that stay, and the operator in `operator_ns`.
Status CheckNamespaces(const std::vector<Target>& all, const std::vector<Target>& going,
                       const std::string& operator_ns);

// The namespaces of the targets, each once.
std::vector<std::string> NamespacesOf(const std::vector<Target>& targets);

}  // namespace capi::cli
