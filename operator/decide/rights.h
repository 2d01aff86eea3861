// What an installation asks of the API server, against what may be done there (behaviour.md T3, T8). Pure:
// act/install/check_rights.cc asks; missing_rights.h tells.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/apply/inventory.h"
#include "kube/apply/manifest.h"
#include "kube/meta/resource.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// One verb on one resource. A value.
struct Right {
  std::string group, resource, verb;
  std::string ns;    // "" for the whole cluster
  std::string name;  // of one object; "" for any
  auto operator<=>(const Right&) const = default;
};

// Whether it counts for the object that is named: to give away the rights of a role, or to act as a ServiceAccount.
bool IsOfOne(const Right& right);
// Whether it is taken by a watch, which is for all namespaces.
bool IsWatch(const Right& right);

// What one may do in a namespace, as the status of a SelfSubjectRulesReview of it says. It may know less than the API
// server allows, where that has other authorizers than RBAC: what isn't held here is to be asked for. A value.
class HeldRights {
 public:
  HeldRights() = default;
  explicit HeldRights(const Json& review_status);

  bool Holds(const Right& right) const;
  // Whether the API server lets one give away the rules of a Role or ClusterRole, as it does to whoever has them all.
  // An aggregated one takes every right.
  bool Covers(const Json& role) const;

 private:
  bool CoversRule(const Json& rule) const;

  std::vector<Json> resources_, paths_;  // PolicyRules: of resources, and of URLs that are none
};

// Rights by namespace; those in the whole cluster under "".
using HeldByNamespace = std::map<std::string, HeldRights>;

// Who does what of a release: the operator watches; it writes, too, or a ServiceAccount does (T8).
struct Holders {
  const HeldByNamespace& writer;
  const HeldByNamespace& watcher;
  bool of_an_account = false;  // the writer's: then it is asked, too, to read and remove what is written
};

// Where a kind is served; null where nobody knows.
using ResourceLookup = std::function<std::optional<kube::Resource>(const kube::GroupKind&)>;

// What is sent to the API server: what differs from what is applied, by hash.
std::vector<const kube::Manifest*> WhatIsSent(const kube::Inventory& applied,
                                              const std::vector<kube::Manifest>& manifests);

// What WhatIsSent, and of an account's whatever is or was applied, needs that isn't held, each right once per
// namespace, with the first object that needs it: to write it, to watch its kinds, and to give away what its roles and
// bindings do. Nothing is said of a binding to a role that isn't among `manifests`.
std::vector<Right> MissingRights(const std::vector<kube::Manifest>& manifests, const kube::Inventory& applied,
                                 const ResourceLookup& lookup, const Holders& held);

}  // namespace capi::ops
