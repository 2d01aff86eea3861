#include "templating/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <span>

namespace capi::templating {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Values = std::map<std::string, std::string>;

Result<ParsedObjects> Parse(std::string_view components, std::string_view additional = "", const Values& values = {},
                            bool check_types = true) {
  Source source(components, additional);
  Substituted substituted;
  Variables lookup = [&](const std::string& name) -> std::optional<std::string> {
    auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
  if (auto error = Substitute(source, lookup, true, substituted)) return error->error;
  return ParseObjects(source, substituted, {}, check_types);
}

constexpr std::string_view kConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n";

TEST(ParseObjects, KeepsTheOrderOfTheText) {
  auto objects =
      Parse("---\n# licence\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n" + std::string(kConfigMap));
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  ASSERT_EQ(objects->objects.size(), 2u);
  EXPECT_EQ(objects->objects[0].kind(), "Secret");
  EXPECT_EQ(objects->objects[1].kind(), "ConfigMap");
}

std::vector<std::string> NamesAndPlaces(const ParsedObjects& parsed, const std::string& components,
                                        const std::string& additional = "") {
  Source source(components, additional);
  std::vector<std::string> out;
  for (size_t i = 0; i < parsed.objects.size(); ++i) {
    out.push_back(parsed.objects[i].name() + ": " + parsed.places[i].In(source));
  }
  return out;
}

// F2: a List is what is in it, wherever it stands and whatever its kind is called.
TEST(ParseObjects, ListsAreTheirItems) {
  const std::string components =
      "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n"
      "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
      "- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}\n"
      "---\n# a comment\n{apiVersion: v1, kind: List}\n---\n"
      "{apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]}\n---\n"
      "{apiVersion: x.io/v1, kind: AllowList, metadata: {name: d}, items: [x]}\n";
  const std::string additional = "\n{apiVersion: v1, kind: Secret, metadata: {name: e}}\n";
  auto parsed = Parse(components, additional);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_THAT(NamesAndPlaces(*parsed, components, additional),
              ElementsAre("a: line 1, item 1", "b: line 1, item 2.1", "c: line 11, item 1", "d: line 13",
                          "e: line 2 of the additional manifests"));
}

// Places are those of the file as fetched, whatever variables put before them.
TEST(ParseObjects, PlacesCountTheLinesOfTheFile) {
  const std::string components =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: ${DATA}\n---\n" + std::string(kConfigMap);
  auto parsed = Parse(components, "", {{"DATA", "\n  a: text\n  b: text"}});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_THAT(NamesAndPlaces(*parsed, components), ElementsAre("a: line 1", "c: line 6"));
}

// F2
TEST(ParseObjects, BadInputHasAClearErrorAndAPlace) {
  const std::string map(kConfigMap);
  struct Case {
    std::string components, additional;
    Values values;
    std::string_view message;
  };
  const Case cases[] = {
      {"", "", {}, "there is no object in it"},
      {"---\n# nothing\n---\n", "", {}, "there is no object in it"},
      {"just text\n", "", {}, "the document on line 1 is no map"},
      {map + "---\nmetadata: {name: x}\n", "", {}, "the document on line 6 has no kind"},
      {map + "---\nkind: Secret\nmetadata: {name: x}\n", "", {}, "the document on line 6 has no apiVersion"},
      {map + "---\napiVersion: v1\nkind: Secret\n", "", {}, "the document on line 6 has no name"},
      {"a: b: c\n", "", {}, "line 1, column 5: mapping values are not allowed in this context"},
      {"\xC3\xA9: b: c\n", "", {}, "line 1, column 5: mapping values"},
      // A value with newlines shifts what comes after it; the place doesn't move.
      {"x: ${A}\ny: ok\nz: b: c\n", "", {{"A", "\n  p: 1\n  q: 2"}}, "line 3, column 5: mapping values"},
      {map, "a: 1\nb: c: d\n", {}, "line 2, column 5 of the additional manifests: mapping values"},
      {map, "kind: x\n", {}, "the document on line 1 of the additional manifests has no apiVersion"},
      {map, "kind: List\nitems: 1\n", {}, "line 1 of the additional manifests is a List whose items are no list"},
      {"kind: List\nitems: [{kind: x}]\n", "", {}, "item 1 of the List on line 1 has no apiVersion"},
      {"kind: List\nitems: []\n", "", {}, "there is no object in it"},
      {"apiVersion: x.io/v1\nkind: AllowList\n", "", {}, "the document on line 1 has no name"},
      {"apiVersion: x.io/v1\nkind: Allowed\nitems: [x]\n", "", {}, "the document on line 1 has no name"},
      {map + "---\nkind: ${K}\nmetadata: {name: x}\n",
       "",
       {{"K", ""}},
       "the document on line 6 has no kind once the value of K is filled in"},
      {"apiVersion: ${A}\nkind: ${K}\nmetadata: {name: x}\n",
       "",
       {{"A", "v1"}, {"K", ""}},
       "the document on line 1 has no kind once the value of K is filled in"},
      {"apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${N}\n",
       "",
       {{"N", "007"}},
       "the document on line 1 has no name once the value of N is filled in"},
      {map + "---\nkind: ${K}\nmetadata: {name: x}\n",
       "",
       {{"K", "[a]"}},
       "the document on line 6 has no kind once the value of K is filled in"},
      {"- ${N}\n", "", {{"N", "x"}}, "the document on line 1 is no map"},
      {"apiVersion: v1\nkind: Secret\nmetadata: [name, \"${N}\"]\n",
       "",
       {{"N", "x"}},
       "the document on line 1 has metadata that is no map"},
  };
  for (const auto& c : cases) {
    auto objects = Parse(c.components, c.additional, c.values);
    ASSERT_FALSE(objects.ok()) << c.message;
    EXPECT_EQ(objects.error().code, Code::kInvalidArgument);
    EXPECT_THAT(objects.error().message, HasSubstr(c.message));
    EXPECT_EQ(objects.error().message.ends_with("is filled in"), c.message.ends_with("is filled in")) << c.message;
  }
}

struct TypeCase {
  std::string components;
  Values values;
  std::string_view message;  // "" where it is fine
};

void ExpectTypes(std::span<const TypeCase> cases) {
  for (const TypeCase& c : cases) {
    auto parsed = Parse(c.components, "", c.values);
    EXPECT_EQ(parsed.ok(), c.message.empty()) << (parsed.ok() ? c.message : parsed.error().message);
    if (!parsed.ok()) EXPECT_THAT(parsed.error().message, HasSubstr(c.message));
  }
}

const std::string& Deployment() {
  static const std::string kText =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  labels: {a: ${LABEL:=b}}\nspec:\n"
      "  replicas: ${REPLICAS:=1}\n  template:\n    spec:\n      containers:\n      - name: manager\n"
      "        args: [--x, \"--y=${Y:=1}\", ${ARG:=--z}]\n        env:\n        - name: A\n          value: "
      "${VALUE:=v}\n";
  return kText;
}

// F2: what a value makes of a field is refused with the variable's name, as the real command refuses it.
TEST(ParseObjects, AValueThatChangesAFieldsTypeIsRefused) {
  const std::string& deployment = Deployment();
  const TypeCase cases[] = {
      {deployment, {}, ""},
      {deployment, {{"VALUE", "text"}, {"Y", "true"}, {"REPLICAS", "3"}}, ""},
      {deployment, {{"VALUE", "'true'"}, {"ARG", "'5'"}}, ""},
      {deployment, {{"VALUE", "~"}}, ""},  // Go reads null as unset
      {deployment, {{"VALUE", "true"}}, "value of VALUE makes spec.template.spec.containers[0].env[0].value a boolean"},
      {deployment,
       {{"VALUE", "5"}},
       "makes spec.template.spec.containers[0].env[0].value a number, and it has to be a "
       "text: give the value in quotes of its own"},
      {deployment, {{"VALUE", "{a: b}"}}, "makes spec.template.spec.containers[0].env[0].value a map"},
      {deployment, {{"VALUE", "\n            a: b"}}, "makes spec.template.spec.containers[0].env[0].value a map"},
      {deployment, {{"VALUE", "a: b"}}, "no valid YAML once the value of VALUE is filled in"},
      {deployment, {{"ARG", "true"}}, "value of ARG makes spec.template.spec.containers[0].args[2] a boolean"},
      {deployment, {{"LABEL", "1.5"}}, "value of LABEL makes metadata.labels.a a number"},
      {"# a\xe2\x80\xa8# b\n" + deployment, {{"LABEL", "1.5"}}, "value of LABEL makes metadata.labels.a a number"},
      {deployment, {{"REPLICAS", "many"}}, "value of REPLICAS makes spec.replicas a text, and it has to be a number"},
      {"kind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n  stringData: {p: ${P}}\n",
       {{"P", "12"}},
       "item 1 of the List on line 1: the value of P makes stringData.p a number"},
      {"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: ${P}\n",
       {{"P", "12"}},
       "the value of P makes stringData a number, and it has to be a map"},
      {"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: ${P}}}\n",
       {{"P", "5"}},
       "the value of P makes spec.type a number"},
  };
  ExpectTypes(cases);
  EXPECT_TRUE(Parse(deployment, "", {{"VALUE", "5"}}, false).ok());
}

// F2
TEST(ParseObjects, OnlyWhatAVariableMadeIsItsFault) {
  const std::string& deployment = Deployment();
  const TypeCase cases[] = {
      {"{apiVersion: v1, kind: Service, metadata: {name: s, labels: {port: 8080, host: ${HOST:=h}}}}\n", {}, ""},
      {"{apiVersion: v1, kind: Service, metadata: {name: ${N:=s}, labels: {port: 8080, \"${N:=s}\": \"${N:=s}\"}}}\n",
       {},
       ""},
      {"{apiVersion: v1, kind: Service, metadata: {name: s, labels: {port: ${PORT}, host: ${HOST:=h}}}}\n",
       {{"PORT", "8080"}},
       "the value of PORT makes metadata.labels.port a number"},
      {"x: &l ${PORT}\napiVersion: v1\nkind: Service\nmetadata: {name: s, labels: {a: *l}}\n",
       {{"PORT", "8080"}},
       "the value of PORT makes metadata.labels.a a number"},
      {"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: ${P}${Q}${P}}}\n",
       {{"P", "5"}, {"Q", "6"}},
       "the value of P, Q makes spec.type a number"},
      // A map or a list is the fault of what made it one, whatever is in it.
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  config:\n    host: ${HOST:=h}\n    port: 1\n",
       {},
       ""},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: {host: ${HOST:=h}}, b: [\"${HOST:=h}\"]}}\n",
       {},
       ""},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a:\n  - ${HOST:=h}\n  b:\n    ${HOST:=h}: x\n",
       {},
       ""},
      {deployment, {{"ARG", "--z: a"}}, "value of ARG makes spec.template.spec.containers[0].args[2] a map"},
      {deployment, {{"ARG", "[--z]"}}, "value of ARG makes spec.template.spec.containers[0].args[2] a list"},
      {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels:\n    a: &x ${P}\n",
       {{"P", "{b: c}"}},
       "value of P makes metadata.labels.a a map"},
      {"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers:\n"
       "      - name: m\n        args:\n        - --host=${HOST}\n",
       {{"HOST", "h: 1"}},
       "value of HOST makes spec.template.spec.containers[0].args[0] a map"},
      // Keys are shown as they are, however much they look like an item's place.
      {"apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: {8080: ${P}}}\n",
       {{"P", "1"}},
       "makes metadata.labels.8080 a number"},
      {"apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: {'': ${P}}}\n",
       {{"P", "1"}},
       "makes metadata.labels.\"\" a number"},
      // However much the release itself has wrong in an object before it.
      {"kind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: 0, b: 1, c: 2, d: 3, "
       "e: 4, f: 5, g: 6, h: 7, i: 8, j: 9, k: 10, l: 11, m: 12, n: 13, o: 14, p: 15, q: 16, r: 17, s: 18, t: 19, u: "
       "20}}\n"
       "- {apiVersion: v1, kind: Secret, metadata: {name: t}, stringData: {a: ${P}}}\n",
       {{"P", "5"}},
       "item 2 of the List on line 1: the value of P makes stringData.a a number"},
      // Custom resources, and what the release itself has wrong, are the API server's to judge.
      {"apiVersion: x.io/v1\nkind: Deployment\nmetadata: {name: s}\nspec: {replicas: ${P}}\n", {{"P", "x"}}, ""},
      {"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: ${P}\nstringData:\n  a: 5\n", {{"P", "x"}}, ""},
  };
  ExpectTypes(cases);
}

