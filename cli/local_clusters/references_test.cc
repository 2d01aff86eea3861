#include "cli/local_clusters/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/yaml/yaml.h"

namespace capi::cli::local_clusters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kMark[] = "4711081542110815";

templating::Variables From(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string Texts(const std::vector<kube::Object>& objects) {
  std::string out;
  for (const kube::Object& one : objects) out += ToYaml(one.json());
  return out;
}

std::string WithoutValues(const std::string& text, const FilledIn& filled) { return Hider(filled).WithoutValues(text); }
std::string WithoutLines(const std::string& text, const FilledIn& filled) { return Hider(filled).WithoutLines(text); }
std::string WithoutCutValue(const std::string& text, const FilledIn& filled) {
  return Hider(filled).WithoutCutValue(text);
}
kube::Object WithoutCredentials(const kube::Object& live, const FilledIn& filled) {
  return Hider(filled).WithoutCredentials(live);
}

TEST(References, CredentialsByTheirNames) {
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN", "vsphere_password",
                           "AWS_B64ENCODED_CREDENTIALS", "SSH_PRIVATE_KEY", "X_API_KEY"})
    EXPECT_TRUE(NamesCredential(name)) << name;
  for (const char* name :
       {"AWS_REGION", "AZURE_CLUSTER_IDENTITY_SECRET_NAME", "SECRET_NAMESPACE", "CLUSTER_NAME", "SSH_KEY"})
    EXPECT_FALSE(NamesCredential(name)) << name;
}

// G10: by its name, and in a Secret whatever its name is; flow style, keys beside, and twice.
TEST(References, StandInThePlaceOfCredentials) {
  auto objects = RenderWithReferences(
      "{apiVersion: v1, kind: Secret, metadata: {name: '${CLUSTER_NAME}'}, stringData: {user: ${USER_X}, both: "
      "'${USER_X}:${P_TOKEN}'}}\n"
      "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {user: '${USER_X}', region: '${REGION}', "
      "script: 'echo $${HOME}', free: '${FREE_TOKEN:=none}'}}\n",
      From({{"USER_X", "hidden-user"}, {"REGION", "here"}, {"CLUSTER_NAME", "a"}}), {{}, {}, {"CLUSTER_NAME"}}, "ns",
      kMark);
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  const std::string text = Texts(*objects);
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
  EXPECT_THAT(text, Not(HasSubstr(kMark)));
  const Json &secret = (*objects)[0].json(), &map = (*objects)[1].json();
  EXPECT_EQ(GetString(secret, {"metadata", "name"}), "a");
  EXPECT_EQ(GetString(secret, {"stringData", "both"}), "${USER_X}:${P_TOKEN}");
  EXPECT_EQ(GetString(map, {"data", "user"}), "${USER_X}");
  EXPECT_EQ(GetString(map, {"data", "region"}), "here");
  EXPECT_EQ(GetString(map, {"data", "script"}), "echo ${HOME}");
  EXPECT_EQ(GetString(map, {"data", "free"}), "none");
  EXPECT_THAT(ReferencesOf((*objects)[0]), ElementsAre("P_TOKEN", "USER_X"));
  EXPECT_THAT(ReferencesOf((*objects)[1]), ElementsAre("USER_X"));
}

// G10: a List is taken apart later.
TEST(References, StandInSecretsOfLists) {
  auto objects = RenderWithReferences(
      "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {user: "
      "'${USER_X}'}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]}",
      From({{"USER_X", "hidden-user"}}), {}, "ns", kMark);
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  EXPECT_THAT(Texts(*objects), Not(HasSubstr("hidden")));
  EXPECT_THAT(Texts(*objects), HasSubstr("user: ${USER_X}"));
}

// Whether a Secret would have it can't be told: it is refused, and said how to go on.
TEST(References, ValuesThatAreYamlAreNoCredentials) {
  const char* text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: b\n${EXTRA_YAML}\n";
  const auto values = From({{"EXTRA_YAML", "  c: d"}});
  auto refused = RenderWithReferences(text, values, {}, "ns", kMark);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("--no-credential"));
  auto objects = RenderWithReferences(text, values, {{}, {"EXTRA_YAML"}, {}}, "ns", kMark);
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  EXPECT_EQ(GetString((*objects)[0].json(), {"data", "c"}), "d");
}

