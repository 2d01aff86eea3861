#include "cli/frame/management_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/vectors.h"

namespace capi::cli {
namespace {

// A definition with an older version beside the one that is stored.
kube::Object ClustersCrd(const std::string& storage) {
  Json old = {{"name", "v1alpha3"}, {"storage", false}}, stored = {{"name", storage}, {"storage", true}};
  return kube::Object(Json{{"kind", "CustomResourceDefinition"}, {"spec", {{"versions", Json::array({old, stored})}}}});
}

AlsoAllowed Allowed(const std::string& allow, const std::string& storage) {
  if (allow == "none") return AlsoAllowed::kNothing;
  if (allow == "not-installed") return AlsoAllowed::kNotInstalled;
  // The one contract that a command of ours allows beside its own.
  EXPECT_TRUE(allow == "v1beta1" || storage == allow) << allow;
  return AlsoAllowed::kOlderContract;
}

// L6.
TEST(CheckContract, FollowsTheVectors) {
  auto check = [](const Json&, const Json& c) {
    std::string storage = GetString(c, {"storage_version"});
    kube::Object crd = ClustersCrd(storage);
    Status got =
        CheckContract(GetBool(c, {"crd_installed"}) ? &crd : nullptr, Allowed(GetString(c, {"allow"}), storage));
    if (c.contains("error")) {
      ASSERT_FALSE(got.ok());
      EXPECT_EQ(got.error().message, GetString(c, {"error"}));
    } else {
      EXPECT_TRUE(got.ok()) << got.error().message;
    }
  };
  // No command of ours works on a cluster of v1alpha4.
  auto ours = [](const Json&, const Json& c) {
    kube::Object crd = ClustersCrd(GetString(c, {"storage_version"}));
    EXPECT_FALSE(CheckContract(&crd, AlsoAllowed::kOlderContract).ok());
  };
  RunVectors("contract-gate.json", check, ours);
}

TEST(CheckContract, ADefinitionThatStoresNothing) {
  for (const char* text : {"{}", R"({"spec":{"versions":7}})", R"({"spec":{"versions":[]}})"}) {
    kube::Object crd(ParseJson(text).value());
    EXPECT_EQ(CheckContract(&crd, AlsoAllowed::kNotInstalled).error().message,
              "this version of clusterctl could be used only with \"v1beta2\" management clusters, \"\" detected");
  }
}

}  // namespace
}  // namespace capi::cli
