#include "cli/install/operator_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/api_testing.h"

namespace capi::cli {
namespace {

InstalledOperator Operator(const std::string& version, const std::string& image = "o:v1") {
  InstalledOperator out{.ns = "capi-operator-system", .image = image};
  if (!version.empty()) out.version = api::Version::Parse(version).value();
  return out;
}

const api::Version kOwn = api::Version::Parse("v1.4.2").value();

// L10: an operator of another minor version is refused, with what mends it.
TEST(CheckSkew, OnlyTheSameMinorVersionGoes) {
  for (const char* fine : {"v1.4.2", "v1.4.0", "v1.4.9", "v1.4.2-rc.1", ""})
    EXPECT_TRUE(CheckSkew(Operator(fine), kOwn).ok()) << fine;
  for (const char* old : {"v1.3.9", "v0.9.0"}) {
    Status got = CheckSkew(Operator(old), kOwn);
    ASSERT_FALSE(got.ok());
    EXPECT_THAT(got.error().message, testing::HasSubstr("clusterctl upgrade operator")) << old;
  }
  for (const char* newer : {"v1.5.0", "v2.0.0"}) {
    Status got = CheckSkew(Operator(newer), kOwn);
    ASSERT_FALSE(got.ok());
    EXPECT_THAT(got.error().message, testing::HasSubstr("newer than this clusterctl")) << newer;
  }
}

TEST(CheckSameImage, InitDoesNotChangeIt) {
  EXPECT_TRUE(CheckSameImage(Operator("v1.4.2"), "").ok());
  EXPECT_TRUE(CheckSameImage(Operator("v1.4.2"), "o:v1").ok());
  Status got = CheckSameImage(Operator("v1.4.2"), "o:v2");
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, testing::HasSubstr("upgrade operator --operator-image o:v2"));
}

// L10: what is half installed is completed by its own version.
TEST(CheckSameVersion, OfWhatIsHalfInstalled) {
  for (const char* fine : {"v1.4.2", ""}) EXPECT_TRUE(CheckSameVersion(Operator(fine), kOwn).ok()) << fine;
  EXPECT_THAT(CheckSameVersion(Operator("v1.4.1"), kOwn).error().message,
              testing::HasSubstr("run `clusterctl upgrade operator` first"));
  EXPECT_THAT(CheckSameVersion(Operator("v1.4.3"), kOwn).error().message,
              testing::HasSubstr("use a clusterctl of v1.4.3"));
}

// L11.
TEST(DecideUpgrade, LeavesWhatIsCurrentNewerOrSomebodyElses) {
  auto decide = [](const InstalledOperator& there) {
    auto got = DecideUpgrade(there, kOwn, "o:v1");
    return got.ok() ? std::string(*got == OperatorUpgrade::kNothing ? "nothing" : "apply") : got.error().message;
  };
  EXPECT_EQ(decide(Operator("v1.4.2")), "nothing");
  EXPECT_EQ(decide(Operator("v1.4.2", "other:v1")), "apply");
  EXPECT_EQ(decide(Operator("v1.4.1")), "apply");
  EXPECT_EQ(decide(Operator("v1.1.0")), "apply");
  EXPECT_EQ(decide(Operator("")), "apply");
  EXPECT_THAT(decide(Operator("v1.4.3")), testing::HasSubstr("use a clusterctl of v1.4"));
  InstalledOperator helm = Operator("v1.4.1");
  helm.by_helm = true;
  EXPECT_THAT(decide(helm), testing::HasSubstr("helm upgrade"));
  InstalledOperator elsewhere = Operator("v1.4.1");
  elsewhere.ns = "ops";
  EXPECT_THAT(decide(elsewhere), testing::HasSubstr("namespace ops"));
}

Answer Deployment(int available) {
  const Json status = {
      {"observedGeneration", 1},
      {"replicas", 1},
      {"updatedReplicas", 1},
      {"readyReplicas", available},
      {"availableReplicas", available},
      {"conditions", Json::array({{{"type", "Available"}, {"status", available ? "True" : "False"}}})}};
  return {200, ToJsonText({{"apiVersion", "apps/v1"},
                           {"kind", "Deployment"},
                           {"metadata", {{"name", "o"}, {"namespace", "ops"}, {"generation", 1}}},
                           {"spec", {{"replicas", 1}}},
                           {"status", status}})};
}

// L10: five minutes in which nothing is said look as if it hung.
TEST(AwaitRollout, SaysThatItWaits) {
  const Answer up = Deployment(1), down = Deployment(0);
  struct Case {
    std::vector<Answer> looks;
    bool applied;
    const char* said;
  };
  const char kWaiting[] = "Waiting for the operator to be available...\n";
  const Case cases[] = {{{up}, false, ""}, {{down, up}, false, kWaiting}, {{up}, true, kWaiting}};
  for (const Case& c : cases) {
    FakeApi api({{"/namespaces/ops/deployments/", c.looks}});
    std::ostringstream err;
    Notes notes(err);
    EXPECT_TRUE(AwaitRollout(Context{}, api.client(), "ops", c.applied, notes).ok());
    EXPECT_EQ(err.str(), c.said);
  }
}

TEST(OwnVersion, IsOne) { EXPECT_NE(OwnVersion(), api::Version()); }

}  // namespace
}  // namespace capi::cli
