// Tells which rights are missing, with the roles that give them as YAML to apply (behaviour.md T3, T8). Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "operator/decide/hold.h"
#include "operator/decide/rights.h"

namespace capi::ops {

// The ClusterRole, as YAML, which has these rights and, of a kind of which one is missing, all that the life of its
// objects takes. Another role for other rights: its name ends in a digest of them, so that one that is applied takes
// nothing back that another gave. Of too many rights it has the first ones. The API server adds it to the operator's
// (manifests/base/rbac/providers.yaml). `watches_alone`: a ServiceAccount writes (T8), and the role has what is missing
// and no more.
std::string RoleWith(const api::ProviderId& provider, std::span<const Right> missing, bool watches_alone = false);

// What is missing, for a ServiceAccount of the provider's namespace: a Role in each namespace for what is needed there,
// a ClusterRole for the rest, each with the binding that gives it to this one. They aren't removed with the operator.
std::string RolesFor(const api::ProviderId& provider, const std::string& account, std::span<const Right> missing);

// Rights that the API server, asked, didn't give. A value.
struct LackingRights {
  std::vector<Right> rights;   // none: nothing is missing
  std::string account;         // the ServiceAccount that lacks them; "" for the operator
  bool watches_alone = false;  // RoleWith's
  bool all_asked = true;       // there were no more questions than are asked
};

// PermissionsMissing, with the role as its details: of the operator, or of a ServiceAccount.
Hold MissingRightsHold(const api::ProviderId& provider, const LackingRights& lacking);

}  // namespace capi::ops
