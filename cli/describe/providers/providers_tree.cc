#include "cli/describe/providers/providers_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/reasons.h"
#include "kube/meta/health.h"

namespace capi::cli::describe {
namespace {

namespace reason = api::reason;

// The tag of an image: "v1.2.3" of "registry:5000/a/b:v1.2.3@sha256:...".
std::string TagOf(std::string_view image) {
  image = image.substr(0, image.find('@'));
  size_t colon = image.rfind(':');
  if (colon == image.npos || image.find('/', colon) != image.npos) return "";
  return std::string(image.substr(colon + 1));
}

// How the operator says that it is, in the words of `clusterctl why`.
void ReadReady(const api::Provider& provider, ProviderLine& out) {
  const kube::Condition* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  const bool looked = ready != nullptr && provider.status.observed_generation >= provider.generation;
  advice::Explanation why = advice::Explain(provider);
  out.ready = looked ? ready->status : "Unknown";
  out.reason = why.reason;
  out.since = why.since;
  out.also = std::move(why.also);
  if (why.ready) return;
  out.message = why.message;
  out.meaning = why.meaning;
  out.action = why.action;
  out.see = api::ReasonPlace(why.reason);
}

ProviderLine LineOf(const ProviderObject& object) {
  ProviderLine out;
  const api::Provider& provider = object.provider;
  out.id = provider.id;
  out.of_operator = true;
  out.version = provider.status.installed_version;
  if (object.wanted != out.version) out.wanted = object.wanted;
  out.contract = provider.status.contract;
  if (provider.status.desired_contract != out.contract) out.contract_to_come = provider.status.desired_contract;
  out.upgrades = provider.status.available_upgrades;
  ReadReady(provider, out);
  return out;
}

// By its workloads, as nobody else says how it is.
ProviderLine LineOf(const InstalledProvider& installed, const std::vector<Workload>& workloads, bool known) {
  ProviderLine out;
  out.id = {installed.type, installed.ns, installed.name};
  out.version = installed.version;
  auto ill = std::find_if(workloads.begin(), workloads.end(), [](const Workload& w) { return !w.healthy; });
  if (!known || workloads.empty()) {
    out.ready = "Unknown";
    out.message = known ? "no workload has its label" : "its workloads can't be read";
  } else if (ill != workloads.end()) {
    out.ready = "False";
    out.reason = reason::kWorkloadsNotReady;
    out.message = fmt::format("{} {}: {}", ill->kind, ill->name, ill->message);
  } else {
    out.ready = "True";
    out.reason = reason::kWorkloadsReady;
  }
  return out;
}

std::vector<Workload> WorkloadsOf(const api::ProviderId& id, const std::vector<Workload>& all) {
  std::vector<Workload> out;
  std::string label = api::ManifestLabel(id.type, id.name);
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const Workload& one) { return one.label == label && one.ns == id.ns; });
  return out;
}

void Connect(std::vector<ProviderLine>& lines) {
  std::map<std::string, std::vector<ProviderLine*>> waits_for;
  std::map<std::string, std::string> names;
  for (ProviderLine& line : lines) {
    names[line.id.Key()] = Describe(line.id);
    if (line.ready == "True") continue;
    const advice::Awaited awaited = advice::AwaitedBy(line.reason, line.message);
    for (ProviderLine& other : lines) {
      if (&line == &other || !awaited.Has(other.id)) continue;
      waits_for[line.id.Key()].push_back(&other);
      line.waits_for.push_back(Describe(other.id));
      other.holds_up.push_back(Describe(line.id));
    }
  }
  auto next = [&](const std::string& key) {
    auto found = waits_for.find(key);
    if (found == waits_for.end() || found->second.size() != 1) return std::string();
    const ProviderLine& other = *found->second.front();
    return other.ready == "True" ? "" : other.id.Key();
  };
  for (ProviderLine& line : lines) {
    const std::string root = advice::RootOf(line.id.Key(), next);
    if (!root.empty()) line.root = names[root];
  }
}

}  // namespace

Workload ReadWorkload(const kube::Object& object) {
  Workload out;
  out.kind = object.kind();
  out.ns = object.ns();
  out.name = object.name();
  out.label = object.label(api::kLabelProvider);
  const Json* containers = Find(object.json(), {"spec", "template", "spec", "containers"});
  if (containers != nullptr && containers->is_array()) {
    for (const Json& container : *containers) {
      // The manager, where there are others beside it.
      if (out.version.empty() || GetString(container, {"name"}) == "manager")
        out.version = TagOf(GetString(container, {"image"}));
    }
  }
  kube::Health health = kube::HealthOf(object);
  out.healthy = health.ok();
  if (!out.healthy) out.message = health.message;
  return out;
}

ProvidersTree BuildProvidersTree(const ProvidersInput& input) {
  ProvidersTree out;
  out.operators = input.operators;
  out.ns = input.ns;
  out.operators_known = input.operators_known;
  out.inventory_known = input.inventory_known;
  std::set<std::string> known;
  for (const ProviderObject& object : input.objects) {
    known.insert(object.provider.id.Key());
    ProviderLine& line = out.providers.emplace_back(LineOf(object));
    line.workloads = WorkloadsOf(line.id, input.workloads);
  }
  for (const InstalledProvider& installed : input.inventory) {
    api::ProviderId id{installed.type, installed.ns, installed.name};
    if (known.contains(id.Key())) continue;
    std::vector<Workload> workloads = WorkloadsOf(id, input.workloads);
    ProviderLine& line = out.providers.emplace_back(LineOf(installed, workloads, input.workloads_known));
    line.workloads = std::move(workloads);
  }
  std::stable_sort(out.providers.begin(), out.providers.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  Connect(out.providers);
  return out;
}

}  // namespace capi::cli::describe
