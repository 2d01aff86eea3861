// Installer::LackingRightsOf: whether the API server will let the operator, or the ServiceAccount in whose name it
// works, do what the release takes (behaviour.md T3, T8), asked before anything is written.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>

#include "api/reasons.h"
#include "kube/client/status_error.h"
#include "lifecycle/clusterctl_inventory.h"
#include "operator/act/install/installation.h"
#include "operator/act/install/installer.h"
#include "operator/decide/missing_rights.h"

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
// What is held in further ones alone is asked for right by right.
constexpr size_t kMostNamespaces = 50;

Result<HeldByNamespace> AskWhatIsHeld(const Context& ctx, kube::Client& client,
                                      const std::set<std::string>& namespaces) {
  HeldByNamespace held;
  for (const std::string& ns : namespaces) {
    Json status = TRY(Ask(ctx, client, "SelfSubjectRulesReview", {{"namespace", ns.empty() ? kNowhere : ns}}));
    held[ns] = HeldRights(status);
  }
  return held;
}

// As many refusals as a role may have room for are enough to tell. Of a release that takes more questions than a few
// hundred, which another authorizer than RBAC has to answer one by one, the rest is told by the API server later.
constexpr size_t kMostRefused = 100, kMostAsked = 500;

// One by one of those that no rule gives: another authorizer than RBAC may. An authorizer that can't say says neither
// yes nor no, and why; to the request itself the API server answers an error then.
Result<std::vector<Right>> WithoutAllowed(const Context& ctx, kube::Client& client, const std::vector<Right>& rights) {
  std::vector<Right> refused;
  for (const Right& right : std::span(rights).first(std::min(rights.size(), kMostAsked))) {
    if (refused.size() == kMostRefused) break;
    Json what{{"group", right.group}, {"resource", right.resource}, {"verb", right.verb}};
    if (!right.ns.empty()) what["namespace"] = right.ns;
    if (!right.name.empty()) what["name"] = right.name;
    Json status = TRY(Ask(ctx, client, "SelfSubjectAccessReview", {{"resourceAttributes", std::move(what)}}));
    if (GetBool(status, {"allowed"})) continue;
    const std::string error = GetString(status, {"evaluationError"});
    if (!error.empty() && !GetBool(status, {"denied"})) return Error{Code::kUnsupported, error, {}};
    refused.push_back(right);
  }
  return refused;
}

struct Question {
  kube::Client& client;
  const api::ProviderId& provider;
  const std::vector<kube::Manifest>& manifests;
  const kube::Inventory& applied;

  // Those that something is written in, an account's of all that it keeps, and "" for the whole cluster.
  std::set<std::string> Namespaces(bool of_an_account) const {
    std::set<std::string> namespaces{""};
    const kube::Inventory none;
    for (const kube::Manifest* manifest : WhatIsSent(of_an_account ? none : applied, manifests)) {
      if (namespaces.size() < kMostNamespaces) namespaces.insert(manifest->id.ns);
    }
    return namespaces;
  }
  std::vector<Right> Missing(const Holders& held) const {
    auto lookup = [this](const kube::GroupKind& kind) { return client.mapper().Known(kind); };
    return MissingRights(manifests, applied, lookup, held);
  }
};

Result<LackingRights> OperatorLacks(const Context& ctx, const Question& q, const std::vector<Right>& missing,
                                    bool watches_alone = false) {
  LackingRights lacking;
  lacking.rights = TRY(WithoutAllowed(ctx, q.client, missing));
  lacking.watches_alone = watches_alone;
  lacking.all_asked = missing.size() <= kMostAsked;
  return lacking;
}

// T8: the operator acts as the account, and watches; the account does the rest. It can't be asked before.
Result<LackingRights> AccountLacks(const Context& ctx, const Question& q, const std::string& account) {
  const Context own = ctx.InOwnName();
  const Right act_as{"", "serviceaccounts", "impersonate", q.provider.ns, account};
  HeldByNamespace operators = TRY(AskWhatIsHeld(own, q.client, {"", q.provider.ns}));
  if (!operators[q.provider.ns].Holds(act_as)) {
    LackingRights lacking = TRY(OperatorLacks(own, q, {act_as}, true));
    if (!lacking.rights.empty()) return lacking;
  }
  const HeldByNamespace held = TRY(AskWhatIsHeld(ctx, q.client, q.Namespaces(/*of_an_account=*/true)));
  std::vector<Right> missing = q.Missing({held, operators, true});
  const kube::ObjectId entry = lifecycle::EntryId(q.provider);  // the operator's own
  std::erase_if(missing, [&](const Right& right) {
    return right.group == entry.group && right.ns == entry.ns && right.name == entry.name;
  });
  auto watches = std::stable_partition(missing.begin(), missing.end(), IsWatch);
  LackingRights lacking = TRY(OperatorLacks(own, q, {missing.begin(), watches}, true));
  if (!lacking.rights.empty()) return lacking;
  lacking.rights = TRY(WithoutAllowed(ctx, q.client, {watches, missing.end()}));
  lacking.account = account;
  lacking.all_asked = static_cast<size_t>(missing.end() - watches) <= kMostAsked;
  return lacking;
}

// One question does where all of it can be written with what is held in the whole cluster.
Result<LackingRights> OperatorLacksAlone(const Context& ctx, const Question& q) {
  std::set<std::string> namespaces = q.Namespaces(/*of_an_account=*/false);
  const HeldByNamespace everywhere = TRY(AskWhatIsHeld(ctx, q.client, {""}));
  HeldByNamespace held = everywhere;
  for (const std::string& ns : namespaces) held.emplace(ns, everywhere.at(""));
  if (q.Missing({held, held}).empty()) return LackingRights{};
  namespaces.erase("");
  held = TRY(AskWhatIsHeld(ctx, q.client, namespaces));
  held.emplace("", everywhere.at(""));
  return OperatorLacks(ctx, q, q.Missing({held, held}));
}

}  // namespace

Result<std::optional<LackingRights>> Installer::LackingRightsOf(const Context& ctx, const Observation& o,
                                                                const Installation& m) {
  const Question q{needs_.client, o.provider.id, m.manifests, o.inventory};
  const std::string& account = o.provider.spec.service_account;
  auto lacking = account.empty() ? OperatorLacksAlone(ctx, q) : AccountLacks(ctx, q, account);
  if (lacking.ok()) return std::optional(std::move(*lacking));
  if (kube::IsOutage(lacking.error())) return lacking.error();
  // The question protects nothing: where nobody answers it, what is refused later has the API server's own words.
  ctx.log.Warn("nobody can tell which rights there are", {{"error", lacking.error().message}});
  return std::optional<LackingRights>();
}

}  // namespace capi::ops
