#include "kube/apply/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "kube/apply/apply.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;

Object Parse(std::string_view json) { return Object(*ParseJson(json)); }

TEST(ToManifest, HashIsOfTheTextAndTheSameForTheSameObject) {
  Manifest a = ToManifest(Parse(R"({"kind":"Secret","apiVersion":"v1","metadata":{"namespace":"n","name":"s"}})"));
  Manifest b = ToManifest(Parse(R"({"apiVersion":"v1","metadata":{"name":"s","namespace":"n"},"kind":"Secret"})"));
  EXPECT_EQ(a.text, R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n"}})");
  EXPECT_EQ(a.hash, Sha256Hex(a.text).substr(0, 16));
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.id.ToString(), "Secret/n/s");
  EXPECT_NE(a.hash, ToManifest(Parse(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"t"}})")).hash);
}

TEST(ToManifest, KnowsWhatACrdServesStorageVersionFirst) {
  Manifest crd = ToManifest(Parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1alpha1","served":true,"storage":false},
    {"name":"v1alpha2","served":false,"storage":false},{"name":"v1","served":true,"storage":true}]}})"));
  EXPECT_EQ(crd.crd_group, "example.com");
  EXPECT_EQ(crd.crd_kind, "Widget");
  EXPECT_EQ(crd.crd_plural, "widgets");
  EXPECT_TRUE(crd.crd_namespaced);
  EXPECT_THAT(crd.crd_versions, ElementsAre("v1", "v1alpha1"));
}

// I11: what is no certificate is dropped, a real one stays.
TEST(ToManifest, PlaceholdersOfCaBundlesAreDropped) {
  const std::string real = Base64Encode("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
  struct Case {
    std::string name, bundle;
    bool kept;
  };
  const Case cases[] = {
      {"a newline", "\"Cg==\"", false},
      {"empty", "\"\"", false},
      {"null", "null", false},
      {"no base64", "\"~~\"", false},
      {"no PEM", '"' + Base64Encode("certificate") + '"', false},
      {"a key", '"' + Base64Encode("-----BEGIN PRIVATE KEY-----\n") + '"', false},
      {"a certificate", '"' + real + '"', true},
  };
  const std::string objects[] = {
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
          "webhooks":[{"name":"a","clientConfig":{"caBundle":@}}]})",
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration",
          "webhooks":[{"name":"a"},{"name":"b","clientConfig":{"caBundle":@}}]})",
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
          "spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":@}}}}})",
      R"({"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition",
          "spec":{"conversion":{"webhookClientConfig":{"caBundle":@}}}})",
      R"({"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","spec":{"caBundle":@}})",
  };
  for (const Case& c : cases) {
    for (const std::string& object : objects) {
      std::string text = object;
      text.replace(text.find('@'), 1, c.bundle);
      SCOPED_TRACE(c.name + ": " + text);
      EXPECT_EQ(ToManifest(Parse(text)).text.find("caBundle") != std::string::npos, c.kept);
    }
  }
  // Elsewhere the word means nothing.
  EXPECT_NE(ToManifest(Parse(R"({"apiVersion":"v1","kind":"ConfigMap","spec":{"caBundle":""}})")).text.find("caBundle"),
            std::string::npos);
}

TEST(StageOf, CrdsThenBaseThenWorkloadsThenWebhooks) {
  struct Case {
    GroupKind kind;
    Stage stage;
  };
  const Case cases[] = {
      {{"apiextensions.k8s.io", "CustomResourceDefinition"}, Stage::kCrds},
      {{"", "Namespace"}, Stage::kBase},
      {{"", "Secret"}, Stage::kBase},
      {{"", "Service"}, Stage::kBase},
      {{"rbac.authorization.k8s.io", "ClusterRole"}, Stage::kBase},
      {{"cert-manager.io", "Certificate"}, Stage::kBase},
      {{"apps", "Deployment"}, Stage::kWorkloads},
      {{"batch", "Job"}, Stage::kWorkloads},
      {{"", "Pod"}, Stage::kWorkloads},
      {{"example.com", "Deployment"}, Stage::kBase},
      {{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}, Stage::kWebhooks},
      {{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}, Stage::kWebhooks},
      {{"apiregistration.k8s.io", "APIService"}, Stage::kWebhooks},
  };
  for (const Case& c : cases) EXPECT_EQ(StageOf(c.kind), c.stage) << c.kind.ToString();
}

// What others fill in on purpose isn't claimed (behaviour.md D1).
TEST(ToManifest, LeavesTheirsToInjectorsAndAggregation) {
  const std::string bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";
  auto hook = [&](const std::string& annotations) {
    return ToManifest(Parse(R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
      "metadata":{"name":"a","annotations":{)" +
                            annotations + R"(}},"webhooks":[{"name":"w","clientConfig":{"caBundle":")" + bundle +
                            R"("}}]})"))
        .text;
  };
  EXPECT_NE(hook("").find(bundle), std::string::npos);
  EXPECT_EQ(hook(R"("cert-manager.io/inject-ca-from":"ns/cert")").find(bundle), std::string::npos);
  auto role = [](const std::string& more) {
    return ToManifest(
               Parse(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a"},)" +
                     more + R"("rules":[]})"))
        .text;
  };
  EXPECT_NE(role("").find("rules"), std::string::npos);
  EXPECT_EQ(role(R"("aggregationRule":{"clusterRoleSelectors":[]},)").find("rules"), std::string::npos);
}

TEST(WaveOf, ContainersBeforeContentsAndRolesBeforeBindings) {
  const GroupKind order[] = {{"apiextensions.k8s.io", "CustomResourceDefinition"},
                             {"", "Namespace"},
                             {"rbac.authorization.k8s.io", "ClusterRole"},
                             {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
                             {"apps", "Deployment"},
                             {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}};
  for (size_t i = 1; i < std::size(order); ++i) {
    EXPECT_LT(WaveOf(order[i - 1]), WaveOf(order[i])) << order[i].ToString();
    EXPECT_LE(StageOf(order[i - 1]), StageOf(order[i])) << order[i].ToString();
  }
}

TEST(FieldsHash, IsOfOurApplyEntryAlone) {
  auto live = [](std::string_view entries) {
    return Parse(std::string(R"({"metadata":{"managedFields":[)") + std::string(entries) + "]}}");
  };
  const std::string ours =
      R"({"manager":"us","operation":"Apply","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:data":{"f:a":{}}}})";
  const std::string later =
      R"({"manager":"us","operation":"Apply","time":"2027-01-01T00:00:00Z","fieldsV1":{"f:data":{"f:a":{}}}})";
  const std::string less = R"({"manager":"us","operation":"Apply","fieldsV1":{"f:data":{}}})";
  const std::string update = R"({"manager":"us","operation":"Update","fieldsV1":{"f:spec":{}}})";
  const std::string status =
      R"({"manager":"us","operation":"Apply","subresource":"status","fieldsV1":{"f:status":{}}})";
  const std::string other = R"({"manager":"them","operation":"Apply","fieldsV1":{"f:data":{"f:b":{}}}})";

  std::string hash = FieldsHash(live(ours), "us");
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(FieldsHash(live(other + "," + update + "," + status + "," + later), "us"), hash);
  EXPECT_NE(FieldsHash(live(less), "us"), hash);
  EXPECT_EQ(FieldsHash(live(other + "," + update + "," + status), "us"), "");
  EXPECT_EQ(FieldsHash(Parse("{}"), "us"), "");
}

}  // namespace
}  // namespace capi::kube
