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

void ByPolicy(Observation& o) {
  api::ProviderStatus& status = o.provider.status;
  o.provider.spec.upgrade_policy.type = api::UpgradeType::kPatch;
  o.declared_version = status.installed_version = "v1.12.0";
  status.contract = "v1beta2";
  status.conditions = {{"Ready", "True", "WorkloadsReady", "", 1, ""}};
  status.available_upgrades = {{"v1.12.2", "v1beta2"}};
}

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
    {"T8.account-exists",
     [](Observation& o) {
       o.provider.spec.paused = true;
       o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
       o.service_account = Referenced{{"applier", "aws-system"}, false, ""};
     },
     "Hold"},
    {"I19.certificates",
     [](Observation& o) {
       o.builtin_certificates = o.provider.deleting = true;
       o.users = {"AWSMachine default/a"};
       o.fleet.certificates = {{{"", "Secret", "aws-system", "cert"}, {.certificate = "serving"}, 3}};
     },
     "Certify"},
    {"I19.hand-over",
     [](Observation& o) {
       o.builtin_certificates = true;
       o.core = nullptr;
       o.provider.status.applied = InputsDigest(o);
       o.inventory.Put({"cert-manager.io", "Certificate", "aws-system", "serving"}, {"v1", "hash", "fields", false});
     },
     "HandOver"},
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
    {"U13.after-failure",
     [](Observation& o) {
       ByPolicy(o);
       o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kFailed)};
       o.provider.spec.version = "v1.12.1";  // as the cache has it
       o.provider.status.history = {{"v1.12.1", "v1beta2", ""}};
       o.provider.status.history[0].outcome = api::outcome::kFailed;
       o.provider.status.history[0].instead_of = "v1.12.0";
     },
     "Upgrade"},
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
    {"I19.failed",
     [](Observation& o) {
       o.provider.status.applied = InputsDigest(o);
       o.certificate_trouble = {Error{Code::kUnavailable, "away", {}}, Seconds(10)};
     },
     "Hold"},
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
    {"U13.policy",
     [](Observation& o) {
       ByPolicy(o);
       o.provider.status.applied = InputsDigest(o);
     },
     "Upgrade"},
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

// T8: what the preflight says of a ServiceAccount, and that it comes before all that is done in anybody's name.
TEST(Decide, AServiceAccountIsThereAndNamedWhereOneIsRequired) {
  Observation o = Observed();
  o.service_account = Referenced{{"applier", "aws-system"}, false, ""};
  Hold hold = std::get<Hold>(Decide(o));
  EXPECT_EQ(hold.reason, api::reason::kServiceAccountNotFound);
  EXPECT_EQ(hold.retry, Retry::kWaiting) << "its watch wakes the provider";
  o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
  o.provider.status.applied = o.rendered = InputsDigest(o);
  EXPECT_EQ(StepName(Decide(o)), "Hold") << "nothing is restored in its name";
  o.provider.deleting = true;
  EXPECT_EQ(StepName(Decide(o)), "Remove") << "with what its bindings still give";
  o.provider.deleting = false;
  o.fleet.drifts.clear();
  o.provider.status.applied = o.rendered = "";
  o.service_account->exists = true;
  EXPECT_EQ(StepName(Decide(o)), "Install");
  o = Observed();
  o.service_account_required = true;
  hold = std::get<Hold>(Decide(o));
  EXPECT_EQ(hold.reason, api::reason::kServiceAccountRequired);
  EXPECT_TRUE(hold.message.starts_with("spec.serviceAccountName: Required value: ")) << hold.message;
  o.spec_error = Error{Code::kInvalidArgument, "spec.manager: must be an object", {}};
  EXPECT_EQ(std::get<Hold>(Decide(o)).reason, api::reason::kInvalidSpec) << "whether there is one can't be read";
  o.provider.deleting = true;
  o.inventory.Put(testing::DeploymentId(), {"v1", "hash", "fields", false});
  EXPECT_EQ(StepName(Decide(o)), "Hold") << "F2";
  o.inventory = {};
  EXPECT_EQ(StepName(Decide(o)), "Remove") << "there is nothing to remove";
}

