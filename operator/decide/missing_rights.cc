#include "operator/decide/missing_rights.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <tuple>

#include "api/kinds.h"
#include "api/reasons.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
// All that the life of an object takes: its upgrade, its replacement and its end are to need no other role. Whoever
// lists Secrets reads them, of all namespaces; nothing takes that.
constexpr const char* kWholeLife[] = {"create", "delete", "get", "list", "patch", "update", "watch"};
// With the words before it. It has to be whole: a role that is cut off is none, or another one.
constexpr size_t kMostRoles = kMostDetails - 512;

enum class Verbs { kWholeLife, kAsAsked };

using GroupResource = std::pair<std::string, std::string>;
using Kinds = std::map<GroupResource, std::set<std::string>>;  // their verbs

Kinds VerbsOf(std::span<const Right> missing, Verbs verbs) {
  Kinds kinds;
  for (const Right& right : missing) {
    if (!IsOfOne(right)) kinds[{right.group, right.resource}].insert(right.verb);
  }
  if (verbs == Verbs::kAsAsked) return kinds;
  for (auto& [kind, all] : kinds) {
    all = {std::begin(kWholeLife), std::end(kWholeLife)};
    if (kind == GroupResource("", "secrets")) all.erase("list"), all.erase("watch");
  }
  return kinds;
}

// The rules of a role: one for each group and its verbs, and one for each object that a verb is held of alone.
Json RulesFor(std::span<const Right> missing, Verbs verbs) {
  std::map<std::pair<std::string, std::set<std::string>>, std::set<std::string>> kinds;  // resources
  for (const auto& [kind, all] : VerbsOf(missing, verbs)) kinds[{kind.first, all}].insert(kind.second);
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> named;  // verbs
  for (const Right& right : missing) {
    if (IsOfOne(right)) named[{right.group, right.resource, right.name}].insert(right.verb);
  }
  Json rules = Json::array();
  for (const auto& [unit, resources] : kinds) {
    rules.push_back({{"apiGroups", Json::array({unit.first})}, {"resources", resources}, {"verbs", unit.second}});
  }
  for (const auto& [object, all] : named) {
    const auto& [group, resource, name] = object;
    rules.push_back({{"apiGroups", Json::array({group})},
                     {"resources", Json::array({resource})},
                     {"resourceNames", Json::array({name})},
                     {"verbs", all}});
  }
  return rules;
}

// Named after its rules and whose they are, "" for the operator's; a ClusterRole where `ns` is "".
Json Role(const api::ProviderId& provider, const std::string& account, const std::string& ns, Json rules) {
  const std::string digest = Sha256Hex(ToJsonText(rules) + account).substr(0, 8);
  Json role{{"apiVersion", std::string(kRbac) + "/v1"}, {"kind", ns.empty() ? "ClusterRole" : "Role"}};
  role["rules"] = std::move(rules);
  role["metadata"] = {
      {"name", fmt::format("capi-operator-{}-{}-{}", api::KindOf(provider.type).type_name, provider.name, digest)},
      {"labels", {{"app.kubernetes.io/part-of", api::ManifestLabel(provider.type, provider.name)}}}};
  if (!ns.empty()) role["metadata"]["namespace"] = ns;
  return role;
}

Json Binding(const Json& role, const std::string& ns, const std::string& account) {
  const std::string kind = GetString(role, {"kind"});
  Json binding{{"apiVersion", role.at("apiVersion")}, {"kind", kind + "Binding"}, {"metadata", role.at("metadata")}};
  binding["roleRef"] = {{"apiGroup", kRbac}, {"kind", kind}, {"name", role.at("metadata").at("name")}};
  binding["subjects"] = Json::array({{{"kind", "ServiceAccount"}, {"name", account}, {"namespace", ns}}});
  return binding;
}

// "create, patch podmonitors.monitoring.coreos.com in namespace aws-system".
std::vector<std::string> InWords(const std::vector<Right>& missing) {
  std::map<std::string, std::vector<std::string>> verbs;
  for (const Right& right : missing) {
    std::string on = right.group.empty() ? right.resource : right.resource + "." + right.group;
    if (IsOfOne(right)) on += " " + right.name;
    if (!right.ns.empty()) on += " in namespace " + right.ns;
    verbs[on].push_back(right.verb);
  }
  std::vector<std::string> words;
  for (const auto& [on, list] : verbs) words.push_back(fmt::format("{} {}", Join(list, ", "), on));
  return words;
}

Hold HoldOf(const std::string& who, const std::vector<Right>& missing, std::string details) {
  Hold hold{std::string(api::condition::kPreflightCheckPassed), std::string(api::reason::kPermissionsMissing),
            fmt::format("{} lacks rights that this release needs: {}; nothing of it was applied", who,
                        JoinNames(InWords(missing), 5)),
            Retry::kRefused};
  hold.details = std::move(details);
  return hold;
}

}  // namespace

std::string RoleWith(const api::ProviderId& provider, std::span<const Right> missing, bool watches_alone) {
  Json role = Role(provider, "", "", RulesFor(missing, watches_alone ? Verbs::kAsAsked : Verbs::kWholeLife));
  // It is the operator's: the one goes with it, the other adds it to what it has.
  role["metadata"]["labels"] = {{"app.kubernetes.io/name", "capi-operator"},
                                {std::string(api::kLabelAggregateToManager), "true"}};
  std::string text = ToYaml(role);
  // What is left out is told once the rest is there.
  return text.size() <= kMostRoles || missing.size() <= 1
             ? text
             : RoleWith(provider, missing.first(missing.size() / 2), watches_alone);
}

std::string RolesFor(const api::ProviderId& provider, const std::string& account, std::span<const Right> missing) {
  std::map<std::string, std::vector<Right>> by_namespace;
  for (const Right& right : missing) by_namespace[right.ns].push_back(right);
  std::string text;
  for (const auto& [ns, rights] : by_namespace) {
    const Json role = Role(provider, account, ns, RulesFor(rights, Verbs::kAsAsked));
    text += (text.empty() ? "" : "---\n") + ToYaml(role) + "---\n" + ToYaml(Binding(role, provider.ns, account));
  }
  return text.size() <= kMostRoles || missing.size() <= 1
             ? text
             : RolesFor(provider, account, missing.first(missing.size() / 2));
}

Hold MissingRightsHold(const api::ProviderId& provider, const LackingRights& lacking) {
  if (lacking.account.empty()) {
    return HoldOf("the operator", lacking.rights,
                  "# Whoever may give the operator these rights, in all namespaces, applies this role.\n" +
                      RoleWith(provider, lacking.rights, lacking.watches_alone));
  }
  const std::string who = fmt::format("ServiceAccount {}/{}", provider.ns, lacking.account);
  return HoldOf(who + " (spec.serviceAccountName)", lacking.rights,
                fmt::format("# Whoever may give {} these rights applies this.\n", who) +
                    RolesFor(provider, lacking.account, lacking.rights));
}

}  // namespace capi::ops
