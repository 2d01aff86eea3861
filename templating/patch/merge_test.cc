#include "templating/patch/merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "templating/patch/json_patch.h"

namespace capi::templating {
namespace {

Json Yaml(std::string_view text) { return ParseYaml(text).value(); }

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
      {"an item is replaced", "{env: [{name: a, value: x}, {name: b}]}",
       "{env: [{name: a, valueFrom: y, $patch: replace}]}", "{env: [{name: a, valueFrom: y}, {name: b}]}"},
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
    auto merged = MergePatch(target, Yaml(c.patch));
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
      {"{a: {$patch: upsert}}", "unknown $patch directive \"upsert\""},
      {"{env: [{name: a, $patch: upsert}]}", "unknown $patch directive \"upsert\""},
  };
  for (const auto& c : cases) {
    Json target = Yaml("{env: [{name: a}]}");
    auto merged = MergePatch(target, Yaml(c.patch));
    ASSERT_FALSE(merged.ok()) << c.patch;
    EXPECT_EQ(merged.error().message, c.message);
  }
}

// Each copy doubles the object, or nests it once more.
TEST(JsonPatch, CopiesDontExplode) {
  for (std::string_view path : {"/a/-", "/a/0"}) {
    Json target = Yaml("{a: [[x, [y]]]}"), before = target, operations = Json::array();
    for (int i = 0; i < 2000; ++i) operations.push_back({{"op", "copy"}, {"from", "/a"}, {"path", path}});
    auto done = JsonPatch(target, operations);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().message, "more than 16777216 bytes are copied");
    EXPECT_EQ(target, before);
  }
  Json text = {{"a", std::string(1u << 20, 'x')}}, copies = Json::array();
  for (int i = 0; i < 20; ++i) copies.push_back({{"op", "copy"}, {"from", "/a"}, {"path", fmt::format("/b{}", i)}});
  EXPECT_FALSE(JsonPatch(text, copies).ok());
  Json target = Yaml("{a: {}}"), operations = Json::array();
  std::string path = "/a";
  for (int i = 0; i < 1100; ++i) {
    path += "/a";
    operations.push_back({{"op", "add"}, {"path", path}, {"value", Json::object()}});
  }
  auto done = JsonPatch(target, operations);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, testing::EndsWith(": nested deeper than 1000"));
}

TEST(JsonPatch, AllOrNothing) {
  Json target = Yaml("{a: [1], b: {c: d}}");
  const Json before = target;
  EXPECT_TRUE(JsonPatch(target, Yaml("[{op: add, path: /a/-, value: 2}, {op: remove, path: /b/c}]")).ok());
  EXPECT_EQ(target, Yaml("{a: [1, 2], b: {}}"));
  EXPECT_TRUE(JsonPatch(target, Yaml("[{op: move, from: /a/0, path: /b/x}, {op: copy, from: /b, path: /c}]")).ok());
  EXPECT_EQ(target, Yaml("{a: [2], b: {x: 1}, c: {x: 1}}"));
  target = before;
  for (const char* bad : {"[{op: remove, path: /b/c}, {op: remove, path: /nope}]", "[{op: nope, path: /a}]",
                          "[{op: test, path: /b/c, value: x}]", "[{op: add, path: /x/y, value: 1}]", "[{path: /a}]",
                          "[1]", "[{op: add, path: a, value: 1}]", "[{op: remove, path: /a/x}]"}) {
    EXPECT_FALSE(JsonPatch(target, Yaml(bad)).ok()) << bad;
    EXPECT_EQ(target, before) << bad;
  }
}

}  // namespace
}  // namespace capi::templating
