#include "operator/decide/rights.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "kube/meta/label_selector.h"

namespace capi::ops {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

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

// Collects what one release lacks. Of one call of MissingRights.
class Search {
 public:
  Search(const ResourceLookup& lookup, const Holders& held) : lookup_(lookup), held_(held) {}

  void Learn(const kube::Manifest& manifest) {
    if (!manifest.crd_plural.empty()) own_[{manifest.crd_group, manifest.crd_kind}] = manifest.crd_plural;
    if (IsRole(manifest.id)) roles_.push_back(&manifest);
  }
  void Write(const kube::ObjectId& id, bool is_there) {
    auto plural = PluralOf(id.group_kind());
    if (!plural) return;  // I13 judges that
    Need({id.group, *plural, "patch", id.ns, id.name});
    // What is there may be gone one day, and what an account keeps nobody asks about again (D1).
    if (!is_there || held_.of_an_account) Need({id.group, *plural, "create", id.ns, id.name});
    if (held_.of_an_account) {  // who asks for it reads it first; a CRD stays
      for (const char* verb : {"get", "update"}) Need({id.group, *plural, verb, id.ns, id.name});
      if (!IsCrd(id)) Need({id.group, *plural, "delete", id.ns, id.name});
      if (id.kind == "Deployment") NeedReplicaSets(id.ns);
    }
    if (is_there) return;
    if (IsWorkload(id)) Need({id.group, *plural, "get", id.ns, id.name});  // U2: whether somebody else's runs
    // One watch of a kind is for all namespaces. Secrets are left out: who is for one namespace alone may not list
    // those of all, and does without.
    if (id.group_kind() == kube::GroupKind{"", "Secret"}) return;
    for (const char* verb : {"list", "watch"}) Need({id.group, *plural, verb, "", ""});
  }
  // What the release no longer has is read and removed; CRDs stay.
  void Remove(const kube::ObjectId& id) {
    auto plural = PluralOf(id.group_kind());
    if (!plural || IsCrd(id)) return;
    for (const char* verb : {"delete", "get"}) Need({id.group, *plural, verb, id.ns, id.name});
  }
  void Give(const kube::Manifest& manifest) {
    if (IsRole(manifest.id)) {
      Escalate(manifest);
    } else if (IsBinding(manifest.id)) {
      Bind(manifest);
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
  // Of a Deployment that is made anew old pods serve on (U9).
  void NeedReplicaSets(const std::string& ns) {
    for (const char* verb : {"delete", "get", "list", "patch"}) Need({"apps", "replicasets", verb, ns, ""});
  }
  static const HeldRights& In(const std::string& ns, const HeldByNamespace& all) {
    static const HeldRights none;
    auto held = all.find(ns);
    if (held == all.end()) held = all.find("");  // what is held everywhere
    return held == all.end() ? none : held->second;
  }
  const HeldRights& HeldIn(const std::string& ns) const { return In(ns, held_.writer); }
  // Of a namespace that nobody has asked about, the API server judges who gives rights away.
  bool IsAsked(const std::string& ns) const { return held_.writer.contains(ns); }
  // Of a verb that counts for one object alone each is named; of others the first object stands for all.
  void Need(const Right& right) {
    if (In(right.ns, IsWatch(right) ? held_.watcher : held_.writer).Holds(right)) return;
    missing_.emplace(Unit{right.group, right.resource, right.verb, right.ns, IsOfOne(right) ? right.name : ""},
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
    if (!IsAsked(right.ns)) return;
    if (!HeldIn(right.ns).Holds(right) && !HeldIn(right.ns).Covers(Read(role))) Need(right);
  }
  void Bind(const kube::Manifest& binding) {
    const Json& read = Read(binding);
    const std::string kind = GetString(read, {"roleRef", "kind"}), name = GetString(read, {"roleRef", "name"});
    const kube::ObjectId role{std::string(kRbac), kind, kind == "Role" ? binding.id.ns : "", name};
    const Right right = Grant(role, "bind", binding.id.ns);
    if (!IsAsked(right.ns)) return;
    if (HeldIn(right.ns).Holds(right)) return;
    for (const kube::Manifest* other : roles_) {
      if (other->id == role && !CoversRulesOf(*other, right.ns)) Need(right);
    }
  }
  // What is bound of an aggregated role are the rules that a controller has written into it by then: those of the
  // ClusterRoles that it selects, of which the release's own are known.
  bool CoversRulesOf(const kube::Manifest& role, const std::string& ns) {
    const HeldRights& held = HeldIn(ns);
    if (Find(Read(role), {"aggregationRule"}) == nullptr) return held.Covers(Read(role));
    const std::vector<kube::LabelSelector> selectors = SelectorsOf(Read(role));
    return std::none_of(roles_.begin(), roles_.end(), [&](const kube::Manifest* one) {
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
  const Holders held_;
  std::map<kube::GroupKind, std::string> own_;  // of CRDs that come with it
  std::vector<const kube::Manifest*> roles_;    // of the release, also those that aren't sent
  std::map<Unit, std::string> missing_;         // and the name of the first object
  std::map<const kube::Manifest*, Json> read_;  // roles and bindings, each once
};

}  // namespace

bool IsOfOne(const Right& right) {
  return right.verb == "escalate" || right.verb == "bind" || right.verb == "impersonate";
}

bool IsWatch(const Right& right) { return right.ns.empty() && (right.verb == "list" || right.verb == "watch"); }

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

std::vector<Right> MissingRights(const std::vector<kube::Manifest>& manifests, const kube::Inventory& applied,
                                 const ResourceLookup& lookup, const Holders& held) {
  Search search(lookup, held);
  for (const kube::Manifest& manifest : manifests) search.Learn(manifest);
  // An account may be another one than that which applied the rest, and is to keep and remove all of it.
  const kube::Inventory none;
  for (const kube::Manifest* manifest : WhatIsSent(held.of_an_account ? none : applied, manifests)) {
    const kube::InventoryEntry* entry = applied.Find(manifest->id);
    search.Write(manifest->id, entry != nullptr && entry->ever_applied());  // what is announced may not be there
    search.Give(*manifest);
  }
  for (const auto& [id, entry] : applied.entries()) {
    if (held.of_an_account) search.Remove(id);
  }
  return search.Missing();
}

}  // namespace capi::ops
