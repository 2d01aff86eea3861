// The table that Decide goes through, line by line.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/reasons.h"
#include "operator/decide/decide.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/summarize.h"

namespace capi::ops {
namespace {

using testing::NewProvider;
using testing::Observed;
using testing::StepName;

const FormerInstall kFormer{"clusterctl", "aws-system", "v1.12.0"};

// What each rule is for, in the order of the table.
struct RuleCase {
  std::string rule;
  void (*change)(Observation&);
  std::string step;
};
const RuleCase kCases[] = {
    {"P4.hands-off", [](Observation& o) { o.provider.annotations["cluster.x-k8s.io/paused"] = ""; }, "HandsOff"},
    {"X1.released", [](Observation& o) { o.provider.deleting = true, o.provider.has_finalizer = false; }, "Steady"},
    {"X1.finalizer", [](Observation& o) { o.provider.has_finalizer = false; }, "AddFinalizer"},
    {"U11.unreadable-status",
     [](Observation& o) {
       o.inventory_error = Error{Code::kInvalidArgument, "broken", {}};
     },
     "Hold"},
    {"T8.account-required", [](Observation& o) { o.service_account_required = true; }, "Hold"},
    {"A2.never-ours", [](Observation& o) { o.provider.deleting = true, o.former = kFormer; }, "Remove"},
    {"U11.lost-before-removal", [](Observation& o) { o.provider.deleting = o.left_behind = true; }, "Rebuild"},
    {"X2.pause-while-needed",
     [](Observation& o) {
       o.provider.deleting = o.provider.spec.paused = true;
       o.users = {"AWSMachine default/a"};
       o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
     },
     "Scale"},
    {"X2.kept-while-needed",
     [](Observation& o) {
       o.provider.deleting = true;
       o.users = {"AWSMachine default/a"};
     },
     "Hold"},
    {"X1.migrate", [](Observation& o) { o.provider.deleting = true, o.fleet.unmigrated.emplace_back(); }, "Migrate"},
    {"X1.remove", [](Observation& o) { o.provider.deleting = true; }, "Remove"},
    {"P1.pause",
     [](Observation& o) {
       o.provider.spec.paused = true;
       o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
     },
     "Scale"},
    {"I5.preflight", [](Observation& o) { o.core = nullptr; }, "Hold"},
    {"A1.take-over", [](Observation& o) { o.former = kFormer; }, "Adopt"},
    {"U5.rollout",
     [](Observation& o) {
       o.provider.status.history.emplace_back();
       o.provider.status.history[0].inputs = InputsDigest(o);
       o.provider.status.history[0].outcome = api::outcome::kRollingOut;
       o.provider.status.history[0].started = FormatTime(o.now);
       o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
     },
     "Await"},
    {"U1.inputs", [](Observation&) {}, "Install"},
    {"U11.lost-inventory",
     [](Observation& o) {
       o.provider.status.applied = InputsDigest(o);
       o.inventory_lost = true;
     },
     "Install"},
    {"D1.drift",
     [](Observation& o) {
       o.provider.status.applied = o.rendered = InputsDigest(o);
       o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
     },
     "Restore"},
    {"U4.prune",
     [](Observation& o) {
       o.provider.status.applied = InputsDigest(o);
       o.inventory.Put(testing::DeploymentId(), {"v1", "hash", "fields", true});
     },
     "Prune"},
    {"U3.migrate",
     [](Observation& o) {
       o.provider.status.applied = InputsDigest(o);
       o.fleet.unmigrated.emplace_back();
       o.provider.status = Summarize(o, Done{});
     },
     "Migrate"},
    {"C5.at-zero",
     [](Observation& o) {
       o.provider.status.applied = InputsDigest(o);
       o.provider.status.conditions = {{.type = "Paused", .status = "True", .reason = "Paused"}};
       auto left = NewProvider(api::ProviderType::kInfrastructure, "docker");
       left.status.contract = "v1alpha4";
       left.status.conditions = o.provider.status.conditions;
       o.siblings.push_back(std::make_shared<api::Provider>(left));
       o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
       o.fleet.workloads[0].former = "1";
       o.fleet.workloads[0].replicas = 0;
     },
     "Hold"},
    {"U1.nothing", [](Observation& o) { o.provider.status.applied = InputsDigest(o); }, "Steady"},
};

TEST(Decide, EveryRuleHasItsCase) {
  std::span<const StepRule> rules = StepRules();
  ASSERT_EQ(std::size(kCases), rules.size());
  for (size_t i = 0; i < rules.size(); ++i) {
    const RuleCase& c = kCases[i];
    SCOPED_TRACE(c.rule);
    EXPECT_EQ(rules[i].name, c.rule);
    Observation o = Observed();
    c.change(o);
    auto first = std::find_if(rules.begin(), rules.end(),
                              [&](const StepRule& rule) { return rule.AppliesTo(o) && rule.next(o).has_value(); });
    EXPECT_EQ(first->name, c.rule);
    EXPECT_EQ(StepName(Decide(o)), c.step);
  }
}

// X2: clusters still need what it does, so it is kept as it was applied; a change of its inputs waits with it.
TEST(Decide, ADeletionThatWaitsKeepsWhatRuns) {
  Observation o = Observed();
  o.provider.status.applied = o.rendered = InputsDigest(o);
  o.provider.deleting = true;
  o.users = {"AWSMachine default/a"};
  EXPECT_EQ(StepName(Decide(o)), "Hold");
  o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
  Step step = Decide(o);
  ASSERT_EQ(StepName(step), "Restore");
  EXPECT_EQ(std::get<Restore>(step).hold->reason, api::reason::kInUse);
  o.rendered = "";
  step = Decide(o);
  ASSERT_EQ(StepName(step), "Restore") << "after a restart it is rendered again";
  EXPECT_EQ(std::get<Restore>(step).hold->reason, api::reason::kInUse);
  o.provider.spec.version = "v1.13.0";
  EXPECT_EQ(StepName(Decide(o)), "Restore") << "what is applied is kept, whatever is asked for";
  o.spec_digest = "another spec";
  EXPECT_EQ(StepName(Decide(o)), "Hold") << "with which nobody knows what was applied";
}

}  // namespace
}  // namespace capi::ops