TEST(References, RulesTakePrecedence) {
  const char* text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '${A_TOKEN}', b: '${B}'}}";
  auto objects =
      RenderWithReferences(text, From({{"A_TOKEN", "aa"}, {"B", "bb"}}), {{"B"}, {"A_TOKEN"}, {}}, "ns", kMark);
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  EXPECT_EQ(GetString((*objects)[0].json(), {"data", "a"}), "aa");
  EXPECT_EQ(GetString((*objects)[0].json(), {"data", "b"}), "${B}");
}

TEST(References, WhatAFileCannotSayIsRefused) {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '${A_TOKEN:0:2}'}}",
       "takes a credential apart"},
      {"{apiVersion: v1, kind: Secret, metadata: {name: c}, stringData: {a: '${USER_X:0:20}'}}",
       "takes a credential apart"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: '${A_TOKEN}'}}", "identity"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {'${A_TOKEN}': x}}", "makes a key of it"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '${A_TOKEN} $${A_TOKEN}'}}", "by itself, too"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '${MISSING}'}}", "MISSING"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    auto got = RenderWithReferences(c.text, From({{"A_TOKEN", "hidden"}, {"USER_X", "hidden"}}), {}, "ns", kMark);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.code(), Code::kInvalidArgument);
    EXPECT_THAT(got.error().message, HasSubstr(c.error));
    EXPECT_THAT(got.error().message, Not(HasSubstr("hidden")));
  }
}

// G10: what a file can't refer to is told while it is written, and not when half of the objects are there.
TEST(References, StandForTexts) {
  const char* text =
      "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {port: '${PORT}'}}\n---\n"
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: X, metadata: {name: c}, spec: {a: [{port: "
      "${PORT}}]}}";
  auto got = RenderWithReferences(text, From({{"PORT", "6443"}}), {}, "ns", kMark);
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("--no-credential PORT"));
  EXPECT_THAT(got.error().message, Not(HasSubstr("6443")));
  EXPECT_TRUE(RenderWithReferences(text, From({{"PORT", "6443"}}), {{}, {"PORT"}, {}}, "ns", kMark).ok());
  EXPECT_TRUE(RenderWithReferences(text, From({{"PORT", "x6443"}}), {}, "ns", kMark).ok());
  // A password of digits is a text.
  const char* token =
      "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: X, metadata: {name: c}, spec: {a: ${X_TOKEN}}}";
  EXPECT_TRUE(RenderWithReferences(token, From({{"X_TOKEN", "1234"}}), {}, "ns", kMark).ok());
}

// G10: a default that is in a file stays there, whatever is set later.
TEST(References, CredentialsWithADefaultAreTold) {
  const char* text =
      "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: '${USER_X:=me}', b: '${SET:=x}'}}\n---\n"
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '${A_TOKEN:=none}', b: '${B:=b}', c: "
      "'${C_TOKEN:=c}'}}";
  std::set<std::string> defaulted;
  auto got = RenderWithReferences(text, From({{"SET", "value"}}), {{}, {"C_TOKEN"}, {}}, "ns", kMark, &defaulted);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_THAT(defaulted, ElementsAre("A_TOKEN", "USER_X"));
}

kube::Object WithData(const std::string& annotation, const std::string& a) {
  kube::Object out(
      Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "c"}}}, {"data", {{"a", a}}}});
  if (!annotation.empty()) out.set_annotation(kFillIn, annotation);
  return out;
}

// G11. What the annotation doesn't name is a script's own; a value isn't filled in once more.
TEST(References, AreFilledIn) {
  FilledIn filled;
  std::set<std::string> missing;
  auto got = FillIn(WithData("A, B", "${A} ${HOME} ${B} $$ ${"), From({{"A", "1${B}"}, {"B", "two"}}), filled, missing);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(GetString(got->json(), {"data", "a"}), "1${B} ${HOME} two $$ ${");
  EXPECT_EQ(Find(got->json(), {"metadata", "annotations"}), nullptr);
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(filled, (FilledIn{{"A", "1${B}"}, {"B", "two"}}));

  EXPECT_TRUE(FillIn(WithData("A,C", "${A}${C}"), From({{"A", "x"}}), filled, missing).ok());
  EXPECT_THAT(missing, ElementsAre("C"));
  EXPECT_THAT(FillIn(WithData("D", "none"), From({{"D", "x"}}), filled, missing).error().message, HasSubstr("${D}"));
  auto untouched = FillIn(WithData("", "${A}"), From({{"A", "x"}}), filled, missing);
  EXPECT_EQ(GetString(untouched->json(), {"data", "a"}), "${A}");
}

