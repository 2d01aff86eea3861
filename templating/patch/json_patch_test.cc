#include "templating/patch/json_patch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::templating {
namespace {

Json Yaml(std::string_view text) { return ParseYaml(text).value(); }

Status Operate(Json& target, const Json& operations) {
  PatchBudget budget;
  return JsonPatch(target, operations, budget);
}

// F2: each copy doubles the object, or nests it once more.
TEST(JsonPatch, CopiesDontExplode) {
  for (std::string_view path : {"/a/-", "/a/0"}) {
    Json target = Yaml("{a: [[x, [y]]]}"), operations = Json::array();
    for (int i = 0; i < 2000; ++i) operations.push_back({{"op", "copy"}, {"from", "/a"}, {"path", path}});
    auto done = Operate(target, operations);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().message, "the patches add more than 16777216 bytes to all objects together");
  }
  Json text = {{"a", std::string(1u << 20, 'x')}}, copies = Json::array();
  for (int i = 0; i < 20; ++i) copies.push_back({{"op", "copy"}, {"from", "/a"}, {"path", fmt::format("/b{}", i)}});
  EXPECT_FALSE(Operate(text, copies).ok());
}

// F2: what doesn't make an object larger takes time all the same.
TEST(JsonPatch, WorkIsBounded) {
  Json list = Json::array();
  for (int i = 0; i < 10'000; ++i) list.push_back(i);
  const std::string_view cases[] = {
      R"({"op": "move", "from": "/a", "path": "/b"})",
      R"({"op": "move", "from": "/a/0", "path": "/a/1"})",
      R"({"op": "copy", "from": "/a/0", "path": "/a/0"})",
      R"({"op": "test", "path": "/a/0", "value": 0})",
  };
  for (std::string_view text : cases) {
    SCOPED_TRACE(text);
    PatchBudget budget;
    Json target = {{"a", list}, {"b", 0}}, operation = ParseJson(text).value();
    Status done = Ok();
    for (int i = 0; done.ok() && i < 300'000; ++i) {
      done = JsonPatch(target, Json::array({operation}), budget);
      if (target["a"].is_null()) target = {{"a", list}};
      if (!target.contains("a")) target["a"] = std::move(target["b"]);
    }
    ASSERT_FALSE(done.ok());
    EXPECT_THAT(done.error().message, testing::StartsWith("the patches take too long"));
  }
}

TEST(JsonPatch, OperationsAreThoseOfTheStandard) {
  struct Case {
    std::string_view target, operations, want;
  };
  const Case cases[] = {
      {"{a: [1], b: {c: d}}", "[{op: add, path: /a/-, value: 2}, {op: remove, path: /b/c}]", "{a: [1, 2], b: {}}"},
      {"{a: [1, 2], b: {}}", "[{op: move, from: /a/0, path: /b/x}, {op: copy, from: /b, path: /c}]",
       "{a: [2], b: {x: 1}, c: {x: 1}}"},
      {"{a: [1, 3]}", "[{op: add, path: /a/1, value: 2}, {op: add, path: /a/0, value: 0}]", "{a: [0, 1, 2, 3]}"},
      {"{a: [1]}", "[{op: add, path: /a/1, value: 2}]", "{a: [1, 2]}"},
      {"{a: [1, 2, 3]}", "[{op: remove, path: /a/1}, {op: move, from: /a/1, path: /a/0}]", "{a: [3, 1]}"},
      {"{a: 1, b: 2}", "[{op: add, path: /a, value: {c: d}}, {op: move, from: /b, path: /a/c}]", "{a: {c: 2}}"},
      {"{a: 1, ab: 2}", "[{op: move, from: /a, path: /ab}, {op: move, from: /ab, path: /ab}]", "{ab: 1}"},
      {"{a: {b: 1}}", "[{op: replace, path: /a/b, value: ~}, {op: test, path: /a, value: {b: ~}}]", "{a: {b: ~}}"},
      {"{a: 1}", "[{op: replace, path: '', value: {b: 2}}, {op: test, path: '', value: {b: 2}}]", "{b: 2}"},
      {"{a: 1}", "[{op: add, path: /x~1y~0z, value: 1}]", "{a: 1, x/y~z: 1}"},
      {"{a: ~}", "[{op: add, path: /a/x, value: 1}]", "{a: {x: 1}}"},
  };
  for (const Case& c : cases) {
    Json target = Yaml(c.target);
    Status done = Operate(target, Yaml(c.operations));
    EXPECT_TRUE(done.ok()) << c.operations << ": " << done.error().message;
    EXPECT_EQ(target, Yaml(c.want)) << c.operations;
  }
}

TEST(JsonPatch, WhatItCannotDoIsSaid) {
  struct Case {
    std::string_view operation, message;
  };
  const Case cases[] = {
      {"1", "\"\" is no operation of RFC 6902"},
      {"{path: /a}", "\"\" is no operation of RFC 6902"},
      {"{op: nope, path: /a}", "\"nope\" is no operation of RFC 6902"},
      {"{op: remove}", "operation \"remove\" has no \"path\""},
      {"{op: replace, path: 1, value: 1}", "\"path\" of operation \"replace\" is no text"},
      {"{op: copy, path: /x}", "operation \"copy\" has no \"from\""},
      {"{op: move, path: /x}", "operation \"move\" has no \"from\""},
      {"{op: add, path: /x}", "operation \"add\" has no \"value\""},
      {"{op: replace, path: /a}", "operation \"replace\" has no \"value\""},
      {"{op: test, path: /a}", "operation \"test\" has no \"value\""},
      {"{op: add, path: x, value: 1}",
       "parse error at byte 1: JSON pointer must be empty or begin with '/' - was: 'x'"},
      // Only a map, a list or nothing can be gone into.
      {"{op: add, path: /s/x, value: 1}", "add /s/x: its parent is neither a map nor a list"},
      {"{op: copy, from: /e, path: /s/x}", "copy /s/x: its parent is neither a map nor a list"},
      {"{op: move, from: /b, path: /s/x}", "move /s/x: its parent is neither a map nor a list"},
      {"{op: move, from: /s/x, path: /x}", "move /s/x: its parent is neither a map nor a list"},
      {"{op: remove, path: /s/x}", "remove /s/x: its parent is neither a map nor a list"},
      {"{op: remove, path: /e/x}", "unresolved reference token 'x'"},
      {"{op: replace, path: /s/x, value: 1}", "unresolved reference token 'x'"},
      {"{op: add, path: /x/y, value: 1}", "key 'x' not found"},
      {"{op: remove, path: /x}", "key 'x' not found"},
      {"{op: replace, path: /x, value: 1}", "key 'x' not found"},
      {"{op: test, path: /x, value: 1}", "key 'x' not found"},
      {"{op: move, from: /x, path: /a}", "key 'x' not found"},
      {"{op: copy, from: /x, path: /a}", "key 'x' not found"},
      {"{op: test, path: /b/c, value: x}", "test /b/c: it has another value"},
      {"{op: move, from: /b, path: /b/c}", "move /b into itself"},
      // The place of an item is a number as JSON has it, and "-" is behind the last.
      {"{op: add, path: /a/2, value: 1}", "a list of 1 has no place \"2\""},
      {"{op: add, path: /a/00, value: 1}", "a list of 1 has no place \"00\""},
      {"{op: add, path: /a/+0, value: 1}", "a list of 1 has no place \"+0\""},
      {"{op: add, path: /a/0x, value: 1}", "a list of 1 has no place \"0x\""},
      {"{op: add, path: /a/, value: 1}", "a list of 1 has no place \"\""},
      {"{op: remove, path: /a/1}", "array index 1 is out of range"},
      {"{op: remove, path: /a/-}", "array index '-' (1) is out of range"},
      {"{op: remove, path: /a/x}", "unresolved reference token 'x'"},
      // What is left has to be an object.
      {"{op: add, path: '', value: 1}", "add of a whole object"},
      {"{op: remove, path: ''}", "remove of a whole object"},
      {"{op: copy, from: /a, path: ''}", "copy of a whole object"},
      {"{op: move, from: /a, path: ''}", "move of a whole object"},
      {"{op: move, from: '', path: ''}", "move of a whole object"},
  };
  for (const Case& c : cases) {
    Json target = Yaml("{a: [1], b: {c: d}, s: text, e: ~}");
    Status done = Operate(target, Json::array({Yaml(c.operation)}));
    ASSERT_FALSE(done.ok()) << c.operation;
    EXPECT_EQ(done.error().message, c.message) << c.operation;
  }
}

// F2: whichever way a value comes deep into an object.
TEST(JsonPatch, NothingIsNestedDeeperThanThereMayBe) {
  Json deep = "x";
  for (int i = 0; i < 500; ++i) deep = {{"a", std::move(deep)}};
  std::string path;
  for (int i = 0; i < 499; ++i) path += "/a";
  for (std::string_view op : {"add", "replace", "copy", "move"}) {
    for (bool fits : {true, false}) {
      Json target = {{"a", deep}, {"b", deep}};
      Json operation = {{"op", op}, {"path", path + (fits ? "/a" : "/a/a")}, {"from", "/b"}, {"value", deep}};
      Status done = Operate(target, Json::array({operation}));
      ASSERT_EQ(done.ok(), fits) << op;
      if (!fits) EXPECT_EQ(done.error().message, fmt::format("{} {}/a/a: nested deeper than 1000", op, path));
    }
  }
}

}  // namespace
}  // namespace capi::templating
