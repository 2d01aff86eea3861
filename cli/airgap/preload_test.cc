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

}  // namespace
}  // namespace capi::cli
