#include "cli/describe/providers_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advice/explain.h"
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

// How the operator says that it is.
void ReadReady(const api::Provider& provider, ProviderLine& out) {
  const kube::Condition* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  if (ready == nullptr || provider.status.observed_generation < provider.generation) {
    out.ready = "Unknown";
    out.message = ready == nullptr ? "the operator has not looked at it yet"
                                   : "the operator has not looked at its last change yet";
    return;
  }
  out.ready = ready->status;
  out.reason = ready->reason;
  out.since = ready->last_transition_time;
  if (ready->status != "True") out.message = ready->message;
}

ProviderLine LineOf(const ProviderObject& object) {
  ProviderLine out;
  const api::Provider& provider = object.provider;
  out.id = provider.id;
  out.of_operator = true;
  out.version = provider.status.installed_version;
  if (object.wanted != out.version) out.wanted = object.wanted;
  out.contract = provider.status.contract;
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
  for (ProviderLine& line : lines) {
    if (line.ready == "True") continue;
    const advice::Awaited awaited = advice::AwaitedBy(line.reason, line.message);
    for (ProviderLine& other : lines) {
      if (&line == &other || !awaited.Has(other.id)) continue;
      line.waits_for.push_back(Describe(other.id));
      other.holds_up.push_back(Describe(line.id));
    }
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
