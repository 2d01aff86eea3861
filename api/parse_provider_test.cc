#include <gtest/gtest.h>

#include "api/types.h"
#include "base/testing/vectors.h"
#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

kube::Object FromYaml(std::string_view yaml) { return kube::Object(ParseYaml(yaml).value()); }

constexpr std::string_view kObject = R"(
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: InfrastructureProvider
metadata:
  name: aws
  namespace: capa-system
  uid: u-1
  resourceVersion: "42"
  generation: 7
  creationTimestamp: "2026-01-02T03:04:05Z"
  deletionTimestamp: "2026-01-03T03:04:05Z"
  finalizers: [provider.cluster.x-k8s.io]
  annotations: {a: b}
spec: {version: v2.0.0, configSecret: {name: s}}
status:
  contract: v1beta1
  installedVersion: v1.9.0
  observedGeneration: 6
  conditions:
  - {type: Ready, status: "True", reason: R, message: m, observedGeneration: 6, lastTransitionTime: "2026-01-02T03:04:05Z"}
  inventory: [{some: entry}]
  applied: sha256:aa
  history: [{version: v1.9.0, contract: v1beta1, digest: sha256:bb, time: "2026-01-02T03:04:05Z"}]
  source: ConfigMap capa-system/v1.9.0
  availableUpgrades: [{version: v1.9.1, contract: v1beta1}, {version: v2.0.0, contract: v1beta2, needs: CoreUpgrade}]
  updateCheck: {source: "12", time: "2026-01-02T03:04:05Z", next: "2026-01-02T15:04:05Z"}
)";

TEST(ParseProvider, ReadsMetadataSpecAndStatus) {
  auto provider = ParseProvider(FromYaml(kObject));
  ASSERT_TRUE(provider.ok()) << provider.error().message;
  EXPECT_EQ(provider->id, (ProviderId{ProviderType::kInfrastructure, "capa-system", "aws"}));
  EXPECT_EQ(provider->uid, "u-1");
  EXPECT_EQ(provider->resource_version, "42");
  EXPECT_EQ(provider->generation, 7);
  EXPECT_TRUE(provider->deleting);
  EXPECT_TRUE(provider->has_finalizer);
  EXPECT_EQ(provider->created, "2026-01-02T03:04:05Z");
  EXPECT_EQ(provider->annotations.at("a"), "b");
  EXPECT_EQ(provider->spec.version, "v2.0.0");
  EXPECT_EQ(provider->spec.config_secret->ns, "capa-system");
  EXPECT_EQ(provider->status.installed_version, "v1.9.0");
  EXPECT_EQ(provider->status.history.size(), 1u);
}

// Every object of the vectors was stored by the peer's API.
TEST(ParseProvider, ReadsWhatWasWrittenForThePeer) {
  for (const char* file : {"customisation.json", "patches.json", "preflight.json"}) {
    const Json cases = LoadCases(file);
    for (const Json& c : cases) {
      Json objects = c.contains("providers") ? c["providers"] : Json::array();
      if (c.contains("provider")) objects.push_back(c["provider"]);
      for (const Json& object : objects) {
        auto provider = ParseProvider(kube::Object(object));
        EXPECT_TRUE(provider.ok()) << file << " " << c["id"] << " " << provider.error().message;
      }
    }
  }
}

TEST(ParseProvider, StatusRoundTrips) {
  Json json = FromYaml(kObject).json()["status"];
  EXPECT_EQ(StatusToJson(ParseStatus(json)), json);
  EXPECT_EQ(StatusToJson(ProviderStatus{}), Json::object());
  EXPECT_EQ(ParseStatus(Json()), ProviderStatus{});
}

TEST(ParseProvider, StatusOfAnyShapeIsReadAsFarAsPossible) {
  ProviderStatus status =
      ParseStatus(ParseYaml("{contract: 1, conditions: [x, {type: A, status: 'True'}], history: {}}").value());
  EXPECT_EQ(status.contract, "");
  EXPECT_TRUE(status.history.empty());
  EXPECT_EQ(ParseStatus(Json::array()), ProviderStatus{});
}

TEST(ParseProvider, WrongKindsAreRefused) {
  for (std::string_view yaml : {"{apiVersion: v1, kind: Secret}", "{apiVersion: other/v1, kind: CoreProvider}", "{}"}) {
    auto provider = ParseProvider(FromYaml(yaml));
    ASSERT_FALSE(provider.ok());
    EXPECT_EQ(provider.code(), Code::kInvalidArgument);
  }
}

// F1: an object whose spec can't be read still gets a condition.
TEST(ParseProvider, MetadataIsReadThoughTheSpecIsBroken) {
  kube::Object object = FromYaml(kObject);
  object.json()["spec"]["version"] = 5;
  EXPECT_FALSE(ParseProvider(object).ok());
  Provider provider = ParseProviderMeta(object);
  EXPECT_EQ(provider.id.Key(), "InfrastructureProvider/capa-system/aws");
  EXPECT_EQ(provider.status.observed_generation, 6);
}

}  // namespace
}  // namespace capi::api
