// preload, where releases are there already or come in several ways (L25).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/stored_release.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/airgap/airgap_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// T12: the operator, which reaches no registry, takes one of its own with the source of the object alone.
TEST_F(AirGap, PreloadNamesTheSourceThatAnObjectTakes_L25_T12) {
  fetch::OciStandIn registry({{"v2.0.0",
                               {.files = {{"metadata.yaml", kMetadata},
                                          {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}});
  const std::string object = Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}");
  const std::string file = cluster_.folder.Put("objects/aws.yaml", object);
  const api::Provider provider = api::ParseProvider(kube::Object(*ParseYaml(object))).value();
  const auto counts = [&] {
    return api::IsOfItsSource(api::ReadStoredRelease(kube::Object(cluster_.Get(kAwsMap))), provider);
  };
  ASSERT_EQ(Run({"preload", "-i", "aws:v2.0.0"}).code, 0);
  ASSERT_FALSE(counts());
  const Json before = cluster_.Get(kAwsMap);
  cluster_.before_write = [](UpgradeCluster& cluster, const std::string& what) {
    if (what == "PATCH " + kAwsMap) cluster.Change(kAwsMap, [](Json& map) { map["metadata"]["labels"]["x"] = "y"; });
  };
  EXPECT_EQ(Run({"preload", "-f", file}).code, 1) << "somebody changed it meanwhile";
  EXPECT_FALSE(counts());
  cluster_.before_write = nullptr;
  Outcome named = Run({"preload", "-f", file});
  EXPECT_EQ(named.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system configured\n") << named.err;
  EXPECT_TRUE(counts());
  EXPECT_EQ(cluster_.Get(kAwsMap)["data"], before["data"]);
  const size_t writes = cluster_.writes().size();
  for (const std::vector<std::string>& command : {std::vector<std::string>{"preload", "-f", file}, {"preload", "-i", "aws:v2.0.0"}})
    EXPECT_EQ(Run(command).out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system unchanged\n");
  EXPECT_EQ(cluster_.writes().size(), writes);
}

// Of a spec that can't be read nobody knows the version, the source and the digest.
TEST_F(AirGap, PreloadTakesNoObjectThatItCannotRead_L25) {
  const UpgradeProvider aws{api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta2"};
  cluster_.Add(aws);
  cluster_.Change(UpgradeCluster::PathOf(aws), [](Json& object) { object["spec"]["rollout"]["timeout"] = "soon"; });
  Outcome refused = Run({"preload", "--existing"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("InfrastructureProvider capa-system/aws: spec.rollout.timeout"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// L27: loaded into a registry such a bundle is right.
TEST_F(AirGap, BundleCreateWarnsOfObjectsWithoutAVersion_L27) {
  const std::vector<std::string> command = {
      "bundle", "create", "-f", "-", "-o", cluster_.folder / "one.tar", "--install-cert-manager=false"};
  Outcome made = RunAlone(command, {}, Object("{}"));
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("capa-system/aws: without spec.version the operator asks the source"));
  EXPECT_THAT(RunAlone(command, {}, Object("{version: v2.0.0}")).err, Not(HasSubstr("spec.version")));
}

}  // namespace
}  // namespace capi::cli
