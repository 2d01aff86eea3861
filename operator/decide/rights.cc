#include "operator/decide/rights.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "api/kinds.h"
#include "api/reasons.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "kube/meta/label_selector.h"

namespace capi::ops {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
// All that the life of an object takes: its upgrade, its replacement and its end are to need no other role.
constexpr const char* kWholeLife[] = {"create", "delete", "get", "list", "patch", "update", "watch"};
// With the words before it. It has to be whole: a role that is cut off is none, or another one.
constexpr size_t kMostRole = kMostDetails - 512;

std::vector<std::string> Texts(const Json& rule, std::string_view member) {
  std::vector<std::string> texts;
  const Json* list = Find(rule, {member});
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& text : *list) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

bool HasText(const Json& rule, std::string_view member, std::string_view wanted) {
  const Json* list = Find(rule, {member});
  if (list == nullptr || !list->is_array()) return false;
  return std::any_of(list->begin(), list->end(),
                     [&](const Json& text) { return text.is_string() && (text == "*" || text == wanted); });
}

// "*/scale" is that subresource of everything.
bool HasResource(const Json& rule, const std::string& resource) {
  if (HasText(rule, "resources", resource)) return true;
  auto slash = resource.find('/');
  return slash != resource.npos && HasText(rule, "resources", "*" + resource.substr(slash));
}

// "/metrics*" is all that begins so.
bool HasPath(const Json& rule, const std::string& path) {
  for (const std::string& held : Texts(rule, "nonResourceURLs")) {
    if (held == path || (held.ends_with('*') && path.starts_with(held.substr(0, held.size() - 1)))) return true;
  }
  return false;
}

bool Gives(const Json& rule, const Right& right) {
  if (!HasText(rule, "verbs", right.verb) || !HasText(rule, "apiGroups", right.group)) return false;
  if (!HasResource(rule, right.resource)) return false;
  const std::vector<std::string> names = Texts(rule, "resourceNames");
  return names.empty() || std::find(names.begin(), names.end(), right.name) != names.end();
}

std::vector<Json> Rules(const Json& value, std::string_view member) {
  const Json* rules = Find(value, {member});
  return rules != nullptr && rules->is_array() ? std::vector<Json>(rules->begin(), rules->end()) : std::vector<Json>();
}

bool IsRole(const kube::ObjectId& id) { return id.group == kRbac && (id.kind == "ClusterRole" || id.kind == "Role"); }
bool IsBinding(const kube::ObjectId& id) {
  return id.group == kRbac && (id.kind == "ClusterRoleBinding" || id.kind == "RoleBinding");
}

// Verbs on roles: of giving away the rights of one, which is named.
bool IsGrant(const Right& right) { return right.verb == "escalate" || right.verb == "bind"; }

// Collects what one release lacks. Of one call of MissingRights.
class Search {
 public:
  Search(const ResourceLookup& lookup, const HeldByNamespace& held) : lookup_(lookup), held_(held) {}

  void Learn(const kube::Manifest& crd) {
    if (crd.crd_plural.empty()) return;
    own_[{crd.crd_group, crd.crd_kind}] = crd.crd_plural;
  }
  void Write(const kube::ObjectId& id, bool is_there) {
    auto plural = PluralOf(id.group_kind());
    if (!plural) return;  // I13 judges that
    Need({id.group, *plural, "patch", id.ns, id.name});
    if (is_there) return;
    Need({id.group, *plural, "create", id.ns, id.name});
    // One watch of a kind is for all namespaces. Secrets are left out: who is for one namespace alone may not list
    // those of all, and does without.
    if (id.group_kind() == kube::GroupKind{"", "Secret"}) return;
    for (const char* verb : {"list", "watch"}) Need({id.group, *plural, verb, "", ""});
  }
  void Give(const kube::Manifest& manifest, const std::vector<const kube::Manifest*>& sent) {
    if (IsRole(manifest.id)) {
      Escalate(manifest);
    } else if (IsBinding(manifest.id)) {
      Bind(manifest, sent);
    }
  }
  std::vector<Right> Missing() const {
    std::vector<Right> missing;
    for (const auto& [unit, name] : missing_) {
      const auto& [group, resource, verb, ns, named] = unit;
      missing.push_back({group, resource, verb, ns, name});
    }
    return missing;
  }

