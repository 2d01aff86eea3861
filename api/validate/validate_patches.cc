#include "api/validate/validate_patches.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/patch_operation.h"
#include "api/reasons.h"
#include "base/json_memory.h"
#include "base/yaml/yaml.h"
#include "kube/meta/label_selector.h"

namespace capi::api {
namespace {

Status Bad(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// Takes what the patch holds from `memory`, which all patches share.
Result<Json> ParseWithin(const std::string& text, size_t& memory) {
  constexpr size_t kOfBroken = kMaxPatchMemory / 8;  // how far it was read isn't known
  auto patch = memory > 0 ? ParsePatch(text) : Result<Json>(Json());
  size_t size = patch.ok() ? MemoryOf(*patch) : std::min(memory, kOfBroken);
  if (memory > 0 && size <= memory) {
    memory -= size;
    return patch;
  }
  memory = 0;
  return Error{Code::kInvalidArgument,
               fmt::format("the patches together hold more than {} bytes of values", kMaxPatchMemory),
               {}};
}

// Which operation makes something else than an object of every object, and none after it mends that: no operation makes
// a map of a text or a list, but what is added to null makes one of it.
Status CheckOperations(const Json& operations) {
  const Json* whole = nullptr;  // what the object was replaced with
  size_t by = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    const PatchOperation o = TRY_WITH(ReadPatchOperation(operations[i]), fmt::format("operation {}", i));
    if (o.op == "replace" && o.path.empty()) {
      whole = o.value;
      by = i;
    } else if (whole != nullptr && whole->is_null() && (o.op == "add" || o.op == "copy")) {
      whole = nullptr;
    }
  }
  if (whole == nullptr || whole->is_object()) return Ok();
  return Bad(fmt::format("operation {}: value must be an object, since it replaces the whole one", by));
}

Status CheckPatchText(const std::string& text, size_t& memory) {
  Json patch = TRY(ParseWithin(text, memory));
  if (patch.is_null() || (patch.is_array() && patch.empty())) return Bad("is empty");
  if (patch.is_object()) return Ok();
  if (!patch.is_array()) return Bad("must be an object (merge patch) or a list of operations (RFC 6902)");
  return CheckOperations(patch);
}

// A merge patch; empty text changes nothing.
Status CheckManifestPatch(const std::string& text, size_t& memory) {
  Json patch = TRY(ParseWithin(text, memory));
  return patch.is_object() || patch.is_null() ? Ok() : Bad("must be an object (merge patch)");
}

void Report(const Status& status, std::string path, std::vector<FieldError>& out) {
  if (status.ok()) return;
  out.push_back(
      {FieldError::Kind::kInvalid, std::move(path), "", status.error().message, reason::kComponentsPatchError});
}

}  // namespace

Result<Json> ParsePatch(std::string_view text) { return ParseYaml(text, {.max_memory = kMaxPatchMemory}); }

void CheckPatches(const ProviderSpec& spec, std::vector<FieldError>& out) {
  if (!spec.patches.empty() && !spec.manifest_patches.empty()) {
    out.push_back({FieldError::Kind::kForbidden, "spec.patches", "",
                   "cannot use both 'patches' and 'manifestPatches'; please choose one",
                   reason::kComponentsPatchError});
  }
  size_t memory = kMaxPatchMemory;
  for (size_t i = 0; i < spec.manifest_patches.size(); ++i) {
    Report(CheckManifestPatch(spec.manifest_patches[i], memory), fmt::format("spec.manifestPatches[{}]", i), out);
  }
  for (size_t i = 0; i < spec.patches.size(); ++i) {
    const PatchSpec& patch = spec.patches[i];
    Report(CheckPatchText(patch.patch, memory), fmt::format("spec.patches[{}].patch", i), out);
    if (!patch.target || patch.target->label_selector.empty()) continue;
    auto selector = kube::LabelSelector::Parse(patch.target->label_selector);
    Report(selector.ok() ? Ok() : Status(selector.error()), fmt::format("spec.patches[{}].target.labelSelector", i),
           out);
  }
}

}  // namespace capi::api
