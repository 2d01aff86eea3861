// Installer::CheckRights: whether the API server will let the operator do what the release takes (behaviour.md T3),
// asked before anything is written.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>

#include "operator/act/install/installer.h"
#include "operator/act/install/materials.h"
#include "operator/decide/rights.h"

namespace capi::ops {
namespace {

Result<Json> Ask(const Context& ctx, kube::Client& client, const char* kind, Json spec) {
  kube::Object review(Json{{"apiVersion", "authorization.k8s.io/v1"}, {"kind", kind}, {"spec", std::move(spec)}});
  kube::Object answer = TRY(client.Create(ctx, kube::Builtin(kind), review));
  const Json* status = Find(answer.json(), {"status"});
  if (status == nullptr) return Error{Code::kUnsupported, fmt::format("the answer to a {} has no status", kind), {}};
  return *status;
}

// A review is of a namespace. In one that can't be there are no RoleBindings: what is held there is held everywhere.
constexpr const char* kNowhere = "-";

Result<HeldByNamespace> AskWhatIsHeld(const Context& ctx, kube::Client& client,
                                      const std::set<std::string>& namespaces) {
  HeldByNamespace held;
  for (const std::string& ns : namespaces) {
    Json status = TRY(Ask(ctx, client, "SelfSubjectRulesReview", {{"namespace", ns.empty() ? kNowhere : ns}}));
    held[ns] = HeldRights(status);
  }
  return held;
}

// More than a role has room for (rights.h) needn't be asked for: it has the first ones.
constexpr size_t kMostAsked = 200;

// One by one of those that no rule gives: another authorizer than RBAC may.
Result<std::vector<Right>> WithoutAllowed(const Context& ctx, kube::Client& client, const std::vector<Right>& rights) {
  std::vector<Right> refused;
  for (const Right& right : std::span(rights).first(std::min(rights.size(), kMostAsked))) {
    Json what{{"group", right.group}, {"resource", right.resource}, {"verb", right.verb}};
    if (!right.ns.empty()) what["namespace"] = right.ns;
    if (!right.name.empty()) what["name"] = right.name;
    Json status = TRY(Ask(ctx, client, "SelfSubjectAccessReview", {{"resourceAttributes", std::move(what)}}));
    if (!GetBool(status, {"allowed"})) refused.push_back(right);
  }
  return refused;
}

}  // namespace

std::optional<Hold> Installer::CheckRights(const Context& ctx, const Observation& o, const Installation& m) {
  const std::vector<const kube::Manifest*> sent = WhatIsSent(o.inventory, m.manifests);
  std::set<std::string> namespaces;
  for (const kube::Manifest* manifest : sent) namespaces.insert({manifest->id.ns, ""});
  auto refused = [&]() -> Result<std::vector<Right>> {
    HeldByNamespace held = TRY(AskWhatIsHeld(ctx, needs_.client, namespaces));
    auto lookup = [&](const kube::GroupKind& kind) { return needs_.client.mapper().Known(kind); };
    return WithoutAllowed(ctx, needs_.client, MissingRights(sent, o.inventory, lookup, held));
  }();
  if (refused.ok()) return refused->empty() ? std::nullopt : std::optional(MissingRightsHold(o.provider.id, *refused));
  if (refused.error().Transient()) return NotAccepted(api::reason::kAPIServerUnavailable, refused.error());
  // The question protects nothing: where nobody answers it, what is refused later has the API server's own words.
  ctx.log.Warn("nobody can tell which rights the operator has", {{"error", refused.error().message}});
  return std::nullopt;
}

}  // namespace capi::ops
