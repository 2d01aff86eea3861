#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/decide.h"
#include "operator/decide/rules.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

Observation Deleted(api::ProviderType type) {
  Observation o = testing::Observed();
  if (type == api::ProviderType::kCore) {
    o.siblings = {std::make_shared<api::Provider>(o.provider)};
    o.provider = *o.core;
  }
  o.provider.deleting = true;
  return o;
}

// X1, P3: it says what would be lost, and how to delete it all the same.
TEST(DeletionRules, HoldWhatNobodyCouldReadAnyMore) {
  Observation o = Deleted(api::ProviderType::kInfrastructure);
  CrdState crd;
  crd.name = "machines.x.example";
  EXPECT_FALSE(MigrationHold(o));
  crd.migration.objects = 40;
  o.fleet.unmigrated = {crd};
  EXPECT_EQ(MigrationHold(o)->retry, Retry::kWaiting);
  EXPECT_THAT(MigrationHold(o)->message, HasSubstr("40 so far"));
  o.fleet.unmigrated[0].migration.error = Error{Code::kInvalidArgument, "no endpoints available", {}};
  o.fleet.unmigrated[0].migration.next = std::chrono::minutes(1);
  Hold hold = *MigrationHold(o);
  EXPECT_EQ(hold.condition, "Ready");
  EXPECT_EQ(hold.reason, api::reason::kStorageMigrationFailed);
  EXPECT_THAT(hold.message, HasSubstr("machines.x.example"));
  EXPECT_THAT(hold.message, HasSubstr("no endpoints available"));
  EXPECT_THAT(hold.message, HasSubstr("force-delete"));
  EXPECT_EQ(hold.retry, Retry::kAt);
  EXPECT_EQ(hold.after, std::chrono::minutes(1));
  o.fleet.unmigrated[0].migration.next.reset();
  EXPECT_EQ(MigrationHold(o)->retry, Retry::kWaiting) << "it is being tried: the worker says when it ended (F5)";
  EXPECT_THAT(MigrationHold(o)->message, HasSubstr("no endpoints available"));
}

