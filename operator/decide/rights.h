// What an installation asks of the API server, against what the operator may do there, and the role that gives it the
// rest (behaviour.md T3). Pure: act/install/check_rights.cc asks.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/apply/inventory.h"
#include "kube/apply/manifest.h"
#include "kube/meta/resource.h"
#include "operator/decide/hold.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// One verb on one resource. A value.
struct Right {
  std::string group, resource, verb;
  std::string ns;    // "" for the whole cluster
  std::string name;  // of one object; "" for any
  auto operator<=>(const Right&) const = default;
};

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

// Where a kind is served; null where nobody knows.
using ResourceLookup = std::function<std::optional<kube::Resource>(const kube::GroupKind&)>;

// What is sent to the API server: what differs from what is applied, by hash.
std::vector<const kube::Manifest*> WhatIsSent(const kube::Inventory& applied,
                                              const std::vector<kube::Manifest>& manifests);

// What those need that isn't held, each right once per namespace, with the first object that needs it: to write them,
// to watch their kinds, and to give away what their roles and bindings do. Nothing is said of a binding to a role that
// isn't among `manifests`.
std::vector<Right> MissingRights(const std::vector<const kube::Manifest*>& sent, const kube::Inventory& applied,
                                 const ResourceLookup& lookup, const HeldByNamespace& held);

// The ClusterRole, as YAML, which has these rights and, of a kind of which one is missing, all that the life of its
// objects takes. Another role for other rights: its name ends in a digest of them, so that one that is applied takes
// nothing back that another gave. Of too many rights it has the first ones. The API server adds it to the operator's
// (manifests/base/rbac/providers.yaml).
std::string RoleWith(const api::ProviderId& provider, std::span<const Right> missing);

// PermissionsMissing, with the role as its details.
Hold MissingRightsHold(const api::ProviderId& provider, const std::vector<Right>& missing);

}  // namespace capi::ops