// G11, G13: servers and programs repeat what they were given, quoted too.
TEST(References, StandInTextsOfOthers) {
  const FilledIn filled = {{"A", "hidden\"one"}, {"LONG", "hidden\"one-more"}, {"TINY", "x"}};
  EXPECT_EQ(WithoutValues("x: Invalid value: \"hidden\\\"one\": no", filled), "x: Invalid value: \"${A}\": no");
  EXPECT_EQ(WithoutValues("hidden\"one-more and hidden\"one", filled), "${LONG} and ${A}");
  EXPECT_EQ(WithoutValues("data: " + Base64Encode("hidden\"one"), filled), "data: ${A}");
  // As Go writes JSON.
  EXPECT_EQ(WithoutValues(R"({"msg":"no p\u0026ss\u003c1\u003e"})", {{"X_TOKEN", "p&ss<1>"}}),
            R"({"msg":"no ${X_TOKEN}"})");
  // A value may be a word of a reference's name.
  EXPECT_EQ(WithoutValues("long-one TOKEN", {{"X_TOKEN", "long-one"}, {"W", "TOKEN"}}), "${X_TOKEN} ${W}");
}

// G11: a program may write YAML, in whose blocks the lines of a value are indented.
TEST(References, StandInThePlaceOfLines) {
  const FilledIn filled = {{"KEY", "--begin--\nabcdefgh\n  so far\nx"}, {"ONE", "a line"}};
  EXPECT_EQ(WithoutLines("key: |-\n  --begin--\n  abcdefgh\n    so far\n", filled),
            "key: |-\n  ${KEY}\n  ${KEY}\n    ${KEY}\n");
  EXPECT_EQ(WithoutLines("x --begin--\nabcdefgh\n  so far\nx a line", filled), "x ${KEY} ${ONE}");
  EXPECT_EQ(WithoutValues("abcdefgh", filled), "abcdefgh");
}

// G13: of a log that is cut, the end of a value may be the beginning.
TEST(References, TheEndOfACutValueIsLeftOut) {
  const FilledIn filled = {{"A", "hidden-one"}, {"B", "other\nlines"}};
  EXPECT_EQ(WithoutCutValue("den-one said", filled), " said");
  EXPECT_EQ(WithoutCutValue("lines\nmore", filled), "\nmore");
  EXPECT_EQ(WithoutCutValue("hidden-one", filled), "hidden-one");
  EXPECT_EQ(WithoutCutValue("words", filled), "words");
  EXPECT_EQ(WithoutCutValue("", filled), "");
  // Nor does a whole one lose its first bytes, where another one, or it itself, ends as it begins.
  EXPECT_EQ(WithoutCutValue("hidden-one", {{"A", "hidden-one"}, {"B", "another-h"}}), "hidden-one");
  EXPECT_EQ(WithoutCutValue("abcda said", {{"A", "abcda"}}), "abcda said");
  EXPECT_EQ(WithoutCutValue("token-one said", {{"A", "my-token-one"}, {"B", "token"}}), " said");
}

// G13: what an object is called stays, whatever the words of a credential are.
TEST(References, IdentitiesAreKept) {
  const FilledIn filled = {{"CLOUD_USER", "admin"}};
  const kube::Object object(
      ParseYaml("{apiVersion: admin/v1, kind: admin, metadata: {name: admin, namespace: admin, uid: admin, "
                "ownerReferences: [{name: admin}], labels: {a: admin}}, spec: {user: admin}}")
          .value());
  const kube::Object left = WithoutCredentials(object, filled);
  EXPECT_EQ(left.api_version() + left.kind() + left.name() + left.ns() + left.uid(), "admin/v1adminadminadminadmin");
  EXPECT_EQ(Find(left.json(), {"metadata", "ownerReferences"})->dump(), R"([{"name":"admin"}])");
  EXPECT_EQ(GetString(left.json(), {"spec", "user"}), "${CLOUD_USER}");
  EXPECT_EQ(GetString(left.json(), {"metadata", "labels", "a"}), "${CLOUD_USER}");
}

