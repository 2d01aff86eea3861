// Inputs that want too much time or memory. Each is answered within a second, or as much as a yardstick on this machine
// needs, and in so little memory that it fits into 64 MiB beside the operator (F2).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/encoding.h"
#include "base/json.h"
#include "base/testing/cost.h"
#include "templating/render.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;

constexpr double kMostSeconds = 1;
constexpr double kMostBytes = 52 << 20;

std::string Repeat(std::string_view piece, size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

// On a machine that is several times slower than others, work that is linear in its input took more than a second, too.
double MostSeconds() {
  static const double yardstick = Measure([] {
                                    auto read = ParseJson("[" + Repeat("{\"a\":1},", 1'000'000) + "1]");
                                    return read.ok() ? "ok" : read.error().message;
                                  }).seconds;
  return std::max(kMostSeconds, yardstick);
}

void ExpectCheap(const Cost& cost) {
  if (!kMeasuresCost) return;
  EXPECT_LT(cost.seconds, MostSeconds());
  EXPECT_LT(cost.bytes, kMostBytes);
}

struct Bomb {
  std::string_view name;
  std::string components, additional, patch;
  std::string_view answer;  // "ok", or a part of the error
  size_t patches = 1;       // how often the spec has it
  std::string_view kind;    // that the patch is for; "" for all
};

constexpr std::string_view kMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c";

std::string Maps(size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += fmt::format("---\n{}{}}}}}\n", kMap, i);
  return out;
}

// Ten aliases of ten aliases of ...
std::string AliasBomb() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    std::string alias = fmt::format("*a{}", i - 1);
    text += fmt::format("a{}: &a{} [{}]\n", i, i, alias + Repeat(", " + alias, 9));
  }
  return text;
}

// LONG is a text of 1 MiB, EMPTY none, ALMOST the same with another last letter.
std::string RenderText(const Bomb& bomb) {
  const std::string value(1u << 20, 'x');
  api::Release release;
  release.components = bomb.components;
  api::ProviderSpec spec;
  if (!bomb.patch.empty())
    spec.patches.assign(bomb.patches, {bomb.patch, api::PatchTarget{.kind = std::string(bomb.kind)}});
  RenderInput input;
  input.name = "cluster-api";
  input.release = &release;
  input.spec = &spec;
  input.additional_manifests = bomb.additional;
  input.target_namespace = "here";
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "LONG") return value;
    if (name == "ALMOST") return value.substr(1) + "y";
    if (name == "WIDE") return Repeat("\xF0\x9F\x98\x80", 100'000);
    return "";
  };
  auto result = Render(input);
  return result.error ? result.error->error.message : "ok";
}

