// Variables found again in what was made with them (behaviour.md A2).
#include "templating/recover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "api/testing/release_folder.h"
#include "base/encoding.h"
#include "base/yaml/yaml.h"
#include "templating/marked_text.h"
#include "templating/testing/release_text.h"

namespace capi::templating {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const MarkedText::Values kNames = {{"capivar0000x", "A"}, {"capivar0001x", "B"}};

TEST(MarkedText, ReadsWhatStandsBetweenWords) {
  struct Case {
    std::string text, live;
    MarkedText::Reading::Kind kind;
    MarkedText::Values values;
  };
  const Case cases[] = {
      {"capivar0000x", "some text", MarkedText::Reading::kRead, {{"A", "some text"}}},
      {"capivar0000x", "", MarkedText::Reading::kRead, {{"A", ""}}},
      {"--x=capivar0000x", "--x=:8443", MarkedText::Reading::kRead, {{"A", ":8443"}}},
      {"--x=capivar0000x", "--y=:8443", MarkedText::Reading::kMismatch, {}},
      {"P=capivar0000x,Q=capivar0001x", "P=true,Q=false", MarkedText::Reading::kRead, {{"A", "true"}, {"B", "false"}}},
      {"capivar0000x,capivar0001x", "1,2,3", MarkedText::Reading::kAmbiguous, {}},
      {"capivar0000xcapivar0001x", "12", MarkedText::Reading::kAmbiguous, {}},
      {"capivar0000x:capivar0000x", "x:x", MarkedText::Reading::kRead, {{"A", "x"}}},
      {"capivar0000x:capivar0000x", "x:y", MarkedText::Reading::kMismatch, {}},
      {"no marks, capivar alone", "no marks, capivar alone", MarkedText::Reading::kRead, {}},
      {"(capivar0000x)", "(", MarkedText::Reading::kMismatch, {}},
  };
  for (const Case& c : cases) {
    auto reading = MarkedText::Parse(c.text, kNames).Read(c.live, {});
    EXPECT_EQ(reading.kind, c.kind) << c.text;
    EXPECT_EQ(reading.values, c.values) << c.text;
  }
  EXPECT_EQ(MarkedText::Parse("capivar0000x,capivar0001x", kNames).Read("1,2,3", {{"A", "1"}}).values,
            (MarkedText::Values{{"B", "2,3"}}))
      << "what is known from elsewhere settles it";
}

// As the server keeps an object: no nulls, and a Secret's texts in base64.
void DropNulls(Json& value) {
  if (value.is_object()) {
    for (auto it = value.begin(); it != value.end();) it = it->is_null() ? value.erase(it) : std::next(it);
  }
  if (value.is_structured()) {
    for (Json& item : value) DropNulls(item);
  }
}

kube::Object AsStored(kube::Object object) {
  DropNulls(object.json());
  if (Json* texts = Find(object.json(), {"stringData"})) {
    for (const auto& [key, value] : texts->items()) {
      Ensure(object.json(), {"data", key}) = Base64Encode(value.get<std::string>());
    }
    object.json().erase("stringData");
  }
  return object;
}

using Live = std::map<kube::ObjectId, kube::Object>;

Live Installed(RenderInput input, const std::map<std::string, std::string>& values) {
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  auto result = Render(input);
  Live live;
  if (result.error) {
    ADD_FAILURE() << result.error->error.message;
    return live;
  }
  for (auto& object : result.output->objects) {
    kube::ObjectId id = object.id();
    live[id] = AsStored(std::move(object));
  }
  return live;
}

constexpr std::string_view kComponents = R"(
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: x}
stringData: {user: "name: '${USER}'", url: "${HOST}:${PORT:=443}"}
data: {token: "${TOKEN_B64}", id: ${ID_B64:=""}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: x}
data: {fast: ${FAST:='false'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: x}
spec:
  replicas: ${REPLICAS:=1}
  template:
    spec:
      containers:
      - {name: proxy, image: "r.example/proxy:v1", args: ["--port=${PORT:=443}"]}
      - name: manager
        image: "r.example/manager:v1"
        args: ["--gates=One=${EXP_ONE:=false},Two=${EXP_TWO:=true}", "--role=${ROLE,,}"]
)";

