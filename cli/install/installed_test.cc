#include "cli/install/installed.h"

#include <gtest/gtest.h>

#include "cli/install/wait.h"

namespace capi::cli {
namespace {

using enum api::ProviderType;

ProviderObject Object(const api::ProviderId& id, const std::string& wanted, const std::string& installed) {
  ProviderObject out;
  out.provider.id = id;
  out.provider.status.installed_version = installed;
  out.provider.status.contract = "v1beta2";
  out.provider.spec.config_secret = api::ObjectRef{"mine", id.ns};
  out.wanted = wanted;
  return out;
}

// L10.
TEST(MergePresent, TellsWhatIsInstalledBegunAndNotLookedAfter) {
  const InstalledProvider core{kCore, "cluster-api", "capi-system", "v1.12.0"};
  const InstalledProvider aws{kInfrastructure, "aws", "capa-system", "v2.0.0"};
  auto got = MergePresent(
      {core, aws, {kBootstrap, "kubeadm", "b", "v1.12.0"}},
      {Object({kCore, "capi-system", "cluster-api"}, "1.12.0", "v1.12.0"),
       Object({kBootstrap, "b", "kubeadm"}, "v1.13.0", "v1.12.0"), Object({kInfrastructure, "d", "docker"}, "", "")});
  ASSERT_EQ(got.size(), 4u);
  EXPECT_TRUE(got[0].installed() && got[0].has_object);
  EXPECT_EQ(got[0].secret, (api::ObjectRef{"mine", "capi-system"}));
  EXPECT_EQ(got[0].contract, "v1beta2");
  EXPECT_FALSE(got[1].installed()) << "it is on its way to another version";
  EXPECT_EQ(got[1].provider.version, "v1.13.0");
  EXPECT_EQ(got[1].recorded, "v1.12.0");
  EXPECT_TRUE(!got[2].installed() && got[2].has_object && got[2].provider.version.empty());
  EXPECT_EQ(got[3], (PresentProvider{.provider = aws, .recorded = "v2.0.0"}));
}

TEST(MergePresent, AnObjectWithoutAVersionHasTheRecordedOne) {
  auto got = MergePresent({{kCore, "cluster-api", "capi-system", "v1.12.0"}},
                          {Object({kCore, "capi-system", "cluster-api"}, "", "")});
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].provider.version, "v1.12.0");
  EXPECT_TRUE(got[0].installed());
}

// L10: what somebody else declares isn't applied over.
TEST(OtherManagerOf, IsWhoeverHasWrittenTheSpec) {
  auto of = [](const std::vector<std::pair<std::string, std::string>>& managers) {
    kube::Object object(Json::object());
    Json& entries = object.json()["metadata"]["managedFields"] = Json::array();
    for (const auto& [manager, field] : managers)
      entries.push_back({{"manager", manager}, {"fieldsV1", {{field, Json::object()}}}});
    return OtherManagerOf(object);
  };
  EXPECT_EQ(of({}), "");
  EXPECT_EQ(of({{"clusterctl", "f:spec"}, {"capi-operator", "f:spec"}, {"kubectl", "f:metadata"}}), "");
  EXPECT_EQ(of({{"clusterctl", "f:spec"}, {"flux", "f:spec"}}), "flux");
}

// L10: what the operator makes of an object is told.
TEST(ProgressOf, IsAboutThisGeneration) {
  api::Provider provider;
  provider.generation = 2;
  provider.status.observed_generation = 1;
  std::string words;
  auto with = [&](const std::string& ready, bool stalled) {
    provider.status.conditions = {{.type = "Ready", .status = ready, .reason = "Why", .message = "it says so"}};
    if (stalled) provider.status.conditions.push_back({.type = "Stalled", .status = "True"});
    return ProgressOf(provider, words);
  };
  EXPECT_EQ(with("True", false), ProviderProgress::kUnseen);
  EXPECT_EQ(words, "");
  provider.status.observed_generation = 2;
  EXPECT_EQ(with("True", false), ProviderProgress::kReady);
  EXPECT_EQ(with("False", false), ProviderProgress::kGoesOn);
  EXPECT_EQ(with("False", true), ProviderProgress::kStalled);
  EXPECT_EQ(words, "Why: it says so");
  provider.status.conditions.clear();
  EXPECT_EQ(ProgressOf(provider, words), ProviderProgress::kUnseen);
}

}  // namespace
}  // namespace capi::cli
