#include "templating/patch/patch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_memory.h"

namespace capi::templating {
namespace {

using testing::ElementsAre;

constexpr size_t kPlenty = 32u << 20;

std::vector<kube::Object> OneMap() {
  Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "c"}, {"namespace", "n"}}}};
  return {kube::Object(std::move(map))};
}

api::ProviderSpec SpecOf(api::PatchTarget target, std::string patch) {
  api::ProviderSpec spec;
  spec.patches.push_back({std::move(patch), std::move(target)});
  return spec;
}

// I9
TEST(ApplyPatches, WhatMatchesNothingIsNamed) {
  const std::pair<api::PatchTarget, std::string_view> cases[] = {
      {{.kind = "Secret"}, "spec.patches[0] (Secret) matches no object"},
      {{.name = "x"}, "spec.patches[0] (x) matches no object"},
      {{.kind = "Secret", .name = "x"}, "spec.patches[0] (Secret x) matches no object"},
      {{.ns = "x"}, "spec.patches[0] matches no object"},
  };
  for (const auto& [target, warning] : cases) {
    auto objects = OneMap();
    std::vector<std::string> warnings;
    ASSERT_TRUE(ApplyPatches(objects, SpecOf(target, "{data: {a: b}}"), kPlenty, warnings).ok());
    EXPECT_THAT(warnings, ElementsAre(warning));
    EXPECT_EQ(objects[0].json(), OneMap()[0].json());
  }
  api::ProviderSpec spec;
  spec.manifest_patches = {"{kind: Secret}", "{metadata: {name: x}}", "{data: {a: b}}", ""};
  auto objects = OneMap();
  std::vector<std::string> warnings;
  ASSERT_TRUE(ApplyPatches(objects, spec, kPlenty, warnings).ok());
  EXPECT_THAT(warnings,
              ElementsAre("spec.manifestPatches[0] (Secret) matches no object",
                          "spec.manifestPatches[1] (x) matches no object", "spec.manifestPatches[3] is empty"));
  EXPECT_EQ(objects[0].json()["data"]["a"], "b");
}

// I9: whichever way it is taken away.
TEST(ApplyPatches, WhatIsLeftIsAnObject) {
  for (std::string_view operation :
       {"op: remove, path: /apiVersion", "op: remove, path: /kind", "op: remove, path: /metadata/name",
        "op: remove, path: /metadata", "op: replace, path: /kind, value: 1", "op: replace, path: '', value: text"}) {
    auto objects = OneMap();
    std::vector<std::string> warnings;
    Status done = ApplyPatches(objects, SpecOf({}, fmt::format("[{{{}}}]", operation)), kPlenty, warnings);
    ASSERT_FALSE(done.ok()) << operation;
    EXPECT_EQ(done.error().message,
              "spec.patches[0]: failed to apply patch to n/c: it leaves an object without apiVersion, kind or name");
  }
}

// F2: what patches add counts with what is there.
TEST(ApplyPatches, ObjectsHaveOneBoundWithWhatPatchesAdd) {
  const std::string patch =
      "[{op: add, path: /a, value: b}]";  // 81 bytes for the value, and as many for the name, about
  const size_t taken = MemoryOf(OneMap()[0].json());
  for (auto [memory, message] : std::initializer_list<std::pair<size_t, std::string_view>>{
           {taken + 162, ""},
           {taken + 161, "add more than 161 bytes"},
           {taken, "add more than 0 bytes"},
           {taken - 1, "add more than 0 bytes"},
       }) {
    auto objects = OneMap();
    std::vector<std::string> warnings;
    Status done = ApplyPatches(objects, SpecOf({}, patch), memory, warnings);
    EXPECT_EQ(done.ok(), message.empty());
    if (!done.ok()) EXPECT_THAT(done.error().message, testing::HasSubstr(std::string(message)));
  }
}

}  // namespace
}  // namespace capi::templating