// T14: the keys are there, and with --require-verified everybody has some, or a digest.
TEST(Decide, KeysAreThereAndVerificationIsAskedForWhereItIsRequired) {
  Observation o = Observed();
  const std::string without = InputsDigest(o);
  o.keys_secret = Referenced{{"keys", "aws-system"}, false, ""};
  Hold hold = std::get<Hold>(Decide(o));
  EXPECT_EQ(hold.reason, api::reason::kSecretNotFound);
  EXPECT_TRUE(hold.message.starts_with("Secret aws-system/keys (spec.fetchConfig.verify.secretRef) doesn't exist"))
      << hold.message;
  EXPECT_EQ(hold.retry, Retry::kWaiting) << "its watch wakes the provider";
  o.keys_secret = Referenced{{"keys", "aws-system"}, true, "u/1"};
  EXPECT_EQ(StepName(Decide(o)), "Install");
  const std::string with = InputsDigest(o);
  EXPECT_NE(with, without);
  o.keys_secret->stamp = "u/2";
  EXPECT_NE(InputsDigest(o), with) << "another set of keys is looked at";
  o.keys_secret.reset();

  o.verification_required = true;
  hold = std::get<Hold>(Decide(o));
  EXPECT_EQ(hold.reason, api::reason::kVerificationRequired);
  EXPECT_TRUE(
      hold.message.starts_with("spec.fetchConfig.verify: Required value: this operator runs with "
                               "--require-verified"))
      << hold.message;
  o.provider.spec.fetch_config.emplace().digest = "sha256:1";
  EXPECT_NE(std::get<Hold>(Decide(o)).reason, api::reason::kVerificationRequired) << "it is no digest, which is told";
  o.provider.spec.fetch_config->digest = "sha256:" + std::string(64, '0');
  EXPECT_EQ(StepName(Decide(o)), "Install");
  o.provider.spec.fetch_config->digest = "";
  o.provider.spec.fetch_config->verify = api::VerifySpec{"cosign", {"keys", "aws-system"}};
  EXPECT_EQ(StepName(Decide(o)), "Install");
  o.provider.spec.fetch_config.reset();
  o.provider.deleting = true;
  EXPECT_NE(StepName(Decide(o)), "Hold") << "what is there can go";
}

// T8: nothing is restored, scaled or removed in the operator's own name either.
TEST(Decide, WhoRequiresServiceAccountsDoesNothingWithoutOne) {
  Observation o = Observed();
  o.service_account_required = true;
  o.provider.status.applied = o.rendered = InputsDigest(o);
  o.inventory.Put(testing::DeploymentId(), {"v1", "hash", "fields", false});
  o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  for (bool paused : {false, true}) {
    for (bool deleting : {false, true}) {
      o.provider.spec.paused = paused;
      o.provider.deleting = deleting;
      Step step = Decide(o);
      ASSERT_EQ(StepName(step), "Hold") << paused << deleting;
      EXPECT_EQ(std::get<Hold>(step).reason, api::reason::kServiceAccountRequired);
    }
  }
  o.provider.spec.service_account = "applier";
  EXPECT_EQ(StepName(Decide(o)), "Remove");
  o.provider.spec.service_account = "";
  o.inventory = {};
  o.fleet = {};
  EXPECT_EQ(StepName(Decide(o)), "Remove") << "there is nothing to remove";
}

// U5, D1: a rollback may wait for rights for long; what runs is kept meanwhile.
TEST(Decide, WhatDriftsBeforeARollbackIsRestored) {
  Observation o = Observed();
  o.releases.push_back(o.releases.front());
  o.releases.back().version_text = "v1.0.0";
  o.releases.back().version = *api::Version::Parse("v1.0.0");
  const std::string inputs = InputsDigest(o);
  o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
  api::HistoryEntry failing{.version = o.provider.spec.version, .contract = "v1beta1", .digest = ""};
  failing.outcome = api::outcome::kRollingOut;
  failing.inputs = inputs;
  failing.started = FormatTime(o.now - std::chrono::minutes(11));
  o.provider.status.history = {failing, {.version = "v1.0.0", .contract = "v1beta1", .digest = ""}};
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  o.fleet.drifts = {{{"", "Service", "aws-system", "s"}, false, {}, {}}};
  o.rendered = inputs;
  Step step = Decide(o);
  ASSERT_EQ(StepName(step), "Install");
  EXPECT_EQ(std::get<Install>(step).rollback_to, "v1.0.0");
  EXPECT_EQ(std::get<Install>(step).drifts.size(), 1u);
  o.provider.status.history[0].outcome = api::outcome::kRollingBack;
  step = Decide(o);
  ASSERT_EQ(StepName(step), "Install");
  EXPECT_TRUE(std::get<Install>(step).drifts.empty()) << "it has begun, and sends it";
}

}  // namespace
}  // namespace capi::ops