// I7: what a value does to the YAML is said without the value.
TEST(ParseObjects, ValuesStayOutOfErrors) {
  auto typed = Parse("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: ${PASSWORD}}\n", "",
                     {{"PASSWORD", "471147"}});
  ASSERT_FALSE(typed.ok());
  EXPECT_THAT(typed.error().message, AllOf(HasSubstr("PASSWORD"), Not(HasSubstr("4711"))));
  auto key = Parse("apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: {${KEY}: ${PASSWORD}}}\n", "",
                   {{"KEY", "hunter2"}, {"PASSWORD", "4711"}});
  ASSERT_FALSE(key.ok());
  EXPECT_THAT(key.error().message, HasSubstr("the value of PASSWORD makes metadata.labels.* a number"));
  auto keys = Parse("apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: ${LABELS}}\n", "",
                    {{"LABELS", "{hunter2: 4711}"}});
  ASSERT_FALSE(keys.ok());
  EXPECT_THAT(keys.error().message, HasSubstr("the value of LABELS makes metadata.labels.* a number"));
  // What the parser complains of may be on another line than the place that it names.
  for (const char* template_text : {"p: !!int\n  ${PASSWORD}\n", "p: !!int \"x\n  ${PASSWORD}\"\n",
                                    "p: !!timestamp\n\n  '${PASSWORD}'\n", "\rp: *${PASSWORD}\n"}) {
    auto objects = Parse(template_text, "", {{"PASSWORD", "hunter2"}});
    ASSERT_FALSE(objects.ok()) << template_text;
    EXPECT_THAT(objects.error().message, Not(HasSubstr("hunter2"))) << template_text;
  }
  for (const char* secret :
       {"*hunter2", "hunter2: hunter2", "\"hunter2", "!!int hunter2", "[hunter2", "\n--- hunter2"}) {
    auto objects = Parse("a: 1\npassword: ${PASSWORD} # ${USER:=x}\n", "", {{"PASSWORD", secret}});
    ASSERT_FALSE(objects.ok()) << secret;
    EXPECT_THAT(objects.error().message, HasSubstr("line 2")) << secret;
    EXPECT_THAT(objects.error().message, HasSubstr("PASSWORD")) << secret;
    EXPECT_THAT(objects.error().message, Not(HasSubstr("hunter2"))) << secret;
  }
}

}  // namespace
}  // namespace capi::templating