TEST(DeletionRules, SayWhatStandsInTheWay) {
  using enum api::ProviderType;
  struct Case {
    std::string name;
    api::ProviderType type;
    void (*change)(Observation&);
    std::string_view reason;  // "" where it is removed
    std::string message;
    Retry retry = Retry::kWaiting;
  };
  const Case cases[] = {
      {"X1 nothing does", kInfrastructure, [](Observation&) {}, "", ""},
      {"X2 objects of clusters", kInfrastructure, [](Observation& o) { o.users = {"AWSMachine default/a"}; },
       api::reason::kInUse, "use it: AWSMachine default/a;"},
      {"X2 only the first are named", kInfrastructure,
       [](Observation& o) { o.users = {"A a/1", "A a/2", "A a/3", "A a/4", "A a/5", "A a/6"}; }, api::reason::kInUse,
       "use it: A a/1, A a/2, A a/3, A a/4, A a/5 and more;"},
      {"X3 other providers", kCore, [](Observation&) {}, api::reason::kDeletionBlocked, "InfrastructureProvider/aws"},
      {"X3 Clusters", kCore,
       [](Observation& o) {
         o.siblings.clear();
         o.users = {"Cluster default/mine"};
       },
       api::reason::kDeletionBlocked, "Cluster default/mine"},
      {"X3 alone it goes", kCore, [](Observation& o) { o.siblings.clear(); }, "", ""},
      {"X3 a second core object needs nobody", kCore,
       [](Observation& o) { o.siblings = {std::make_shared<api::Provider>(testing::NewCore())}; }, "", ""},
      {"P3 what can't be read isn't nothing", kInfrastructure,
       [](Observation& o) {
         o.users_error = Error{Code::kUnavailable, "storage is (re)initializing", {}};
       },
       api::reason::kInUse, "can't tell whether clusters use this provider", Retry::kBackoff},
      {"X4 an annotation overrides X2", kInfrastructure,
       [](Observation& o) {
         o.users = {"AWSMachine default/a"};
         o.provider.annotations["operator.cluster.x-k8s.io/force-delete"] = "true";
       },
       "", ""},
      {"X4 and X3", kCore,
       [](Observation& o) { o.provider.annotations["operator.cluster.x-k8s.io/force-delete"] = "true"; }, "", ""},
      {"X4 with any other value it doesn't", kCore,
       [](Observation& o) { o.provider.annotations["operator.cluster.x-k8s.io/force-delete"] = "yes"; },
       api::reason::kDeletionBlocked, "force-delete"},
      {"X5 in a Namespace that is going nothing is guarded", kInfrastructure,
       [](Observation& o) {
         o.users = {"AWSMachine default/a"};
         o.namespace_going = true;
       },
       "", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Deleted(c.type);
    c.change(o);
    Step step = Decide(o);
    if (c.reason.empty()) {
      EXPECT_TRUE(std::holds_alternative<Remove>(step));
      continue;
    }
    ASSERT_TRUE(std::holds_alternative<Hold>(step));
    const Hold& hold = std::get<Hold>(step);
    EXPECT_EQ(hold.condition, api::condition::kReady);
    EXPECT_EQ(hold.reason, c.reason);
    EXPECT_THAT(hold.message, HasSubstr(c.message));
    EXPECT_THAT(hold.message, HasSubstr("operator.cluster.x-k8s.io/force-delete")) << "the way out is named";
    EXPECT_EQ(hold.retry, c.retry);
  }
}

// F7, X3: providers of a kind that can't be listed may need the core, which is its business alone.
TEST(DeletionRules, TheCoreStaysWhileProvidersMayBeUnseen) {
  Observation core = Deleted(api::ProviderType::kCore), other = Deleted(api::ProviderType::kInfrastructure);
  core.siblings.clear();
  EXPECT_EQ(testing::StepName(Decide(core)), "Remove");
  core.unlisted = other.unlisted = {"AddonProvider"};
  EXPECT_EQ(testing::StepName(Decide(other)), "Remove");
  Step step = Decide(core);
  ASSERT_EQ(testing::StepName(step), "Hold");
  const Hold& hold = std::get<Hold>(step);
  EXPECT_EQ(hold.reason, api::reason::kDeletionBlocked);
  EXPECT_THAT(hold.message, HasSubstr("whether there are any of these kinds can't be told: AddonProvider"));
  EXPECT_THAT(hold.message, HasSubstr("force-delete"));
  EXPECT_EQ(hold.retry, Retry::kBackoff) << "no event tells that they can be listed";
}

// X2, D1: an API server that faltered in the middle of a removal made the provider "in use": what it restored then was
// removed again, over and over.
TEST(DeletionRules, ARemovalThatBeganIsNotUndone) {
  for (const char* said : {"Deleting", "DeletionFailed"}) {
    SCOPED_TRACE(said);
    Observation o = Deleted(api::ProviderType::kInfrastructure);
    o.users_error = Error{Code::kUnavailable, "storage is (re)initializing", {}};
    o.provider.status.conditions = {{"Ready", "False", said, "", 1, ""}};
    o.provider.status.applied = o.rendered = "inputs";
    o.fleet.drifts = {{{"", "ServiceAccount", "ns", "gone"}, true, {}, {}}};
    Step step = Decide(o);
    ASSERT_TRUE(std::holds_alternative<Hold>(step)) << testing::StepName(step);
    const Hold& hold = std::get<Hold>(step);
    EXPECT_EQ(hold.reason, api::reason::kDeletionFailed) << "by which the next pass knows it";
    EXPECT_EQ(hold.retry, Retry::kBackoff);
    o.provider.spec.paused = true;
    o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
    EXPECT_EQ(testing::StepName(Decide(o)), "Hold") << "nor is what is left of it scaled";
    o.provider.spec.paused = false;
    // Who is known to use it is another matter.
    o.users_error.reset();
    o.users = {"AWSMachine default/a"};
    step = Decide(o);
    EXPECT_TRUE(std::holds_alternative<Restore>(step)) << testing::StepName(step);
  }
}

// X2, X3: who isn't deleted, or was let go already, has no guard; nor does anybody but the core hold for the others.
TEST(DeletionRules, GuardADeletionAlone) {
  Observation o = Deleted(api::ProviderType::kInfrastructure);
  EXPECT_TRUE(GuardsDeletion(o));
  o.provider.has_finalizer = false;
  EXPECT_FALSE(GuardsDeletion(o));
  o.provider.has_finalizer = true;
  o.provider.deleting = false;
  EXPECT_FALSE(GuardsDeletion(o));
  auto other = testing::NewProvider(api::ProviderType::kInfrastructure, "docker");
  o.siblings = {std::make_shared<api::Provider>(other)};
  EXPECT_FALSE(DeletionRules().front().check(o));
}

// X2: at zero replicas it lets no cluster go.
TEST(DeletionRules, AskForAPausedManager) {
  Observation o = Deleted(api::ProviderType::kInfrastructure);
  o.users = {"AWSMachine default/a"};
  for (bool paused : {false, true}) {
    o.provider.spec.paused = paused;
    auto hold = DeletionRules().back().check(o);
    ASSERT_TRUE(hold.has_value());
    EXPECT_EQ(hold->message.find("set spec.paused to false") != std::string::npos, paused) << hold->message;
  }
}

// U11: what can't be looked for is named; and who may have to run for it.
TEST(DeletionRules, NameWhatNobodyCanRead) {
  Observation o = Deleted(api::ProviderType::kInfrastructure);
  Hold hold = UnreadHold(o, {"gadgets.test.example (no endpoints)"});
  EXPECT_EQ(hold.reason, api::reason::kDeletionBlocked);
  EXPECT_THAT(hold.message, HasSubstr("gadgets.test.example (no endpoints)"));
  EXPECT_THAT(hold.message, HasSubstr("force-delete"));
  EXPECT_EQ(hold.message.find("by hand"), std::string::npos);
  EXPECT_EQ(hold.retry, Retry::kPolled) << "F5: no event tells that they can be read";
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  o.fleet.workloads[0].former = "1";
  EXPECT_THAT(UnreadHold(o, {"x"}).message, HasSubstr("capa-controller-manager up by hand"));
}

// C5, X2: one that waits at zero for a contract of its own never lets a cluster go; nobody said what to do then.
TEST(DeletionRules, SayHowOneThatIsHeldAtZeroRunsAgain) {
  Observation o = Deleted(api::ProviderType::kInfrastructure);
  o.users = {"AWSMachine default/a"};
  api::ProviderStatus& status = o.provider.status;
  status.installed_version = "v1.9.0";
  status.contract = "v1beta1";
  status.desired_version = o.provider.spec.version;
  status.desired_contract = "v1beta2";
  status.conditions = {{"Paused", "True", "Paused", "", 1, ""}};
  auto hold = DeletionRules().back().check(o);
  ASSERT_TRUE(hold.has_value());
  EXPECT_THAT(hold->message, HasSubstr("it has to run again, for they can't go without it"));
  EXPECT_THAT(hold->message, HasSubstr("set spec.version back to v1.9.0"));
  status.conditions.clear();
  EXPECT_EQ(DeletionRules().back().check(o)->message.find("run again"), std::string::npos);
}

}  // namespace
}  // namespace capi::ops
