// What is older than what is installed (behaviour.md U6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/decide/decide.h"
#include "operator/decide/rollout.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using testing::Observed;
using testing::StepName;

// U6: a patch version may go back; another one where an annotation allows it.
TEST(Decide, PatchDowngradesAndAllowedOnesGoOn) {
  for (const char* installed : {"v1.12.9", "v1.12.0", "v1.11.0", "1.12.0"}) {
    Observation o = Observed();
    o.provider.status.installed_version = installed;
    EXPECT_EQ(StepName(Decide(o)), "Install") << installed;
  }
  Observation o = Observed();
  for (const char* installed : {"", "what is that"}) {
    o.provider.status.installed_version = installed;
    EXPECT_EQ(StepName(Decide(o)), "Install") << installed;
  }
  o.provider.status.installed_version = "v2.0.0";
  o.provider.annotations["operator.cluster.x-k8s.io/allow-downgrade"] = "false";
  EXPECT_EQ(StepName(Decide(o)), "Hold") << "U6";
  o.provider.annotations["operator.cluster.x-k8s.io/allow-downgrade"] = "true";
  EXPECT_EQ(StepName(Decide(o)), "Install") << "U6";
}

// U6, U11: where the status is lost, our own entry for clusterctl says what runs. With a policy that may be newer than
// what is declared (U13).
TEST(Decide, ALostStatusIsNoLeaveToGoBack) {
  Observation o = Observed();
  o.left_behind = true;
  for (const char* version : {"", "v1.12.9", "v1.11.0"}) {
    o.lost_version = version;
    EXPECT_EQ(StepName(Decide(o)), "Install") << version;
  }
  o.lost_version = "v1.14.2";
  const Step step = Decide(o);
  ASSERT_TRUE(std::holds_alternative<Hold>(step));
  EXPECT_THAT(std::get<Hold>(step).message,
              HasSubstr("v1.14.2 is installed (its status is lost), spec.version is v1.12.0"));
  o.provider.annotations["operator.cluster.x-k8s.io/allow-downgrade"] = "true";
  EXPECT_EQ(StepName(Decide(o)), "Install");
}

// U6, U13: the annotation alone would lead to spec.version.
TEST(Decide, AWayBackToWhatAPolicyHadComeToNamesIt) {
  Observation o = Observed();
  o.declared_version = "v1.11.0";
  o.provider.status.installed_version = "v1.13.0";
  const Step step = Decide(o);
  ASSERT_TRUE(std::holds_alternative<Hold>(step));
  EXPECT_THAT(std::get<Hold>(step).message, HasSubstr("write v1.12.0 into spec.version, and annotation"));
}

// U6: the annotation is asked for where a downgrade begins. One that was announced, and whose annotation was taken away
// before its pods came up, was held half-way for good; so was the way back from it.
TEST(Decide, ADowngradeThatHasBegunGoesOn) {
  struct Case {
    std::string_view version, outcome;
    bool same_inputs;
    std::string_view step;
    bool other_keys = false;
  };
  namespace outcome = api::outcome;
  const Case cases[] = {
      {"v1.12.0", outcome::kApplying, true, "Install"},
      {"v1.12.0", outcome::kRollingOut, true, "Await"},
      {"v1.12.0", outcome::kRollingOut, false, "Install"},
      {"1.12.0", outcome::kApplying, true, "Install"},
      {"v1.11.0", outcome::kApplying, false, "Hold"},
      {"v1.12.0", outcome::kRollingBack, true, "Install"},
      {"v1.12.0", outcome::kRollingBack, true, "Install", true},  // T14: they change nothing that is applied
      {"v1.12.0", outcome::kRolledBack, false, "Hold"},
      {"v1.12.0", outcome::kSucceeded, false, "Hold"},
      {"v1.12.0", "", false, "Hold"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.version) + " " + std::string(c.outcome));
    Observation o = Observed();
    o.provider.status.installed_version = "v2.0.0";
    StoredRelease good = o.releases.front();
    good.version_text = "v2.0.0";
    o.releases.push_back(good);
    o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
    api::HistoryEntry begun{std::string(c.version), "v1beta2", "sha256:1", FormatTime(o.now)};
    begun.started = begun.time;
    begun.outcome = c.outcome;
    begun.inputs = (c.same_inputs ? InputsDigest(o) : "other") + (c.other_keys ? "-keys" : "");
    api::HistoryEntry before{"v2.0.0", "v1beta2", "sha256:2", FormatTime(o.now)};
    o.provider.status.history = {begun, before};
    EXPECT_EQ(StepName(Decide(o)), c.step);
  }
}

}  // namespace
}  // namespace capi::ops