class Recover : public ::testing::Test {
 protected:
  Recover() {
    release_.components = kComponents;
    input_.type = api::ProviderType::kInfrastructure;
    input_.name = "x";
    input_.target_namespace = "x";
    input_.release = &release_;
  }
  RecoveredVariables Run(const Live& live, const std::map<std::string, std::string>& environment = {}) {
    auto marked = MarkVariables(input_);
    if (!marked.ok()) {
      ADD_FAILURE() << marked.error().message;
      return {};
    }
    return RecoverVariables(*marked, live, [&](const std::string& name) -> std::optional<std::string> {
      auto it = environment.find(name);
      return it == environment.end() ? std::nullopt : std::optional(it->second);
    });
  }

  api::Release release_;
  RenderInput input_;
  const std::map<std::string, std::string> values_ = {{"USER", "Zoë"},     {"HOST", "h:1"},   {"TOKEN_B64", "c2VjcmV0"},
                                                      {"PORT", "8443"},    {"REPLICAS", "3"}, {"EXP_ONE", "true"},
                                                      {"EXP_TWO", "true"}, {"ROLE", "Admin"}, {"FAST", "\"true\""}};
};

// Only what the defaults don't give: EXP_TWO and ID_B64 have theirs.
TEST_F(Recover, FindsWhatWasSet) {
  auto found = Run(Installed(input_, values_));
  EXPECT_THAT(found.values, ElementsAre(Pair("EXP_ONE", "true"), Pair("FAST", "'true'"), Pair("HOST", "h:1"),
                                        Pair("PORT", "8443"), Pair("REPLICAS", "3"), Pair("ROLE", "admin"),
                                        Pair("TOKEN_B64", "c2VjcmV0"), Pair("USER", "Zoë")));
  EXPECT_THAT(found.given, ElementsAre(Pair("EXP_TWO", "true"), Pair("ID_B64", ::testing::_)));
  EXPECT_THAT(found.unclear, IsEmpty());
  EXPECT_THAT(found.lost, IsEmpty());
}

// I7: what the operator's environment gives is known; where it says something else, the live value counts.
TEST_F(Recover, ComparesWithTheEnvironment) {
  auto found = Run(Installed(input_, values_), {{"EXP_ONE", "true"}, {"EXP_TWO", "false"}});
  EXPECT_FALSE(found.values.contains("EXP_ONE"));
  EXPECT_EQ(found.values["EXP_TWO"], "true");
}

TEST_F(Recover, NamesWhatItCannotTell) {
  Live live = Installed(input_, values_);
  auto secret = live.begin();
  while (secret != live.end() && secret->first.kind != "Secret") ++secret;
  ASSERT_NE(secret, live.end());
  kube::Object edited = secret->second;
  edited.json()["data"]["url"] = Base64Encode("h:1:9999");
  live[secret->first] = edited;
  auto found = Run(live);
  ASSERT_EQ(found.unclear.size(), 2u);
  EXPECT_THAT(found.unclear[0], HasSubstr("HOST (Secret/x/s stringData.url)"));
  EXPECT_THAT(found.unclear[1], HasSubstr("PORT ("));
  live.erase(secret);
  found = Run(live);
  EXPECT_THAT(found.lost, ElementsAre("HOST", "TOKEN_B64", "USER"));
}

