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
    EXPECT_THAT(done.error().message, testing::EndsWith(fmt::format(" (copy {}): the patches add more than 16777216 "
                                                                    "bytes to all objects together",
                                                                    path)));
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
    EXPECT_THAT(done.error().message, testing::HasSubstr("): the patches take too long"));
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

// F1: in a long patch, which operation it is.
TEST(JsonPatch, WhatItCannotDoIsSaid) {
  struct Case {
    std::string_view operation, message;  // which ends in ": " where the library says the rest
  };
  const Case cases[] = {
      {"1", "(): must be an object with op and path"},
      {"{op: remove}", "(remove): path is missing"},
      {"{op: add, path: x, value: 1}",
       "(add x): path must be a JSON pointer: begin with /, and have ~0 for ~ and ~1 for / in a name"},
      // Only a map, a list or nothing can be gone into.
      {"{op: add, path: /s/x, value: 1}", "(add /s/x): the parent of /s/x is neither a map nor a list"},
      {"{op: copy, from: /e, path: /s/x}", "(copy /s/x): the parent of /s/x is neither a map nor a list"},
      {"{op: move, from: /b, path: /s/x}", "(move /s/x): the parent of /s/x is neither a map nor a list"},
      {"{op: move, from: /s/x, path: /x}", "(move /x): the parent of /s/x is neither a map nor a list"},
      {"{op: remove, path: /s/x}", "(remove /s/x): the parent of /s/x is neither a map nor a list"},
      {"{op: remove, path: /e/x}", "(remove /e/x): "},
      {"{op: replace, path: /s/x, value: 1}", "(replace /s/x): "},
      {"{op: add, path: /x/y, value: 1}", "(add /x/y): "},
      {"{op: remove, path: /x}", "(remove /x): "},
      {"{op: replace, path: /x, value: 1}", "(replace /x): "},
      {"{op: test, path: /x, value: 1}", "(test /x): "},
      {"{op: move, from: /x, path: /a}", "(move /a): "},
      {"{op: copy, from: /x, path: /a}", "(copy /a): "},
      {"{op: test, path: /b/c, value: x}", "(test /b/c): it has another value"},
      {"{op: move, from: /b, path: /b/c}", "(move /b/c): path must not lead into from: a value can't move into itself"},
      // The place of an item is a number as JSON has it, and "-" is behind the last.
      {"{op: add, path: /a/2, value: 1}", "(add /a/2): a list of 1 has no place \"2\""},
      {"{op: add, path: /a/00, value: 1}", "(add /a/00): a list of 1 has no place \"00\""},
      {"{op: add, path: /a/+0, value: 1}", "(add /a/+0): a list of 1 has no place \"+0\""},
      {"{op: add, path: /a/0x, value: 1}", "(add /a/0x): a list of 1 has no place \"0x\""},
      {"{op: add, path: /a/, value: 1}", "(add /a/): a list of 1 has no place \"\""},
      {"{op: remove, path: /a/1}", "(remove /a/1): "},
      {"{op: remove, path: /a/-}", "(remove /a/-): "},
      {"{op: remove, path: /a/x}", "(remove /a/x): "},
      // What is left has to be an object.
      {"{op: move, from: '', path: /a}", "(move /a): from must not be empty: a whole object can't move"},
      {"{op: add, path: '', value: 1}", "(add): path must not be empty: add can't be of a whole object"},
      {"{op: remove, path: ''}", "(remove): path must not be empty: remove can't be of a whole object"},
      {"{op: copy, from: /a, path: ''}", "(copy): path must not be empty: copy can't be of a whole object"},
      {"{op: move, from: /a, path: ''}", "(move): path must not be empty: move can't be of a whole object"},
      {"{op: move, from: '', path: ''}", "(move): path must not be empty: move can't be of a whole object"},
  };
  for (const Case& c : cases) {
    Json target = Yaml("{a: [1], b: {c: d}, s: text, e: ~}");
    Status done = Operate(target, Json::array({Yaml("{op: test, path: /s, value: text}"), Yaml(c.operation)}));
    ASSERT_FALSE(done.ok()) << c.operation;
    const std::string message = fmt::format("operation 1 {}", c.message);
    if (message.ends_with(": ")) {
      EXPECT_THAT(done.error().message, testing::StartsWith(message)) << c.operation;
      EXPECT_GT(done.error().message.size(), message.size()) << c.operation;
      EXPECT_THAT(done.error().message, testing::Not(testing::HasSubstr("json.exception"))) << c.operation;
    } else {
      EXPECT_EQ(done.error().message, message) << c.operation;
    }
  }
}

// F2: what is named is shortened.
TEST(JsonPatch, AnErrorIsNoLongerThanItsWordsNeed) {
  const std::string x(1000, 'x');
  Json target = Yaml("{a: b}");
  EXPECT_EQ(Operate(target, {{{"op", "test"}, {"path", "/a"}, {"value", x}}}).error().message,
            "operation 0 (test /a): it has another value");
  EXPECT_EQ(Operate(target, {{{"op", x}, {"path", x}}}).error().message,
            fmt::format("operation 0 ({}... {}...): op \"{}...\" is not add, remove, replace, move, copy or test",
                        x.substr(0, 20), x.substr(0, 200), x.substr(0, 20)));
}

// The library's words repeat the path.
TEST(JsonPatch, AnErrorOfThePathIsNoLongerEither) {
  const std::string x(16'000, 'x');
  for (const std::string& path : {"/" + x, x, "/a/" + x, "/" + x + "/y"}) {
    for (const char* op : {"remove", "replace", "add"}) {
      Json target = Yaml("{a: b}");
      Status done = Operate(target, {{{"op", op}, {"path", path}, {"value", 1}}});
      if (op == std::string_view("add") && path == "/" + x) {
        EXPECT_TRUE(done.ok()) << "a new name";
      } else {
        ASSERT_FALSE(done.ok()) << op << " " << path.substr(0, 3);
        EXPECT_LT(done.error().message.size(), 600u) << op;
      }
    }
  }
}

// F1: what becomes of null, as admission takes it (api/validate/validate_patches.cc): what is added to it makes a map
// of it.
TEST(JsonPatch, WhatIsAddedToNullMakesAMapOfIt) {
  for (std::string_view operation : {"{op: add, path: /a, value: ~}", "{op: copy, path: /a, from: ''}"}) {
    Json target = Yaml("{b: c}");
    Status done = Operate(target, Json::array({Yaml("{op: replace, path: '', value: ~}"), Yaml(operation)}));
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(target, Yaml("{a: ~}")) << operation;
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
      if (!fits) {
        EXPECT_THAT(done.error().message, testing::EndsWith("): nested deeper than 1000"));
      }
    }
  }
}

}  // namespace
}  // namespace capi::templating