 private:
  std::optional<std::string> PluralOf(const kube::GroupKind& kind) const {
    if (auto own = own_.find(kind); own != own_.end()) return own->second;
    auto known = lookup_(kind);
    return known ? std::optional(known->plural) : std::nullopt;
  }
  const HeldRights& HeldIn(const std::string& ns) const {
    static const HeldRights none;
    auto held = held_.find(ns);
    return held == held_.end() ? none : held->second;
  }
  // The verbs on roles count for the role that is named; of others the first object stands for all.
  void Need(const Right& right) {
    if (HeldIn(right.ns).Holds(right)) return;
    missing_.emplace(Unit{right.group, right.resource, right.verb, right.ns, IsGrant(right) ? right.name : ""},
                     right.name);
  }
  static Right Grant(const kube::ObjectId& role, const char* verb, const std::string& ns) {
    return {std::string(kRbac), role.kind == "Role" ? "roles" : "clusterroles", verb, ns, role.name};
  }
  // Null for what can't be read: the API server judges that.
  const Json& Read(const kube::Manifest& manifest) {
    auto [found, is_new] = read_.try_emplace(&manifest);
    if (!is_new) return found->second;
    if (auto json = ParseJson(manifest.text); json.ok()) found->second = std::move(*json);
    return found->second;
  }
  void Escalate(const kube::Manifest& role) {
    const Right right = Grant(role.id, "escalate", role.id.ns);
    if (!HeldIn(right.ns).Holds(right) && !HeldIn(right.ns).Covers(Read(role))) Need(right);
  }
  void Bind(const kube::Manifest& binding, const std::vector<const kube::Manifest*>& sent) {
    const Json& read = Read(binding);
    const std::string kind = GetString(read, {"roleRef", "kind"}), name = GetString(read, {"roleRef", "name"});
    const kube::ObjectId role{std::string(kRbac), kind, kind == "Role" ? binding.id.ns : "", name};
    const Right right = Grant(role, "bind", binding.id.ns);
    if (HeldIn(right.ns).Holds(right)) return;
    for (const kube::Manifest* other : sent) {
      if (other->id == role && !CoversRulesOf(*other, sent, right.ns)) Need(right);
    }
  }
  // What is bound of an aggregated role are the rules that a controller has written into it by then: those of the
  // ClusterRoles that it selects, of which the release's own are known.
  bool CoversRulesOf(const kube::Manifest& role, const std::vector<const kube::Manifest*>& sent,
                     const std::string& ns) {
    const HeldRights& held = HeldIn(ns);
    if (Find(Read(role), {"aggregationRule"}) == nullptr) return held.Covers(Read(role));
    const std::vector<kube::LabelSelector> selectors = SelectorsOf(Read(role));
    return std::none_of(sent.begin(), sent.end(), [&](const kube::Manifest* one) {
      return one->id.group_kind() == role.id.group_kind() && Selects(selectors, Read(*one)) && !held.Covers(Read(*one));
    });
  }
  static std::vector<kube::LabelSelector> SelectorsOf(const Json& role) {
    std::vector<kube::LabelSelector> selectors;
    for (const Json& selector : Rules(role["aggregationRule"], "clusterRoleSelectors")) {
      auto read = kube::LabelSelector::FromJson(selector);
      if (read.ok()) selectors.push_back(std::move(*read));
    }
    return selectors;
  }
  static bool Selects(const std::vector<kube::LabelSelector>& selectors, const Json& role) {
    const Json* labels = Find(role, {"metadata", "labels"});
    return std::any_of(selectors.begin(), selectors.end(), [&](const kube::LabelSelector& selector) {
      return selector.Matches(labels == nullptr ? Json() : *labels);
    });
  }

  using Unit = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  const ResourceLookup& lookup_;
  const HeldByNamespace& held_;
  std::map<kube::GroupKind, std::string> own_;  // of CRDs that come with it
  std::map<Unit, std::string> missing_;         // and the name of the first object
  std::map<const kube::Manifest*, Json> read_;  // roles and bindings, each once
};

// The rules of a role: one for each group, and one for each role whose rights are given away.
Json RulesFor(std::span<const Right> missing) {
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> grants;  // verbs, with the name
  std::map<std::string, std::set<std::string>> kinds;
  for (const Right& right : missing) {
    if (IsGrant(right)) {
      grants[{right.group, right.resource, right.name}].insert(right.verb);
    } else {
      kinds[right.group].insert(right.resource);
    }
  }
  Json rules = Json::array();
  for (const auto& [group, resources] : kinds) {
    rules.push_back({{"apiGroups", Json::array({group})}, {"resources", resources}, {"verbs", kWholeLife}});
  }
  for (const auto& [grant, verbs] : grants) {
    const auto& [group, resource, name] = grant;
    rules.push_back({{"apiGroups", Json::array({group})},
                     {"resources", Json::array({resource})},
                     {"resourceNames", Json::array({name})},
                     {"verbs", verbs}});
  }
  return rules;
}

// "create, patch podmonitors.monitoring.coreos.com in namespace aws-system".
std::vector<std::string> InWords(const std::vector<Right>& missing) {
  std::map<std::string, std::vector<std::string>> verbs;
  for (const Right& right : missing) {
    std::string on = right.group.empty() ? right.resource : right.resource + "." + right.group;
    if (IsGrant(right)) on += " " + right.name;
    if (!right.ns.empty()) on += " in namespace " + right.ns;
    verbs[on].push_back(right.verb);
  }
  std::vector<std::string> words;
  for (const auto& [on, list] : verbs) words.push_back(fmt::format("{} {}", Join(list, ", "), on));
  return words;
}

}  // namespace