std::vector<Bomb> TemplateBombs() {
  const std::string with = std::string(kMap) + "}, data: {a: \"";
  auto map = [&](const std::string& value) { return with + value + "\"}}\n"; };
  return {
      {"1 MiB as the pattern of a replacement", map("${LONG//${ALMOST}/z}"), "", "", "ok"},
      {"half of it, searched again and again", map("${LONG/${ALMOST:524288}/z}"), "", "", "ok"},
      {"many replacements", map(Repeat("${EMPTY/${LONG/y/z}/z}", 1000)), "", "", "takes too long"},
      {"replacements that grow", map("${LONG//x/${LONG}}"), "", "", "the result is too large"},
      {"replacement of nothing", map("${LONG//${EMPTY}/${LONG}}"), "", "", "the result is too large"},
      {"1 MiB as a glob", map("${LONG##${ALMOST}}"), "", "", "takes too long"},
      {"a glob of stars", map("${LONG%%" + Repeat("*x", 1000) + "y}"), "", "", "takes too long"},
      {"a glob over wide characters", map("${WIDE##" + Repeat("*?", 5) + "y}"), "", "", "ok"},
      {"values that wait for each other", map(Repeat("${LONG#${LONG/", 50) + "x" + Repeat("/y}}", 50)), "", "",
       "the result is too large"},
      {"lengths", map(Repeat("${#LONG}", 10'000)), "", "", "takes too long"},
      {"a value often", map(Repeat("${LONG}", 100)), "", "", "the result is too large"},
      {"escapes", map(Repeat("$$", 2'000'000)), "", "", "too many variables and escapes"},
      {"variables", map(Repeat("${A}", 1'000'000)), "", "", "too many variables and escapes"},
      {"nesting", map(Repeat("${A:-", 1'000'000)), "", "", "too many variables and escapes"},
  };
}

std::vector<Bomb> TextBombs() {
  const std::string mib(1u << 20, '#');
  const std::string list = "{apiVersion: v1, kind: List, items: [";
  return {
      {"aliases", AliasBomb(), "", "", "excessive aliasing"},
      {"aliases of a long text", "a: &a '" + mib + "'\nb: [" + Repeat("*a, ", 100) + "]\n", "", "",
       "more than 33554432 bytes"},
      {"10,000 documents", Maps(10'000), "", "", "more than 5000 documents"},
      {"10,000 documents of additional manifests", Maps(1), Maps(10'000), "", "more than 5000 documents"},
      {"a List of 10,000", list + Repeat(std::string(kMap) + "}}, ", 10'000) + "]}\n", "", "",
       "is one of more than 5000 objects"},
      {"short items", "a: [" + Repeat("x,", 2'500'000) + "]\n", "", "", "more than 33554432 bytes"},
      {"short keys", "a: {" + Repeat("? a\n, ", 800'000) + "}\n", "", "", "more than 33554432 bytes"},
      {"brackets", Repeat("[", 5'000'000), "", "", "nested deeper than 500"},
      {"too much text", Maps(1) + Repeat(mib, 7), "", "", "more than 6291456 are not read"},
      {"too much text in both", Maps(1) + Repeat(mib, 3), Repeat(mib, 3), "", "with the additional manifests has"},
      {"as much text as there may be", Maps(1) + Repeat(mib, 5), "", "", "ok"},
      {"one long text of 5 MB", std::string(kMap) + "}, data: {a: '" + Repeat(mib, 5) + "'}}\n", "", "", "ok"},
      {"3,000 documents of one identity", Repeat("---\n" + std::string(kMap) + "}}\n", 3000), "", "",
       "two objects would be one"},
      {"a patch of all objects", Maps(4000), "", "{data: {a: '" + std::string(10'000, 'x') + "'}}",
       "the patches add more than 16777216 bytes"},
      {"copies in all objects", Maps(4000), "",
       "[{op: add, path: /a, value: '" + std::string(1000, 'x') + "'}" + Repeat(",{op: copy, from: /a, path: /b}", 30) +
           "]",
       "bytes"},
  };
}

std::vector<Bomb> PatchBombs() {
  const std::string env = "{apiVersion: v1, kind: X, metadata: {name: x}, env: [";
  std::string items, ids;
  for (int i = 0; i < 30'000; ++i) items += fmt::format("{{name: a{}}}, ", i);
  for (int i = 0; i < 10'000; ++i) ids += fmt::format("{{name: b{}, $patch: merge}}, ", i);
  const std::string move = "{op: move, from: /data, path: /b},{op: move, from: /b, path: /data}";
  const std::string wide = std::string(kMap) + "}, data: [";
  const std::string mib(1u << 20, 'x'), names = env + "{name: &a '" + mib + "'}" + Repeat(", {name: *a}", 29) + "]}\n";
  const std::string text = Repeat(mib, 3);  // the API server takes no larger object
  // Operations that each add a member with a name of 16 KB.
  auto names_of = [](int count, std::string_view piece) {
    std::string out = "[";
    for (int i = 0; i < count; ++i) {
      out += fmt::format("{{op: add, path: /{}{}, value: 1}},", Repeat(piece, 16'000 / piece.size()), i);
    }
    return out + "]";
  };
  const std::string nest = Repeat("{'': ", 480) + "x" + Repeat("}", 480);
  const std::string deep = Repeat("/", 1u << 20), full = wide + Repeat("{},", 410'000) + "]}\n";
  return {
      {"aliases in a patch", Maps(1), "", "{a: &a [x, x, x, x, x, x, x, x], b: [" + Repeat("*a, ", 20'000) + "]}",
       "more than 8388608 bytes of values"},
      {"a patch of short members for 8 objects", Maps(8), "", "{data: [" + Repeat("1,", 60'000) + "]}",
       "the patches add more than 16777216 bytes"},
      {"operations of short members for 8 objects", Maps(8), "",
       "[{op: add, path: /data, value: [" + Repeat("1,", 60'000) + "]}]", "the patches add more than 16777216 bytes"},
      {"patches that match nothing", Maps(4000), "", "{}", "the patches take too long", 10'000, "Nothing"},
      {"lists merged by key", env + items + "]}\n", "", "{env: [" + ids + "]}", "ok"},
      {"lists merged by key, often", env + items + "]}\n", "", "{env: [{name: b, $patch: merge}]}",
       "the patches take too long", 1000},
      {"lists merged by keys that are long", names, "", "{env: [{name: b, $patch: merge}]}", "ok"},
      {"a path of 1 MiB", full, "", "[{op: remove, path: '" + deep + "'}]", "path: it has more than 16384 bytes"},
      {"a path of one step of 3 MiB", full, "", "[{op: remove, path: /" + text + "}]",
       "path: it has more than 16384 bytes"},
      {"a way from 1 MiB", full, "", "[{op: move, path: /b, from: '" + deep + "'}]",
       "from: it has more than 16384 bytes"},
      {"long new names in 400 objects", Maps(400), "", names_of(10, "x"), "the patches add more than 16777216 bytes"},
      {"a deep path, often", Maps(20), "",
       "[{op: add, path: /, value: " + nest + "}, {op: add, path: '" + Repeat("/", 481) + "', value: " + nest +
           "}, &o {op: test, path: '" + Repeat("/", 961) + "', value: x}" + Repeat(", *o", 4'900) + "]",
       "the patches take too long"},
      {"a name of nothing but escapes, often", Maps(5), "", names_of(10, "~1"), "the patches take too long"},
      {"an operation of 3 MiB", full, "", "[{path: /, op: " + text + "}]",
       "is not add, remove, replace, move, copy or test"},
      {"moves of a large map", wide + Repeat("1,", 100'000) + "]}\n", "", "[" + move + Repeat("," + move, 500) + "]",
       "the patches take too long"},
      {"a move of 32 MiB", wide + Repeat("{},", 419'000) + "]}\n", "", "[{op: move, from: /data, path: /b}]", "ok"},
      {"a move of 32 MiB into a list", wide + Repeat("{},", 419'000) + "], b: [1]}\n", "",
       "[{op: move, from: /data, path: /b/0}]", "ok"},
      {"a copy of 16 MiB", wide + Repeat("{},", 209'000) + "]}\n", "", "[{op: copy, from: /data, path: /b}]", "ok"},
      {"a copy of more than there is room for", wide + Repeat("{},", 300'000) + "]}\n", "",
       "[{op: copy, from: /data, path: /b}]", "the patches add more than 95"},
      {"a test of a large object, often", wide + Repeat("1,", 300'000) + "]}\n", "",
       "[{op: test, path: /kind, value: ConfigMap}]", "ok", 2000},
  };
}

std::vector<Bomb> TypeBombs() {
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      containers:\n";
  std::string labels, variables;
  for (int i = 0; i < 20; ++i) labels += fmt::format("l{}: 1, ", i);
  for (int i = 0; i < 59'000; ++i) variables += fmt::format("${{V{}}}", i);
  return {
      {"400,000 numbers as args, and a variable",
       deployment + "      - name: n\n        image: \"a.b/c:d${N}\"\n        args: [" + Repeat("1,", 400'000) + "]\n",
       "", "", "ok"},
      {"a List of 5,000 with 20 labels of a wrong type each",
       "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: first}, data: {a: "
       "\"${N}\"}}" +
           Repeat(",\n" + std::string(kMap) + ", labels: {" + labels + "}}}", 4998) + "]}\n",
       "", "", "two objects would be one"},
      {"4,000 documents with 20 labels of a wrong type and a variable each",
       Repeat("---\n" + std::string(kMap) + ", labels: {" + labels + "}}, data: {a: \"${N}\"}}\n", 4000), "", "",
       "two objects would be one"},
      {"59,000 different variables", std::string(kMap) + "}, data: {a: \"" + variables + "\"}}\n", "", "", "ok"},
      {"59,000 different variables that are no YAML", "a: b: " + variables + "\n", "", "",
       "and 58990 more is filled in"},
  };
}

TEST(Bombs, EachIsAnsweredInASecondAndInLittleMemory) {
  std::vector<Bomb> all = TemplateBombs();
  for (auto* more : {TextBombs, PatchBombs, TypeBombs}) {
    for (Bomb& bomb : more()) all.push_back(std::move(bomb));
  }
  for (const Bomb& bomb : all) {
    SCOPED_TRACE(bomb.name);
    Cost cost = Measure([&] { return RenderText(bomb); });
    EXPECT_THAT(cost.answer, HasSubstr(std::string(bomb.answer)));
    ExpectCheap(cost);
  }
}

// 1,000 bytes of one.
TEST(Bombs, GzipUnpacksNoFurtherThanTheLimit) {
  const std::string packed = Gzip(std::string(100u << 20, '\0'));
  ASSERT_LT(packed.size(), (100u << 20) / 900);
  Cost cost = Measure([&] {
    auto text = Gunzip(packed, api::kMaxReleaseBytes);
    return text.ok() ? "ok" : text.error().message;
  });
  EXPECT_THAT(cost.answer, HasSubstr("unpacks to more than 6291456 bytes"));
  ExpectCheap(cost);
}

}  // namespace
}  // namespace capi::templating
