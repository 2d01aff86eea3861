#include "cli/local_clusters/hooks/hook_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::cli::local_clusters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<Manifest> Manifests(const std::string& yaml) {
  std::vector<Manifest> out;
  for (YamlDocument& document : ParseYamlStream(yaml).value())
    out.push_back({kube::Object(std::move(document.value)), "f.yaml", document.line});
  return out;
}

constexpr char kMachine[] =
    "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m, namespace: 'n'}, spec: {bootstrap: "
    "{dataSecretName: boot}}}\n";

// G11: where a hook repeats it, values are found in it. Whatever they have, it is YAML.
TEST(HookObjects, AreGivenAsJson) {
  const Json plain = {{"kind", "A"}, {"a", "one\n  two's\t\"three\"\n"}, {"b", {1, true, nullptr, "\xF0\x9F\x9A\x80"}}};
  EXPECT_EQ(ToStream({kube::Object(plain)}), "---\n" + plain.dump() + "\n");
  std::vector<kube::Object> objects = {kube::Object(plain)};
  for (const char* odd : {"\x7F", "a\xC2\x85z", "a\xE2\x80\xA8z", "\x01", "\xEF\xBB\xBF"})
    objects.emplace_back(Json{{"kind", "A"}, {"a", odd}});
  auto read = ParseYamlStream(ToStream(objects));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), objects.size());
  for (size_t i = 0; i < objects.size(); ++i) EXPECT_EQ((*read)[i].value, objects[i].json());
}

// G11: a hook may change what it was given, and adds nothing.
TEST(HookObjects, PreProvisionChangesManifests) {
  std::vector<Manifest> manifests = Manifests(kMachine);
  ASSERT_TRUE(TakeChanged("", "n", manifests).ok());
  ASSERT_TRUE(
      TakeChanged("{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m, namespace: 'n'}, spec: "
                  "{version: v2}}",
                  "n", manifests)
          .ok());
  EXPECT_EQ(GetString(manifests[0].object.json(), {"spec", "version"}), "v2");
  EXPECT_EQ(manifests[0].file, "f.yaml");
  for (const char* bad :
       {"{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: 'n'}, stringData: {a: hidden}}",
        "made the role hidden", "- hidden", "{kind: Secret}", "a: [hidden",
        "{kind: Machine, metadata: {name: m, namespace: 'n'}, spec: hidden}",
        "{apiVersion: v1, kind: List, metadata: {name: hidden}}"}) {
    Status got = TakeChanged(bad, "n", manifests);
    ASSERT_FALSE(got.ok()) << bad;
    EXPECT_THAT(got.error().message, Not(HasSubstr("hidden")));
  }
}

// G11: the annotation of the files, and references that nobody fills in, reach no cluster.
TEST(HookObjects, FilesAreNotWhatAHookPrints) {
  const std::string printed =
      "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: m, namespace: 'n', annotations: "
      "{operator.cluster.x-k8s.io/fill-in: X_TOKEN}}, spec: {a: '${X_TOKEN}'}}";
  std::vector<Manifest> manifests = Manifests(kMachine);
  Status got = TakeChanged(printed, "n", manifests);
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("on standard input"));
}

// G11: what names no namespace is of the current one, in the manifests and in what a hook prints.
TEST(HookObjects, MayLeaveTheNamespaceOut) {
  for (const char* there : {"{name: m, namespace: 'n'}", "{name: m}"}) {
    for (const char* printed : {"{name: m, namespace: 'n'}", "{name: m}"}) {
      SCOPED_TRACE(std::string(there) + printed);
      const std::string map = "{apiVersion: v1, kind: ConfigMap, metadata: ";
      std::vector<Manifest> manifests = Manifests(map + there + "}");
      ASSERT_TRUE(TakeChanged(map + printed + ", data: {a: b}}", "n", manifests).ok());
      EXPECT_EQ(GetString(manifests[0].object.json(), {"data", "a"}), "b");
      EXPECT_EQ(IdIn(manifests[0].object, "n").ToString(), "ConfigMap/n/m");
      EXPECT_FALSE(TakeChanged(map + "{name: m, namespace: other}}", "n", manifests).ok());
    }
  }
}

TEST(HookObjects, IgnitionReplacesBootstrapSecretsAlone) {
  std::vector<Manifest> manifests = Manifests(kMachine);
  const std::set<std::string> names = BootstrapSecrets(manifests);
  EXPECT_THAT(names, ElementsAre("n/boot"));
  std::vector<Manifest> secrets;
  const std::string boot =
      "{apiVersion: v1, kind: Secret, metadata: {name: boot, namespace: 'n'}, stringData: {value: ";
  ASSERT_TRUE(TakeSecrets(boot + "one}}", names, {"n/begun"}, secrets).ok());
  EXPECT_EQ(TakeSecrets(boot + "two}}", names, {"n/begun"}, secrets).value(), std::set{secrets[0].object.id()});
  // A machine that is there has begun with its Secret.
  auto begun = TakeSecrets("{apiVersion: v1, kind: Secret, metadata: {name: begun, namespace: 'n'}}", names,
                           {"n/begun"}, secrets);
  ASSERT_TRUE(begun.ok());
  EXPECT_THAT(*begun, IsEmpty());
  ASSERT_EQ(secrets.size(), 1u);
  EXPECT_EQ(GetString(secrets[0].object.json(), {"stringData", "value"}), "two");
  for (const char* bad :
       {"{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: 'n'}, stringData: {a: hidden}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: boot, namespace: 'n'}}"}) {
    auto got = TakeSecrets(bad, names, {"n/begun"}, secrets);
    ASSERT_FALSE(got.ok()) << bad;
    EXPECT_THAT(got.error().message, HasSubstr("n/boot"));
    EXPECT_THAT(got.error().message, Not(HasSubstr("hidden")));
  }
}

}  // namespace
}  // namespace capi::cli::local_clusters