// A2: where somebody made something else of a field, nothing says what a variable was.
TEST_F(Recover, WhatIsOfAnotherTypeTellsNothing) {
  for (const Json& other : {Json("text"), Json::array({"x"}), Json::object({{"a", "b"}})}) {
    Live live = Installed(input_, values_);
    for (auto& [id, object] : live) {
      if (id.kind == "Secret") object.json().erase("data");
      if (id.kind == "ConfigMap") object.json()["data"] = other.is_object() ? Json(1) : other;
      if (id.kind == "Deployment") {
        object.json()["spec"]["template"]["spec"]["containers"] = other.is_array() ? Json(1) : other;
      }
    }
    auto found = Run(live);
    EXPECT_THAT(found.values, ElementsAre(Pair("REPLICAS", "3"))) << other;
    EXPECT_THAT(found.lost, ElementsAre("HOST", "ROLE", "TOKEN_B64", "USER")) << other;
  }
}

// W25: somebody's own kind is called Secret too: its texts are what they are.
TEST_F(Recover, OnlyKubernetesSecretsAreDecoded) {
  release_.components =
      "{apiVersion: x.io/v1, kind: Secret, metadata: {name: s}, data: {a: aGk=}, stringData: {p: \"${P}\"}}\n";
  input_.variables = [](const std::string&) { return "value"; };
  auto result = Render(input_);
  ASSERT_TRUE(result.output.has_value());
  const kube::Object& secret = result.output->objects[0];
  EXPECT_THAT(Run({{secret.id(), secret}}).values, ElementsAre(Pair("P", "value")));
}

TEST_F(Recover, ArgumentsInAnotherOrderAreFound) {
  Live live = Installed(input_, values_);
  for (auto& [id, object] : live) {
    if (id.kind != "Deployment") continue;
    Json& args = object.json()["spec"]["template"]["spec"]["containers"][1]["args"];
    std::swap(args[0], args[1]);
    args.insert(args.begin(), "--more");
  }
  EXPECT_EQ(Run(live).values["EXP_ONE"], "true");
}

// A2: of each case, the data of a ConfigMap in the release, and what it is in the cluster.
TEST_F(Recover, AValueIsOnlyWhatNothingElseCanBe) {
  using Texts = std::vector<std::string>;
  struct Case {
    std::string_view release, live;
    std::map<std::string, std::string> values;
    Texts unclear, lost;
  };
  const std::string in = " (ConfigMap/x/c data.a) can be read in more than one way";
  const Case cases[] = {
      {"a: ['${A}', b]", "a: [v, b]", {{"A", "v"}}, {}, {}},  // also b fits, but stands elsewhere
      {"a: ['-a=${A}']", "a: [x, '-a=1']", {{"A", "1"}}, {}, {}},
      {"a: ['-a=${A}']", "a: [x, '-a=1', '-a=2']", {}, {}, {"A"}},
      {"a: [x, '-a=${A}']", "a: ['-a=1']", {{"A", "1"}}, {}, {}},
      {"a: [x, '-a=${A}']", "a: [x]", {}, {}, {"A"}},
      {"a: '${A},${B}'", "a: '1,2,3'", {}, {"A" + in, "B" + in}, {}},
      {"a: '${A},${B}', b: '${A}'", "a: '1,2,3', b: '1'", {{"A", "1"}, {"B", "2,3"}}, {}, {}},
      {"a: '${A:=xyzx}'", "a: yz", {{"A", "yz"}}, {}, {}},  // it only looks like yz in quotes
      {"a: '${A:=x}'", "a: ''", {{"A", ""}}, {}, {}},
      {"a: capivar0000x, b: '${A}'", "a: capivar0000x, b: v", {{"A", "v"}}, {}, {}},  // no mark of ours
  };
  const std::string begin = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}, data: {";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.release);
    release_.components = begin + std::string(c.release) + "}}\n";
    kube::Object live(ParseYaml(begin + std::string(c.live) + "}}").value());
    auto found = Run({{live.id(), live}});
    EXPECT_EQ(found.values, c.values);
    EXPECT_EQ(found.unclear, c.unclear);
    EXPECT_EQ(found.lost, c.lost);
  }
}

