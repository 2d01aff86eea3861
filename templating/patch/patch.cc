#include "templating/patch/patch.h"

#include <fmt/format.h>

#include "base/yaml.h"
#include "kube/meta/label_selector.h"
#include "templating/patch/json_patch.h"
#include "templating/patch/merge.h"

namespace capi::templating {
namespace {

// What all patches may add to all objects: one without a target is added to each.
constexpr size_t kMaxAdded = 8u << 20;  // bytes of their texts

struct Added {
  size_t text = 0;    // of the patches, once for each object
  size_t copied = 0;  // by operations
};

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

Status Charge(Added& added, std::string_view patch) {
  added.text += patch.size();
  if (added.text <= kMaxAdded) return Ok();
  return Invalid(fmt::format("the patches add more than {} bytes to all objects together", kMaxAdded));
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

Status ApplyManifestPatch(std::vector<kube::Object>& objects, const std::string& text, size_t index, Added& added,
                          std::vector<std::string>& warnings) {
  std::string at = Describe("manifestPatches", index, "", "");
  Json patch = TRY_WITH(ParseYaml(text), fmt::format("{}: failed to parse patches", at));
  if (patch.is_null()) {
    warnings.push_back(fmt::format("{} is empty", at));
    return Ok();
  }
  if (!patch.is_object()) return Invalid(fmt::format("{}: failed to parse patches: it is no map", at));
  bool matched = false;
  for (kube::Object& object : objects) {
    if (!MatchesManifest(object, patch)) continue;
    matched = true;
    std::string what = fmt::format("{}: failed to apply patch to {}", at, NameOf(object));
    TRY_WITH(Charge(added, text), what);
    TRY_WITH(MergePatch(object.json(), patch), what);
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
  return selector.Matches(labels == nullptr ? Json() : *labels);
}

Status ApplyTo(kube::Object& object, const Json& patch, size_t& copied) {
  if (patch.is_array()) {
    if (patch.empty()) return Invalid("rfc6902 patch is nil");
    TRY_WITH(JsonPatch(object.json(), patch, copied), "failed to apply RFC6902 patch");
    return Ok();
  }
  if (patch.is_null()) return Invalid("rfc6902 patch is nil");
  if (!patch.is_object()) return Invalid("failed to apply strategic merge patch: it is neither a map nor a list");
  TRY_WITH(MergePatch(object.json(), patch), "failed to apply strategic merge patch");
  return Ok();
}

Status ApplyPatch(std::vector<kube::Object>& objects, const api::PatchSpec& spec, size_t index, Added& added,
                  std::vector<std::string>& warnings) {
  std::string at = Describe("patches", index, "", "");
  Json patch = TRY_WITH(ParseYaml(spec.patch), fmt::format("{}: failed to convert patch YAML to JSON", at));
  api::PatchTarget target = spec.target.value_or(api::PatchTarget{});
  auto selector = TRY_WITH(
      kube::LabelSelector::Parse(target.label_selector),
      fmt::format("{}.target.labelSelector: failed to parse label selector \"{}\"", at, target.label_selector));
  bool matched = false;
  for (kube::Object& object : objects) {
    if (!MatchesTarget(object, target, selector)) continue;
    matched = true;
    std::string what = fmt::format("{}: failed to apply patch to {}", at, NameOf(object));
    TRY_WITH(Charge(added, spec.patch), what);
    TRY_WITH(ApplyTo(object, patch, added.copied), what);
    TRY_WITH(CheckIsObject(object.json()), what);
  }
  if (!matched) warnings.push_back(MatchesNothing(Describe("patches", index, target.kind, target.name)));
  return Ok();
}

}  // namespace

Status ApplyPatches(std::vector<kube::Object>& objects, const api::ProviderSpec& spec,
                    std::vector<std::string>& warnings) {
  if (!spec.patches.empty() && !spec.manifest_patches.empty()) {
    return Invalid("cannot use both 'patches' and 'manifestPatches'; please choose one");
  }
  Added added;
  for (size_t i = 0; i < spec.manifest_patches.size(); ++i) {
    TRY(ApplyManifestPatch(objects, spec.manifest_patches[i], i, added, warnings));
  }
  for (size_t i = 0; i < spec.patches.size(); ++i) TRY(ApplyPatch(objects, spec.patches[i], i, added, warnings));
  return Ok();
}

}  // namespace capi::templating
