// Patches: merge patches do what RFC 7396 says and change nothing when they are applied again; RFC 6902 patches
// are applied as the library applies them, or say why not.
#include "base/fuzz.h"
#include "base/yaml/yaml.h"
#include "templating/patch/json_patch.h"
#include "templating/patch/merge.h"

namespace capi::templating {
namespace {

Status Merge(Json& target, const Json& patch) {
  PatchBudget budget;
  return MergePatch(target, patch, budget);
}

void CheckMerge(const Json& target, const Json& patch, bool has_directive) {
  Json once = target;
  if (!Merge(once, patch).ok()) {
    FUZZ_REQUIRE(has_directive);
    return;
  }
  if (!has_directive) {
    Json standard = target;
    standard.merge_patch(patch);
    FUZZ_REQUIRE(once == standard);
  }
  Json twice = once;
  FUZZ_REQUIRE(Merge(twice, patch).ok());
  FUZZ_REQUIRE(twice == once);
}

void CheckOperations(const Json& target, const Json& operations) {
  Json patched = target;
  PatchBudget budget;
  if (auto done = JsonPatch(patched, operations, budget); !done.ok()) {
    FUZZ_REQUIRE(!done.error().message.empty());
  } else {
    FUZZ_REQUIRE(patched == target.patch(operations));
  }
}

}  // namespace
}  // namespace capi::templating

// The object, then the patch, as two YAML documents.
CAPI_FUZZ(
    patch, "templating/patch",
    {"spec: {containers: [{name: a, image: b}]}\n---\nspec: {$patch: merge, containers: [{name: a, args: [x]}]}\n",
     "{a: {b: [1, 2]}}\n---\n- {op: add, path: /a/b/-, value: 3}\n- {op: move, from: /a/b, path: /c}\n",
     "{a: 1}\n---\n- {op: test, path: /a, value: 1}\n- {op: copy, from: /a, path: /b}\n- {op: remove, path: /a}\n",
     "{a: 1}\n---\n- {op: replace, path: /a, value: {c: ~}}\n",
     "{a: [{name: x}, {name: y}]}\n---\na: [{name: x, $patch: delete}, {name: y, $patch: replace, z: 1}]\n",
     "[]\n---\n{a: ~, b: {c: ~}}\n", "a\n---\n- {op: x}\n"}) {
  using namespace capi;
  YamlLimits limits;
  limits.max_nodes = 2'000;
  auto documents = ParseYamlStream(input, limits);
  if (!documents.ok() || documents->size() != 2) return;
  const Json &target = (*documents)[0].value, &patch = (*documents)[1].value;
  if (patch.is_array()) return templating::CheckOperations(target, patch);
  if (patch.is_object()) templating::CheckMerge(target, patch, input.find("$patch") != input.npos);
}
