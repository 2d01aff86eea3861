#include "templating/patch/patch.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/validate/validate_patches.h"
#include "base/json_memory.h"
#include "kube/meta/label_selector.h"
#include "templating/patch/budget.h"
#include "templating/patch/json_patch.h"
#include "templating/patch/merge.h"

namespace capi::templating {
namespace {

constexpr size_t kMatch = 400;  // what looking whether a patch matches an object costs, in bytes of work

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

bool EqualIfGiven(std::string_view wanted, std::string_view has) { return wanted.empty() || wanted == has; }

// "spec.patches[1] (Deployment example)"
std::string Describe(std::string_view field, size_t index, std::string_view kind, std::string_view name) {
  std::string out = fmt::format("spec.{}[{}]", field, index);
  if (kind.empty() && name.empty()) return out;
  return fmt::format("{} ({}{}{})", out, kind, kind.empty() || name.empty() ? "" : " ", name);
}

std::string MatchesNothing(std::string_view what) { return fmt::format("{} matches no object", what); }

std::string NameOf(const kube::Object& object) {
  return object.ns().empty() ? object.name() : object.ns() + "/" + object.name();
}

// In the bounds of one patch, and of all.
Result<Json> Parse(std::string_view text, PatchBudget& budget) {
  Json patch = TRY(api::ParsePatch(text));
  TRY(budget.Work(2 * MemoryOf(patch)));
  return patch;
}

// A patch may change anything, but what it leaves has to be an object still.
Status CheckIsObject(const Json& json) {
  bool whole = json.is_object() && !GetString(json, {"apiVersion"}).empty() && !GetString(json, {"kind"}).empty() &&
               !GetString(json, {"metadata", "name"}).empty();
  return whole ? Ok() : Invalid("it leaves an object without apiVersion, kind or name");
}

bool MatchesManifest(const kube::Object& object, const Json& patch) {
  return EqualIfGiven(GetString(patch, {"apiVersion"}), object.api_version()) &&
         EqualIfGiven(GetString(patch, {"kind"}), object.kind()) &&
         EqualIfGiven(GetString(patch, {"metadata", "name"}), object.name()) &&
         EqualIfGiven(GetString(patch, {"metadata", "namespace"}), object.ns());
}

Status ApplyManifestPatch(std::vector<kube::Object>& objects, const std::string& text, size_t index,
                          PatchBudget& budget, std::vector<std::string>& warnings) {
  std::string at = Describe("manifestPatches", index, "", "");
  Json patch = TRY_WITH(Parse(text, budget), fmt::format("{}: failed to parse patches", at));
  if (patch.is_null()) {
    warnings.push_back(fmt::format("{} is empty", at));
    return Ok();
  }
  if (!patch.is_object()) return Invalid(fmt::format("{}: failed to parse patches: it is no map", at));
  bool matched = false;
  TRY_WITH(budget.Work(kMatch * objects.size()), at);
  for (kube::Object& object : objects) {
    if (!MatchesManifest(object, patch)) continue;
    matched = true;
    std::string what = fmt::format("{}: failed to apply patch to {}", at, NameOf(object));
    TRY_WITH(MergePatch(object.json(), patch, budget), what);
    TRY_WITH(CheckIsObject(object.json()), what);
  }
  if (!matched) {
    warnings.push_back(MatchesNothing(
        Describe("manifestPatches", index, GetString(patch, {"kind"}), GetString(patch, {"metadata", "name"}))));
  }
  return Ok();
}

bool MatchesTarget(const kube::Object& object, const api::PatchTarget& target, const kube::LabelSelector& selector) {
  kube::GroupVersion version = object.group_version();
  if (!EqualIfGiven(target.group, version.group) || !EqualIfGiven(target.version, version.version) ||
      !EqualIfGiven(target.kind, object.kind()) || !EqualIfGiven(target.name, object.name()) ||
      !EqualIfGiven(target.ns, object.ns())) {
    return false;
  }
  if (target.label_selector.empty()) return true;
  const Json* labels = Find(object.json(), {"metadata", "labels"});
  static const Json kNone;
  return selector.Matches(labels == nullptr ? kNone : *labels);
}

Status ApplyTo(kube::Object& object, const Json& patch, PatchBudget& budget) {
  if (patch.is_array()) {
    if (patch.empty()) return Invalid("rfc6902 patch is nil");
    TRY_WITH(JsonPatch(object.json(), patch, budget), "failed to apply RFC6902 patch");
    return Ok();
  }
  if (patch.is_null()) return Invalid("rfc6902 patch is nil");
  if (!patch.is_object()) return Invalid("failed to apply strategic merge patch: it is neither a map nor a list");
  TRY_WITH(MergePatch(object.json(), patch, budget), "failed to apply strategic merge patch");
  return Ok();
}

Status ApplyPatch(std::vector<kube::Object>& objects, const api::PatchSpec& spec, size_t index, PatchBudget& budget,
                  std::vector<std::string>& warnings) {
  std::string at = Describe("patches", index, "", "");
  Json patch = TRY_WITH(Parse(spec.patch, budget), fmt::format("{}: failed to convert patch YAML to JSON", at));
  api::PatchTarget target = spec.target.value_or(api::PatchTarget{});
  auto selector = TRY_WITH(
      kube::LabelSelector::Parse(target.label_selector),
      fmt::format("{}.target.labelSelector: failed to parse label selector \"{}\"", at, target.label_selector));
  bool matched = false;
  TRY_WITH(budget.Work((kMatch + target.label_selector.size()) * objects.size()), at);
  for (kube::Object& object : objects) {
    if (!MatchesTarget(object, target, selector)) continue;
    matched = true;
    std::string what = fmt::format("{}: failed to apply patch to {}", at, NameOf(object));
    TRY_WITH(ApplyTo(object, patch, budget), what);
    TRY_WITH(CheckIsObject(object.json()), what);
  }
  if (!matched) warnings.push_back(MatchesNothing(Describe("patches", index, target.kind, target.name)));
  return Ok();
}

}  // namespace

Status ApplyPatches(std::vector<kube::Object>& objects, const api::ProviderSpec& spec, size_t memory,
                    std::vector<std::string>& warnings) {
  if (!spec.patches.empty() && !spec.manifest_patches.empty()) {
    return Invalid("cannot use both 'patches' and 'manifestPatches'; please choose one");
  }
  size_t taken = 0;
  for (const kube::Object& object : objects) taken += MemoryOf(object.json());
  PatchBudget budget(memory - std::min(taken, memory));
  for (size_t i = 0; i < spec.manifest_patches.size(); ++i) {
    TRY(ApplyManifestPatch(objects, spec.manifest_patches[i], i, budget, warnings));
  }
  for (size_t i = 0; i < spec.patches.size(); ++i) TRY(ApplyPatch(objects, spec.patches[i], i, budget, warnings));
  return Ok();
}

}  // namespace capi::templating