TEST(References, VariablesOfATemplate) {
  EXPECT_THAT(VariablesIn("${A} ${B:=${C}} $${D} ${E:0:2}"), ElementsAre("A", "B", "C", "E"));
  EXPECT_THAT(VariablesIn("${"), ElementsAre());
}

TEST(References, ComeBackForWhatIsWritten) {
  FilledIn filled = {{"A", "hidden-one"}, {"LONG", "hidden-one-more"}, {"TINY", "x"}};
  kube::Object map = WithoutCredentials(WithData("", "x hidden-one-more, hidden-one"), filled);
  EXPECT_EQ(GetString(map.json(), {"data", "a"}), "x ${LONG}, ${A}");
  kube::Object secret(Json{
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", {{"name", "s"}, {"annotations", {{"kubectl.kubernetes.io/last-applied-configuration", "hidden"}}}}},
      {"data", {{"a", "aGlkZGVu"}}},
      {"stringData", {{"b", "hidden"}}}});
  const std::string text = ToYaml(WithoutCredentials(secret, {}).json());
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
  EXPECT_THAT(text, Not(HasSubstr("aGlkZGVu")));
  EXPECT_THAT(text, HasSubstr("name: s"));
  // A bootstrap provider writes its join token there.
  kube::Object config(
      ParseYaml(
          "{apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfig, metadata: {name: k}, spec: "
          "{joinConfiguration: {discovery: {bootstrapToken: {token: hidden}}}, files: [{path: /a, content: hidden}, "
          "{path: /b, content: '${A}'}, {path: /c, content: \"${A}\\nhidden\"}, {path: /d, content: "
          "'${HOME:-hidden}'}]}}")
          .value());
  const std::string left = ToYaml(WithoutCredentials(config, {{"A", "value"}}).json());
  EXPECT_THAT(left, Not(HasSubstr("hidden")));
  EXPECT_THAT(left, HasSubstr("token: (left out)"));
  EXPECT_THAT(left, HasSubstr("content: ${A}"));
}

// G13: members that hold what Secrets have, by the providers that have them.
TEST(References, CredentialsOfProvidersAreLeftOut) {
  const char* cases[] = {
      "bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfig, spec: {joinConfiguration: {discovery: "
      "{tlsBootstrapToken: hidden}}, users: [{name: a, passwd: hidden}]}",
      "bootstrap.cluster.x-k8s.io/v1alpha3, kind: TalosConfig, spec: {data: hidden}, status: {talosConfig: hidden}",
      "bootstrap.cluster.x-k8s.io/v1alpha3, kind: TalosConfigTemplate, spec: {template: {spec: {data: hidden}}}",
      "bootstrap.cluster.x-k8s.io/v1beta2, kind: KThreesConfig, spec: {agentConfig: {privateRegistry: hidden}}",
      "infrastructure.cluster.x-k8s.io/v1alpha1, kind: KubevirtMachine, spec: {userData: hidden, x: {userDataBase64: "
      "hidden}}",
      "infrastructure.cluster.x-k8s.io/v1beta2, kind: VCDCluster, spec: {userContext: {password: hidden, refreshToken: "
      "hidden}}",
      "infrastructure.cluster.x-k8s.io/v1alpha3, kind: VSphereCluster, spec: {cloudProviderConfiguration: {global: "
      "{password: hidden}}}",
      "cluster.x-k8s.io/v1beta2, kind: Cluster, spec: {topology: {variables: [{name: registryPassword, value: "
      "hidden}, {name: X_TOKEN, value: {a: hidden}}]}}",
      "cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {annotations: "
      "{kubectl.kubernetes.io/last-applied-configuration: hidden}}",
  };
  for (const char* text : cases) {
    const kube::Object object(ParseYaml("{apiVersion: " + std::string(text) + "}").value());
    EXPECT_THAT(ToYaml(WithoutCredentials(object, {}).json()), Not(HasSubstr("hidden"))) << text;
  }
  const kube::Object other(
      ParseYaml("{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSCluster, spec: "
                "{data: kept, tokenName: kept, sshKeyName: kept, list: [{name: size, value: kept}]}}")
          .value());
  EXPECT_EQ(WithoutCredentials(other, {}).json(), other.json());
}

}  // namespace
}  // namespace capi::cli::local_clusters
