#include "cli/remove/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/text.h"
#include "base/strings.h"
#include "cli/frame/provider_name.h"

namespace capi::cli {
namespace {

constexpr size_t kMostNames = 20;

std::string Names(const std::vector<Target>& targets) {
  std::vector<std::string> names;
  for (const Target& target : targets) names.push_back(Describe(target.id));
  return names.empty() ? "none" : JoinNames(names, kMostNames);
}

bool Has(const std::vector<Target>& targets, const api::ProviderId& id) {
  return std::any_of(targets.begin(), targets.end(), [&](const Target& target) { return target.id == id; });
}

// All that it refers to.
std::set<kube::ObjectId> NamedBy(const api::ProviderSpec& spec) {
  std::set<kube::ObjectId> out;
  auto add = [&](const char* kind, const std::optional<api::ObjectRef>& ref) {
    if (ref) out.insert({"", kind, ref->ns, ref->name});
  };
  add("Secret", spec.config_secret);
  add("ConfigMap", spec.additional_manifests);
  if (!spec.fetch_config) return out;
  const api::FetchConfig& fetch = *spec.fetch_config;
  add("Secret", fetch.secret_ref);
  if (fetch.git) add("Secret", fetch.git->secret_ref);
  if (fetch.verify) add("Secret", fetch.verify->secret_ref);
  return out;
}

// In clusterctl's words, and what there is.
Error Unidentified(const std::string& name, const std::vector<Target>& found, const std::vector<Target>& all) {
  std::string way = found.empty() ? fmt::format("the cluster has: {}", Names(all))
                                  : fmt::format("say with --namespace which one: {}", Names(found));
  return {Code::kNotFound,
          fmt::format("failed to identify the namespace for the {} provider; {}", api::GoQuote(name), way),
          {}};
}

Result<Target> SelectOne(const std::vector<Target>& all, api::ProviderType type, const std::string& text,
                         const std::string& ns) {
  ProviderName name = TRY(ProviderName::Parse(text));
  std::vector<Target> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const Target& target) {
    return target.id.type == type && target.id.name == name.name && (ns.empty() || target.id.ns == ns);
  });
  // What a run that was broken off has left of its name elsewhere isn't meant where one is installed.
  if (std::any_of(found.begin(), found.end(), [](const Target& target) { return !target.left(); })) {
    std::erase_if(found, [](const Target& target) { return target.left(); });
  }
  if (found.size() != 1) return Unidentified(name.name, found, all);
  // Which version it had nobody knows any more.
  if (!found[0].left() && !name.version.empty() && name.version != found[0].version) {
    return Error{Code::kNotFound,
                 fmt::format("failed to identify the provider {} with version {}; the installed version is {}",
                             api::GoQuote(name.name), api::GoQuote(name.version),
                             found[0].version.empty() ? "none" : found[0].version),
                 {}};
  }
  return found[0];
}

}  // namespace

std::vector<Target> Merge(const std::vector<ProviderObject>& objects, const std::vector<InstalledProvider>& entries,
                          const std::vector<NotedProvider>& noted) {
  std::map<api::ProviderId, Target> all;
  for (const ProviderObject& one : objects) {
    Target& target = all[one.provider.id];
    target.object = true;
    target.version = one.provider.status.installed_version;
    auto inventory = kube::Inventory::Parse(one.provider.status.inventory);
    if (!inventory.ok()) target.inventory_error = inventory.error().message;
    if (inventory.ok()) target.inventory = *std::move(inventory);
    const api::ProviderSpec& spec = one.provider.spec;
    target.named = NamedBy(spec);
    if (spec.fetch_config && spec.fetch_config->selector) target.release_maps = *spec.fetch_config->selector;
  }
  for (const InstalledProvider& one : entries) {
    Target& target = all[{one.type, one.ns, one.name}];
    target.entry = true;
    target.entry_uid = one.uid;
    if (target.version.empty()) target.version = one.version;
  }
  for (const NotedProvider& one : noted) {
    Target& target = all[one.id];
    if (target.entry && target.entry_uid != one.entry_uid) continue;
    target.noted = true;
    if (target.object) continue;
    target.named = one.named;
    target.release_maps = one.release_maps;
  }
  std::vector<Target> out;
  for (auto& [id, target] : all) {
    target.id = id;
    out.push_back(std::move(target));
  }
  return out;
}

Result<std::vector<Target>> Select(const std::vector<Target>& all, const NamesByType& names, const std::string& ns) {
  std::vector<Target> out;
  bool named = false;
  for (const auto& [type, of_type] : names) {
    for (const std::string& text : of_type) {
      named = true;
      Target target = TRY(SelectOne(all, type, text, ns));
      if (!Has(out, target.id)) out.push_back(std::move(target));
    }
  }
  if (named) return out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const Target& target) { return ns.empty() || target.id.ns == ns; });
  return out;
}

std::vector<std::vector<Target>> Rounds(std::vector<Target> targets) {
  std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) { return b.id < a.id; });
  std::vector<std::vector<Target>> out;
  for (bool core : {false, true}) {
    std::vector<Target> round;
    std::copy_if(targets.begin(), targets.end(), std::back_inserter(round),
                 [&](const Target& target) { return (target.id.type == api::ProviderType::kCore) == core; });
    if (!round.empty()) out.push_back(std::move(round));
  }
  return out;
}

Status CheckCoreGoesLast(const std::vector<Target>& all, const std::vector<Target>& going) {
  bool core = std::any_of(going.begin(), going.end(),
                          [](const Target& target) { return target.id.type == api::ProviderType::kCore; });
  std::vector<Target> stay;
  std::copy_if(all.begin(), all.end(), std::back_inserter(stay), [&](const Target& target) {
    return target.id.type != api::ProviderType::kCore && !target.left() && !Has(going, target.id);
  });
  if (!core || stay.empty()) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("other providers need the core: {}; delete these too, or use --all", Names(stay)),
               {}};
}

bool SharesObjects(const Target& target, const Target& other) {
  return other.id.type == target.id.type && other.id.name == target.id.name && other.id.ns != target.id.ns &&
         (other.entry || other.has_inventory());
}

Status CheckOnlyOfItsName(const std::vector<Target>& all, const std::vector<Target>& going, bool by_operator) {
  std::vector<std::string> out;
  for (const Target& target : going) {
    for (const Target& other : all) {
      if (!target.has_inventory() || !by_operator || !SharesObjects(target, other) || Has(going, other.id)) continue;
      out.push_back(
          fmt::format("the operator would take objects of {} with {}: they have the same outside of namespaces",
                      Describe(other.id), Describe(target.id)));
    }
  }
  return out.empty() ? Ok() : Status(Error{Code::kFailedPrecondition, Join(out, "; "), {}});
}

Status CheckNamespaces(const std::vector<Target>& all, const std::vector<Target>& going,
                       const std::string& operator_ns) {
  for (const std::string& ns : NamespacesOf(going)) {
    std::vector<Target> stay;
    std::copy_if(all.begin(), all.end(), std::back_inserter(stay),
                 [&](const Target& target) { return target.id.ns == ns && !target.left() && !Has(going, target.id); });
    if (stay.empty() && ns != operator_ns) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("namespace {} is also that of {}, which would go with it; leave out --include-namespace",
                             ns, stay.empty() ? "capi-operator" : Names(stay)),
                 {}};
  }
  return Ok();
}

std::vector<std::string> NamespacesOf(const std::vector<Target>& targets) {
  std::set<std::string> out;
  for (const Target& target : targets) out.insert(target.id.ns);
  return {out.begin(), out.end()};
}

}  // namespace capi::cli