HeldRights::HeldRights(const Json& review_status)
    : resources_(Rules(review_status, "resourceRules")), paths_(Rules(review_status, "nonResourceRules")) {}

bool HeldRights::Holds(const Right& right) const {
  return std::any_of(resources_.begin(), resources_.end(), [&](const Json& rule) { return Gives(rule, right); });
}

bool HeldRights::CoversRule(const Json& rule) const {
  const std::vector<std::string> verbs = Texts(rule, "verbs");
  std::vector<std::string> names = Texts(rule, "resourceNames");
  if (names.empty()) names.emplace_back();
  for (const std::string& verb : verbs) {
    for (const std::string& path : Texts(rule, "nonResourceURLs")) {
      auto gives = [&](const Json& held) { return HasText(held, "verbs", verb) && HasPath(held, path); };
      if (std::none_of(paths_.begin(), paths_.end(), gives)) return false;
    }
    for (const std::string& group : Texts(rule, "apiGroups")) {
      for (const std::string& resource : Texts(rule, "resources")) {
        for (const std::string& name : names) {
          if (!Holds({group, resource, verb, "", name})) return false;
        }
      }
    }
  }
  return true;
}

bool HeldRights::Covers(const Json& role) const {
  if (Find(role, {"aggregationRule"}) != nullptr) {
    return CoversRule({{"apiGroups", {"*"}}, {"resources", {"*"}}, {"verbs", {"*"}}}) &&
           CoversRule({{"nonResourceURLs", {"*"}}, {"verbs", {"*"}}});
  }
  const std::vector<Json> rules = Rules(role, "rules");
  return std::all_of(rules.begin(), rules.end(), [&](const Json& rule) { return CoversRule(rule); });
}

std::vector<const kube::Manifest*> WhatIsSent(const kube::Inventory& applied,
                                              const std::vector<kube::Manifest>& manifests) {
  std::vector<const kube::Manifest*> sent;
  for (const auto& manifest : manifests) {
    const auto* entry = applied.Find(manifest.id);
    if (entry == nullptr || entry->hash != manifest.hash) sent.push_back(&manifest);
  }
  return sent;
}

std::vector<Right> MissingRights(const std::vector<const kube::Manifest*>& sent, const kube::Inventory& applied,
                                 const ResourceLookup& lookup, const HeldByNamespace& held) {
  Search search(lookup, held);
  for (const kube::Manifest* manifest : sent) search.Learn(*manifest);
  for (const kube::Manifest* manifest : sent) {
    search.Write(manifest->id, applied.Contains(manifest->id));
    search.Give(*manifest, sent);
  }
  return search.Missing();
}

std::string RoleWith(const api::ProviderId& provider, std::span<const Right> missing) {
  Json rules = RulesFor(missing);
  const std::string digest = Sha256Hex(ToJsonText(rules)).substr(0, 8);
  Json role{{"apiVersion", std::string(kRbac) + "/v1"}, {"kind", "ClusterRole"}, {"rules", std::move(rules)}};
  role["metadata"] = {
      {"name", fmt::format("capi-operator-{}-{}-{}", api::KindOf(provider.type).type_name, provider.name, digest)},
      {"labels", {{"app.kubernetes.io/name", "capi-operator"}, {std::string(api::kLabelAggregateToManager), "true"}}}};
  std::string text = ToYaml(role);
  // What is left out is told once the rest is there.
  return text.size() <= kMostRole || missing.size() <= 1 ? text : RoleWith(provider, missing.first(missing.size() / 2));
}

Hold MissingRightsHold(const api::ProviderId& provider, const std::vector<Right>& missing) {
  Hold hold{std::string(api::condition::kPreflightCheckPassed), std::string(api::reason::kPermissionsMissing),
            fmt::format("the operator lacks rights that this release needs: {}; nothing of it was applied",
                        JoinNames(InWords(missing), 5)),
            Retry::kRefused};
  hold.details = "# Whoever may give the operator these rights, in all namespaces, applies this role.\n" +
                 RoleWith(provider, missing);
  return hold;
}

}  // namespace capi::ops