// L18: what is to be masked, however little is clear.
TEST_F(Recover, SeesWhatStandsInTheirPlaces) {
  struct Case {
    std::string_view release, live;
    std::set<std::string> seen;
  };
  const Case cases[] = {
      {"a: '${A}', b: '-b=${A}'", "a: new, b: -b=old", {"new", "old"}},  // half of a rotation
      {"a: '${A},${B}'", "a: '1,2,3'", {"1,2,3"}},
      {"a: '${A},${B}', b: '${A}'", "a: '1,2,3', b: '1'", {"1", "2,3"}},
      {"a: [x, '-a=${A}']", "a: ['-a=1']", {"1"}},
      {"a: '${A:=x}', b: \"${B:='1'}\", c: '${C:=z}'", "a: x, b: '1', c: w", {"w"}},
  };
  const std::string begin = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}, data: {";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.release);
    release_.components = begin + std::string(c.release) + "}}\n";
    kube::Object live(ParseYaml(begin + std::string(c.live) + "}}").value());
    EXPECT_EQ(Run({{live.id(), live}}).seen, c.seen);
  }
}

// A value of the kind that the default is of, in quotes where that is.
std::string SomeValue(const std::string& name, const std::optional<std::string>& fallback, std::mt19937& random) {
  std::string was = fallback.value_or("");
  std::string quote = was.size() >= 2 && (was.front() == '"' || was.front() == '\'') ? was.substr(0, 1) : "";
  if (!quote.empty()) was = was.substr(1, was.size() - 2);
  if (was == "true" || was == "false") return quote + (random() % 2 == 0 ? "true" : "false") + quote;
  if (!was.empty() && was.find_first_not_of("0123456789") == was.npos) {
    return quote + std::to_string(random() % 9000 + 1) + quote;
  }
  if (name.ends_with("_IAM_ROLE")) return fmt::format("arn:aws:iam::{}:role/own", random());
  if (name.find("B64") != name.npos || name.find("BASE64") != name.npos) {
    return Base64Encode(fmt::format("secret {}", random()));
  }
  return fmt::format("v{}.x-{}", random(), random() % 100);
}

// How many values of the release were found again.
size_t RecoverOneRelease(RenderInput& input, std::mt19937& random) {
  auto marked = MarkVariables(input);
  if (!marked.ok()) {
    ADD_FAILURE() << marked.error().message;
    return 0;
  }
  std::map<std::string, std::string> values;
  for (const auto& [name, fallback] : marked->defaults) {
    if (!fallback || random() % 2 == 0) values[name] = SomeValue(name, fallback, random);
  }
  Live live = Installed(input, values);
  auto found = RecoverVariables(*marked, live, nullptr);
  EXPECT_THAT(found.unclear, IsEmpty());
  EXPECT_THAT(found.lost, IsEmpty());
  Live again = Installed(input, found.values);
  for (const auto& [id, object] : live) EXPECT_EQ(again[id].json(), object.json()) << id.ToString();
  return found.values.size();
}

// A2: every release, installed with values of all kinds: what is recovered renders the same objects.
TEST(RecoverReleases, RendersTheSameFromWhatItFound) {
  CAPI_NEED_RELEASES();
  std::mt19937 random(20261121);
  size_t recovered = 0;
  for (const api::ReleaseFolder& folder : api::AllReleases()) {
    for (const std::string& file : folder.ComponentsFiles()) {
      SCOPED_TRACE(folder.Id() + "/" + file);
      api::Release release;
      release.components = folder.Text(file);
      if (!ReadReleaseText(release.components).CanBeInOneNamespace()) continue;  // none can install it
      api::ProviderSpec spec;
      RenderInput input;
      input.type = folder.type;
      input.name = folder.name;
      input.release = &release;
      input.spec = &spec;
      input.target_namespace = "target-ns";
      recovered += RecoverOneRelease(input, random);
    }
  }
  EXPECT_GT(recovered, 0u) << "no release in " << ReleasesDir() << " has a variable";
}

}  // namespace
}  // namespace capi::templating
