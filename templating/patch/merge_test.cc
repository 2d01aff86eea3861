#include "templating/patch/merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::templating {
namespace {

Json Yaml(std::string_view text) { return ParseYaml(text).value(); }

Status Merge(Json& target, const Json& patch) {
  PatchBudget budget;
  return MergePatch(target, patch, budget);
}

TEST(MergePatch, ListsAreReplacedUnlessThePatchAsksForMore) {
  struct Case {
    std::string_view name, target, patch, want;
  };
  const Case cases[] = {
      {"RFC 7396", "{a: {b: 1, c: 2}, l: [1, 2]}", "{a: {b: null, d: 3}, l: [9]}", "{a: {c: 2, d: 3}, l: [9]}"},
      {"a map takes the place of a scalar", "{a: 1}", "{a: {b: 1, c: null}}", "{a: {b: 1}}"},
      {"known lists too", "{containers: [{name: a, x: 1}, {name: b}]}", "{containers: [{name: a}]}",
       "{containers: [{name: a}]}"},
      {"an item asks", "{containers: [{name: a, x: 1}, {name: b}]}", "{containers: [{name: a, y: 2, $patch: merge}]}",
       "{containers: [{name: a, x: 1, y: 2}, {name: b}]}"},
      {"an item that isn't there is appended", "{env: [{name: a}]}", "{env: [{name: c, value: v, $patch: merge}]}",
       "{env: [{name: a}, {name: c, value: v}]}"},
      {"an item goes", "{env: [{name: a}, {name: b}]}", "{env: [{name: a, $patch: delete}]}", "{env: [{name: b}]}"},
      {"all items of one key go", "{env: [{name: a}, {name: b}, {name: a, x: 1}, {name: c}]}",
       "{env: [{name: a, $patch: delete}, {name: a, y: 2, $patch: merge}]}",
       "{env: [{name: b}, {name: c}, {name: a, y: 2}]}"},
      {"the first item of a key is merged", "{env: [{name: b}, {name: a}, {name: a}]}",
       "{env: [{name: a, y: 2, $patch: merge}]}", "{env: [{name: b}, {name: a, y: 2}, {name: a}]}"},
      {"an item is replaced", "{env: [{name: a, value: x}, {name: b}]}",
       "{env: [{name: a, valueFrom: y, $patch: replace}]}", "{env: [{name: a, valueFrom: y}, {name: b}]}"},
      {"a replaced item is found again", "{env: [{name: a, value: x}, {name: b}, {name: c}]}",
       "{env: [{name: a, x: 1, $patch: replace}, {name: b, $patch: delete}, {name: a, y: 2, $patch: merge}]}",
       "{env: [{name: a, x: 1, y: 2}, {name: c}]}"},
      {"a map is no text", "{env: [{name: a}, {name: {b: c}}]}", "{env: [{name: d, $patch: merge}]}",
       "{env: [{name: a}, {name: {b: c}}, {name: d}]}"},
      {"the list is replaced", "{env: [{name: a}]}", "{env: [{$patch: replace}, {name: b}]}", "{env: [{name: b}]}"},
      {"the patch asks for all below",
       "{spec: {containers: [{name: a, env: [{name: x, value: '1'}], args: [p]}, {name: b}], tolerations: [{key: t}]}}",
       "{$patch: merge, spec: {containers: [{name: a, env: [{name: y, value: '2'}], args: [q]}], tolerations: [{key: "
       "u}]}}",
       "{spec: {containers: [{name: a, env: [{name: x, value: '1'}, {name: y, value: '2'}], args: [q]}, {name: b}], "
       "tolerations: [{key: u}]}}"},
      {"ports by number", "{ports: [{port: 80, name: a}, {port: 81}]}", "{$patch: merge, ports: [{port: 80, name: b}]}",
       "{ports: [{port: 80, name: b}, {port: 81}]}"},
      {"container ports", "{ports: [{containerPort: 80}]}", "{$patch: merge, ports: [{containerPort: 81}]}",
       "{ports: [{containerPort: 80}, {containerPort: 81}]}"},
      {"a map is replaced", "{a: {b: 1, c: 2}}", "{a: {d: 3, $patch: replace}}", "{a: {d: 3}}"},
      {"a map goes", "{a: {b: 1}, c: 2}", "{a: {$patch: delete}}", "{c: 2}"},
      {"a foreign list is merged by name", "{things: [{name: a, x: 1}]}", "{things: [{name: a, y: 2, $patch: merge}]}",
       "{things: [{name: a, x: 1, y: 2}]}"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Json target = Yaml(c.target);
    auto merged = Merge(target, Yaml(c.patch));
    ASSERT_TRUE(merged.ok()) << merged.error().message;
    EXPECT_EQ(target, Yaml(c.want));
  }
}

TEST(MergePatch, WhatItCannotDoIsSaid) {
  struct Case {
    std::string_view patch, message;
  };
  const Case cases[] = {
      {"{env: [{value: x, $patch: merge}]}", "an item of list \"env\" has no \"name\" to merge it by"},
      {"{env: [{name: ~, $patch: merge}]}", "an item of list \"env\" has no \"name\" to merge it by"},
      {"{env: [{name: {a: b}, $patch: merge}]}", "an item of list \"env\" has no \"name\" to merge it by"},
      {"{a: {$patch: upsert}}", "unknown $patch directive \"upsert\""},
      {"{env: [{name: a, $patch: upsert}]}", "unknown $patch directive \"upsert\""},
  };
  for (const auto& c : cases) {
    Json target = Yaml("{env: [{name: a}]}");
    auto merged = Merge(target, Yaml(c.patch));
    ASSERT_FALSE(merged.ok()) << c.patch;
    EXPECT_EQ(merged.error().message, c.message);
  }
}

// F2: a list that is merged by key is walked once for each patch.
TEST(MergePatch, ListsByKeyAreBounded) {
  Json target = {{"env", Json::array()}}, patch = target;
  for (int i = 0; i < 50'000; ++i) target["env"].push_back({{"name", fmt::format("{}", i)}});
  for (int i = 0; i < 10'000; ++i) patch["env"].push_back({{"name", fmt::format("{}", 5 * i)}, {"$patch", "delete"}});
  ASSERT_TRUE(Merge(target, patch).ok());
  EXPECT_EQ(target["env"].size(), 40'000u);
  PatchBudget budget;
  Status done = Ok();
  for (int i = 0; done.ok() && i < 100; ++i) {
    done = MergePatch(target, Yaml("{env: [{name: a, $patch: merge}]}"), budget);
  }
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, testing::StartsWith("the patches take too long"));
}

}  // namespace
}  // namespace capi::templating
