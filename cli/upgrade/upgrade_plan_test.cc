// What the vectors don't have: providers whose versions can't be told, and contracts that nobody knows (L12, L13).
#include "cli/upgrade/upgrade_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli {
namespace {

using testing::HasSubstr;

api::Version V(std::string_view text) { return *api::Version::Parse(text); }

UpgradeCandidate Core(const std::string& version, const std::vector<std::string>& others) {
  UpgradeCandidate out;
  out.provider = {api::ProviderType::kCore, "cluster-api", "capi-system", version};
  api::Metadata metadata{{{0, 4, "v1alpha4"}, {1, 10, "v1beta1"}, {1, 11, "v1beta2"}}};
  std::vector<api::Version> versions = {V(version)};
  for (const std::string& other : others) versions.push_back(V(other));
  out.info = MakeUpgradeInfo(out.provider, versions, metadata).value();
  return out;
}

// One that the configuration doesn't know.
UpgradeCandidate Unknown(const std::string& contract) {
  UpgradeCandidate out;
  out.provider = {api::ProviderType::kInfrastructure, "mine", "mine-system", "v1.0.0"};
  out.error = Error{Code::kNotFound, "failed to get configuration for it", {}};
  out.running_contract = contract;
  return out;
}

TEST(MakePlans, OneThatNobodyKnowsFailsNobodyElse) {  // L12
  std::vector<UpgradeCandidate> fleet = {Core("v1.11.0", {"v1.11.1"}), Unknown("")};
  auto plans = MakePlans(fleet);
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  ASSERT_EQ(plans->size(), 1u);
  EXPECT_EQ((*plans)[0].items[0].next, V("v1.11.1"));
  EXPECT_TRUE((*plans)[0].items[1].unknown);
  EXPECT_FALSE((*plans)[0].items[0].unknown);
}

TEST(MakePlans, ToAnotherContractItMayStayWhereThatAcceptsIt) {  // L12
  for (const auto& [contract, plans_there] : {std::pair("v1beta1", 2u), {"v1alpha4", 1u}, {"", 1u}}) {
    std::vector<UpgradeCandidate> fleet = {Core("v1.10.0", {"v1.11.0"}), Unknown(contract)};
    auto plans = MakePlans(fleet);
    ASSERT_TRUE(plans.ok()) << plans.error().message;
    EXPECT_EQ(plans->size(), plans_there) << contract;
  }
}

TEST(MakePlans, WithoutTheVersionsOfTheCoreThereIsNone) {  // L12
  std::vector<UpgradeCandidate> fleet = {Core("v1.10.0", {})};
  fleet[0].info.reset();
  fleet[0].error = Error{Code::kUnavailable, "no way there", {}};
  EXPECT_EQ(MakePlans(fleet).error().message, "no way there");
}

TEST(CheckUpgrade, GoesByTheContractThatRuns) {  // L13
  struct Case {
    const char *running, *to, *error;
  };
  const Case cases[] = {
      {"v1beta1", "v1.11.0", ""},
      {"v1alpha4", "v1.11.0", ""},  // broken before: it blocks nobody (C6)
      {"", "v1.11.0", ""},          // as the core's
      {"", "v0.4.0", "Please include the mine-system/infrastructure-mine provider in the upgrade"},
  };
  for (const Case& c : cases) {
    std::vector<UpgradeCandidate> fleet = {Core("v1.10.0", {"v1.11.0"}), Unknown(c.running)};
    std::vector<WantedVersion> wanted = {{0, V(c.to)}};
    auto got = CheckUpgrade(fleet, wanted);
    if (*c.error == '\0') {
      EXPECT_TRUE(got.ok()) << c.running << ": " << got.error().message;
    } else {
      ASSERT_FALSE(got.ok()) << c.running;
      EXPECT_THAT(got.error().message, HasSubstr(c.error));
    }
  }
}

TEST(CheckUpgrade, OfOneThatNobodyKnowsSaysWhy) {  // L13
  std::vector<UpgradeCandidate> fleet = {Core("v1.11.0", {}), Unknown("v1beta1")};
  std::vector<WantedVersion> wanted = {{1, V("v2.0.0")}};
  EXPECT_EQ(CheckUpgrade(fleet, wanted).error().message, "failed to get configuration for it");
}

}  // namespace
}  // namespace capi::cli
