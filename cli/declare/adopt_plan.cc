#include "cli/declare/adopt_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "api/version.h"
#include "base/strings.h"
#include "cli/frame/provider_objects.h"

namespace capi::cli {
namespace {

constexpr size_t kMostNames = 20;

bool IsCore(const InventoryEntry& entry) { return entry.id.type == api::ProviderType::kCore; }

// Why this one can't be adopted; "" where it can.
std::string Refusal(const Fleet& fleet, const InventoryEntry& entry) {
  auto twin = std::find_if(fleet.entries.begin(), fleet.entries.end(), [&](const InventoryEntry& other) {
    return other.id.type == entry.id.type && other.id.name == entry.id.name && other.id.ns != entry.id.ns;
  });
  if (twin != fleet.entries.end()) {
    return fmt::format(
        "it is in the inventory twice, in namespaces {} and {}; a cluster has one of each: remove the other",
        std::min(entry.id.ns, twin->id.ns), std::max(entry.id.ns, twin->id.ns));
  }
  if (const kube::Object* object = fleet.ObjectOf(entry.id); object != nullptr && object->ns() != entry.id.ns) {
    return fmt::format("its object is in namespace {}, and its components are in {}: delete that object first",
                       object->ns(), entry.id.ns);
  }
  if (entry.of_operator && fleet.ObjectOf(entry.id) == nullptr)
    return "the operator installed it, and its object is gone: wait until its components are";
  if (auto version = api::Version::Parse(entry.version); !version.ok())
    return fmt::format("its entry in the inventory has version {}: {}", api::GoQuote(entry.version),
                       version.error().message);
  return "";
}

Result<std::vector<AdoptStep>> Choose(const Fleet& fleet, const std::vector<std::string>& names, bool all) {
  std::vector<AdoptStep> out;
  std::vector<std::string> there, unmet;
  for (const InventoryEntry& entry : fleet.entries) {
    there.push_back(Describe(entry.id));
    const bool has_object = fleet.ObjectOf(entry.id) != nullptr;
    bool meant = std::any_of(names.begin(), names.end(), [&](const auto& name) { return IsMeant(name, entry.id); });
    if (meant || (all && !(has_object && entry.of_operator))) out.push_back({entry, has_object});
  }
  for (const std::string& name : names) {
    bool met = std::any_of(fleet.entries.begin(), fleet.entries.end(),
                           [&](const InventoryEntry& entry) { return IsMeant(name, entry.id); });
    if (!met) unmet.push_back(api::GoQuote(name));
  }
  if (unmet.empty()) return out;
  return Error{Code::kNotFound,
               fmt::format("clusterctl installed no provider {}; there {}: {}", JoinNames(unmet, kMostNames),
                           there.size() == 1 ? "is" : "are", there.empty() ? "none" : JoinNames(there, kMostNames)),
               {}};
}

bool HasCore(const Fleet& fleet, const std::vector<AdoptStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const AdoptStep& step) { return IsCore(step.entry); }) ||
         std::any_of(fleet.objects.begin(), fleet.objects.end(),
                     [](const kube::Object& object) { return IdOf(object).type == api::ProviderType::kCore; });
}

}  // namespace

Result<std::vector<AdoptStep>> PlanAdoption(const Fleet& fleet, const std::vector<std::string>& names, bool all) {
  std::vector<AdoptStep> steps = TRY(Choose(fleet, names, all));
  std::vector<std::string> refusals;
  for (const AdoptStep& step : steps) {
    std::string refusal = Refusal(fleet, step.entry);
    if (!refusal.empty()) refusals.push_back(fmt::format("{} can't be adopted: {}", Describe(step.entry.id), refusal));
  }
  if (!refusals.empty()) return Error{Code::kFailedPrecondition, Join(refusals, "\n"), {}};
  if (!steps.empty() && !HasCore(fleet, steps)) {
    return Error{Code::kFailedPrecondition,
                 "the core provider has no object, and the others wait for it: adopt it with them (`clusterctl adopt "
                 "cluster-api ...`, or --all)",
                 {}};
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.entry.id < b.entry.id; });
  return steps;
}

std::string MismatchOf(const SecretValuesByKey& there, const SecretValuesByKey& needed,
                       const SecretValuesByKey& given) {
  std::vector<std::string> lacking, other;
  for (const auto& [key, value] : needed) {
    auto found = there.find(key);
    if (found == there.end() && !value.empty()) lacking.push_back(key);
    if (found != there.end() && found->second != value) other.push_back(key);
  }
  for (const auto& [key, value] : given) {
    auto found = there.find(key);
    if (!needed.contains(key) && found != there.end() && found->second != value) other.push_back(key);
  }
  std::sort(other.begin(), other.end());
  std::vector<std::string> parts;
  if (!lacking.empty()) parts.push_back(fmt::format("lacks the keys [{}]", Join(lacking, ", ")));
  if (!other.empty()) parts.push_back(fmt::format("has other values than are needed under [{}]", Join(other, ", ")));
  return Join(parts, ", and ");
}

}  // namespace capi::cli
