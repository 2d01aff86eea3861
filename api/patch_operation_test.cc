#include "api/patch_operation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

TEST(ReadPatchOperation, TakesTheSixOfTheStandard) {
  const std::string deepest = "{op: remove, path: '" + std::string(1'000, '/') + "'}";
  for (const char* text :
       {"{op: add, path: /a/-, value: 1}", deepest.c_str(), "{op: replace, path: '', value: ~}",
        "{op: test, path: /a~0b~1c, value: {}}", "{op: remove, path: /a, value: unused}",
        "{op: move, path: /a, from: /b}", "{op: copy, path: /a, from: ''}", "{op: test, path: '', value: {}}",
        "{op: move, path: /a, from: /a}", "{op: move, path: /ab, from: /a}", "{op: move, path: /a, from: /a/b}",
        "{op: copy, path: /a/b, from: /a}"}) {
    const Json json = ParseYaml(text).value();
    auto operation = ReadPatchOperation(json);
    ASSERT_TRUE(operation.ok()) << text << ": " << operation.error().message;
    EXPECT_EQ(operation->op, json["op"].get<std::string>());
    EXPECT_EQ(operation->path, json["path"].get<std::string>());
    const bool has_from = operation->op == "move" || operation->op == "copy";
    EXPECT_EQ(operation->from, has_from ? json["from"].get<std::string>() : "");
    const bool has_value = operation->op == "add" || operation->op == "replace" || operation->op == "test";
    EXPECT_EQ(operation->value, has_value ? &json["value"] : nullptr);
  }
}

// F1: what the spec alone tells is told before anything is fetched: a path that is none, a value that isn't there, and
// an operation that no object can carry out were found by the render.
TEST(ReadPatchOperation, SaysWhatIsWrong_F1) {
  const std::string pointer = " must be a JSON pointer: begin with /, and have ~0 for ~ and ~1 for / in a name";
  const std::string no_op = " is not add, remove, replace, move, copy or test", x(21, 'x');
  const std::pair<std::string, std::string> cases[] = {
      {"1", "must be an object with op and path"},
      {"[]", "must be an object with op and path"},
      {"{path: /a}", "op is missing"},
      {"{op: 1, path: /a}", "op must be text"},
      {"{op: '', path: /a}", "op \"\"" + no_op},
      {"{op: nope, path: /a}", "op \"nope\"" + no_op},
      {"{op: " + x + ", path: /a}", "op \"" + x.substr(1) + "...\"" + no_op},
      {"{op: remove}", "path is missing"},
      {"{op: remove, path: 1}", "path must be text"},
      {"{op: remove, path: a}", "path" + pointer},
      {"{op: remove, path: /a~}", "path" + pointer},
      {"{op: remove, path: /a~2/b}", "path" + pointer},
      {"{op: remove, path: /" + std::string(16'384, 'a') + "}", "path: it has more than 16384 bytes"},
      {"{op: add, value: 1, path: '" + std::string(1'001, '/') + "'}", "path: it has more than 1000 steps"},
      {"{op: copy, path: /a, from: '" + std::string(1'001, '/') + "'}", "from: it has more than 1000 steps"},
      {"{op: move, path: /a}", "from is missing"},
      {"{op: copy, path: /a, from: [b]}", "from must be text"},
      {"{op: copy, path: /a, from: b}", "from" + pointer},
      {"{op: move, path: /a, from: /" + std::string(16'384, 'a') + "}", "from: it has more than 16384 bytes"},
      {"{op: add, path: /a}", "value is missing"},
      {"{op: replace, path: /a}", "value is missing"},
      {"{op: test, path: /a}", "value is missing"},
      // Of a whole object.
      {"{op: add, path: '', value: 1}", "path must not be empty: add can't be of a whole object"},
      {"{op: remove, path: ''}", "path must not be empty: remove can't be of a whole object"},
      {"{op: copy, path: '', from: /a}", "path must not be empty: copy can't be of a whole object"},
      {"{op: move, path: '', from: /a}", "path must not be empty: move can't be of a whole object"},
      {"{op: move, path: /a, from: ''}", "from must not be empty: a whole object can't move"},
      {"{op: move, path: /b/c, from: /b}", "path must not lead into from: a value can't move into itself"},
  };
  for (const auto& [text, message] : cases) {
    const Json json = ParseYaml(text).value();
    auto operation = ReadPatchOperation(json);
    ASSERT_FALSE(operation.ok()) << text;
    EXPECT_EQ(operation.code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(operation.error().message, message) << text;
  }
}

}  // namespace
}  // namespace capi::api
