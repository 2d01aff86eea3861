#include "operator/decide/pause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/decide.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/summarize.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using testing::Observed;

constexpr const char* kFormer = "operator.cluster.x-k8s.io/original-replicas";
constexpr const char* kScaledBy = "operator.cluster.x-k8s.io/scaled-by";

Workload Running(std::int64_t replicas = 1) {
  Workload w = testing::NewWorkload(kube::HealthState::kCurrent);
  w.replicas = replicas;
  return w;
}

Workload Paused(const std::string& former = "1") {
  Workload w = Running(0);
  w.former = former;
  w.idle = w.at_zero = true;
  return w;
}

void SayPaused(Observation& o, const char* status = "True", const char* reason = "Paused") {
  o.provider.status.conditions.push_back({"Paused", status, reason, "", 1, "2026-01-01T00:00:00Z"});
}

Observation Installed() {
  Observation o = Observed();
  o.provider.status.installed_version = o.provider.spec.version;
  o.provider.status.contract = "v1beta2";
  o.provider.status.applied = InputsDigest(o);
  o.fleet.workloads = {Running()};
  return o;
}

kube::Object Live(std::int64_t replicas, Json annotations) {
  return kube::Object(
      Json{{"metadata", {{"name", "m"}, {"resourceVersion", "7"}, {"annotations", std::move(annotations)}}},
           {"spec", {{"replicas", replicas}}}});
}

TEST(Pause, IsOnePatchThatCanBeRepeated) {
  struct Row {
    std::string name;
    Json patch, want;
  };
  const Json former = {{kFormer, "3"}};
  const Row cases[] = {
      {"P1 down: the count is kept with it",
       ScaleDownPatch(Live(3, Json::object())),
       {{"metadata", {{"resourceVersion", "7"}, {"annotations", former}}}, {"spec", {{"replicas", 0}}}}},
      {"P1 once: a count that is kept stays",
       ScaleDownPatch(Live(1, former)),
       {{"metadata", {{"resourceVersion", "7"}}}, {"spec", {{"replicas", 0}}}}},
      {"nothing is left to do", ScaleDownPatch(Live(0, former)), nullptr},
      {"a workload that had no pods has none again",
       ScaleDownPatch(Live(0, Json::object())),
       {{"metadata", {{"resourceVersion", "7"}, {"annotations", {{kFormer, "0"}}}}}, {"spec", {{"replicas", 0}}}}},
      {"P1 up: the former count",
       ScaleUpPatch(Live(0, former), std::nullopt),
       {{"metadata", {{"resourceVersion", "7"}, {"annotations", {{kFormer, nullptr}}}}}, {"spec", {{"replicas", 3}}}}},
      {"P1 up: what the spec says now",
       ScaleUpPatch(Live(0, former), 2),
       {{"metadata", {{"resourceVersion", "7"}, {"annotations", {{kFormer, nullptr}}}}}, {"spec", {{"replicas", 2}}}}},
      {"D1 down: an autoscaler's claim is kept with it",
       ScaleDownPatch(Live(3, Json::object()), "hpa"),
       {{"metadata", {{"resourceVersion", "7"}, {"annotations", {{kFormer, "3"}, {kScaledBy, "hpa"}}}}},
        {"spec", {{"replicas", 0}}}}},
      {"and goes when it has it back",
       ScaleUpPatch(Live(3, {{kFormer, "3"}, {kScaledBy, "hpa"}}), std::nullopt),
       {{"metadata", {{"resourceVersion", "7"}, {"annotations", {{kFormer, nullptr}, {kScaledBy, nullptr}}}}},
        {"spec", {{"replicas", 3}}}}},
      {"a count that somebody broke",
       ScaleUpPatch(Live(0, {{kFormer, "many"}}), std::nullopt),
       {{"metadata", {{"resourceVersion", "7"}, {"annotations", {{kFormer, nullptr}}}}}, {"spec", {{"replicas", 1}}}}},
      {"what wasn't paused isn't scaled", ScaleUpPatch(Live(5, Json::object()), 2), nullptr},
  };
  for (const Row& c : cases) EXPECT_EQ(c.patch, c.want) << c.name;
}

TEST(Pause, ACountThatIsNoneIsOne) {
  for (const char* text : {"", "many", "3x", "-3", "99999999999999999999"}) {
    EXPECT_EQ(ScaleUpPatch(Live(0, {{kFormer, text}}), std::nullopt).at("spec"), Json({{"replicas", 1}})) << text;
  }
}

// P1: Deployments and StatefulSets, as far as they are there.
TEST(Pause, IsForWhatHasReplicas) {
  struct Row {
    const char *group, *kind;
    bool exists, scaled;
  };
  const Row cases[] = {{"apps", "Deployment", true, true},
                       {"apps", "StatefulSet", true, true},
                       {"apps", "DaemonSet", true, false},
                       {"example.org", "Deployment", true, false},
                       {"apps", "Deployment", false, false}};
  for (const Row& c : cases) {
    SCOPED_TRACE(std::string(c.group) + " " + c.kind);
    Observation o = Installed();
    o.fleet.workloads[0].id.group = c.group;
    o.fleet.workloads[0].id.kind = c.kind;
    o.fleet.workloads[0].exists = c.exists;
    EXPECT_EQ(HasReplicas(o.fleet.workloads[0].id), c.scaled || !c.exists);
    EXPECT_EQ(ToScaleDown(o).size(), c.scaled ? 1u : 0u);
    EXPECT_EQ(StillRunning(o.fleet, false).empty(), !c.scaled);
    o.fleet.workloads[0].at_zero = true;
    EXPECT_EQ(StillRunning(o.fleet, false), "");
  }
}

// P1: the condition says that it comes back before its workloads do; where it says nothing, these tell.
TEST(Pause, IsOverOnceTheStatusSaysSo) {
  Observation o = Installed();
  o.fleet.workloads = {Paused()};
  EXPECT_TRUE(AppliesAtZero(o));
  SayPaused(o, "False", "Progressing");
  EXPECT_FALSE(AppliesAtZero(o));
  o.provider.status.conditions.clear();
  SayPaused(o, "True", "HandsOff");
  EXPECT_TRUE(AppliesAtZero(o));
}

// I9: spec.deployment is for the one Deployment of a provider, whatever else it has.
TEST(Pause, ADeclaredCountIsForTheOneDeployment) {
  Observation o = Installed();
  o.provider.spec.deployment.emplace().replicas = 2;
  o.fleet.workloads[0].id.name = "webhook";
  EXPECT_EQ(DeclaredReplicas(o, o.fleet.workloads[0].id), 2);
  o.fleet.workloads.push_back(Running());
  EXPECT_EQ(DeclaredReplicas(o, o.fleet.workloads[0].id), std::nullopt) << "the other one is the manager";
  o.fleet.workloads[1].id.kind = "StatefulSet";
  EXPECT_EQ(DeclaredReplicas(o, o.fleet.workloads[0].id), 2);
  EXPECT_EQ(DeclaredReplicas(o, o.fleet.workloads[1].id), std::nullopt);
}

// D1: whoever scaled it before the pause has the claim again, unless the spec declares a count.
TEST(Pause, ReturnsWhatAnAutoscalerClaimed) {
  const Json noted = {{kFormer, "3"}, {kScaledBy, "hpa"}};
  auto claim = ClaimToReturn(Live(0, noted), std::nullopt);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->by, "hpa");
  EXPECT_EQ(claim->replicas, 3);
  EXPECT_FALSE(ClaimToReturn(Live(3, noted), std::nullopt)) << "it has it";
  EXPECT_FALSE(ClaimToReturn(Live(0, noted), 2)) << "the spec says how many";
  EXPECT_FALSE(ClaimToReturn(Live(0, {{kFormer, "3"}}), std::nullopt)) << "nobody's";
}

// Each line: what is seen, and what the pass does about it.
struct Case {
  std::string name;
  void (*change)(Observation&);
  std::string step;
};

void ExpectSteps(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    Observation o = Installed();
    c.change(o);
    Step step = Decide(o);
    std::string got = "other";
    if (auto* scale = std::get_if<Scale>(&step)) got = scale->up ? "up" : "down";
    if (std::holds_alternative<Unpause>(step)) got = "unpause";
    if (std::holds_alternative<Install>(step)) got = "install";
    EXPECT_EQ(got, c.step) << c.name;
  }
}

TEST(Pause, BeginsBeforeEverythingElse) {
  ExpectSteps({
      {"P1 a pause begins", [](Observation& o) { o.provider.spec.paused = true; }, "down"},
      {"P1 where no render is possible: the Secret is gone",
       [](Observation& o) {
         o.provider.spec.paused = true;
         o.config_secret = Referenced{{"s", "aws-system"}, false, ""};
       },
       "down"},
      {"P1 somebody scaled it up meanwhile",
       [](Observation& o) {
         o.provider.spec.paused = true;
         o.fleet.workloads = {Paused()};
         o.fleet.workloads[0].replicas = 1;
       },
       "down"},
      {"our write is on its way",
       [](Observation& o) {
         o.provider.spec.paused = true;
         o.fleet.workloads[0].awaited = true;
       },
       "other"},
      {"P1 it is paused",
       [](Observation& o) {
         o.provider.spec.paused = true;
         o.fleet.workloads = {Paused()};
       },
       "other"},
  });
}

TEST(Pause, EndsInTwoSteps) {
  ExpectSteps({
      {"C5 first the status takes it back",
       [](Observation& o) {
         SayPaused(o);
         o.fleet.workloads = {Paused()};
       },
       "unpause"},
      {"P1 also a pause that didn't get as far as to say so",
       [](Observation& o) {
         SayPaused(o, "False", "Progressing");
         o.fleet.workloads = {Paused()};
       },
       "unpause"},
      {"P1 then the pods come back",
       [](Observation& o) {
         SayPaused(o, "False", "Progressing");
         o.provider.status.applied.clear();
         o.fleet.workloads = {Paused()};
       },
       "up"},
      {"P1 also where a status was lost",
       [](Observation& o) {
         o.provider.status.applied.clear();
         o.fleet.workloads = {Paused()};
       },
       "up"},
      {"P1 then all that the provider has is applied",
       [](Observation& o) {
         o.provider.status.applied.clear();
         o.fleet.workloads = {Running()};
       },
       "install"},
  });
}

// C4, C5: and not before it may.
TEST(Pause, EndsWhenItMay) {
  ExpectSteps({
      {"C5 but not before its contract is known again",
       [](Observation& o) {
         o.fleet.workloads = {Paused()};
         o.left_behind = true;
       },
       "other"},
      {"P1 its workloads were deleted meanwhile",
       [](Observation& o) {
         SayPaused(o);
         o.fleet.workloads = {Paused()};
         o.fleet.workloads[0].exists = false;
       },
       "unpause"},
      {"P4 hands off",
       [](Observation& o) {
         o.provider.spec.paused = true;
         o.provider.annotations["cluster.x-k8s.io/paused"] = "";
       },
       "other"},
      {"a spec that can't be read says nothing of a pause",
       [](Observation& o) {
         o.spec_error = Error{Code::kInvalidArgument, "spec", {}};
         o.fleet.workloads = {Paused()};
       },
       "other"},
      {"C4 a new version whose contract isn't known yet is looked at first",
       [](Observation& o) {
         SayPaused(o);
         o.fleet.workloads = {Paused()};
         o.provider.spec.version = "v1.13.0";
       },
       "install"},
      {"and doesn't hold the pods back when it can't be told",
       [](Observation& o) {
         SayPaused(o);
         o.fleet.workloads = {Paused()};
         o.provider.spec.version = o.provider.status.desired_version = "v1.13.0";
       },
       "unpause"},
      {"C4 another contract is installed at zero",
       [](Observation& o) {
         SayPaused(o);
         o.fleet.workloads = {Paused()};
         o.provider.spec.version = o.provider.status.desired_version = "v1.13.0";
         o.provider.status.desired_contract = "v1beta1";
       },
       "install"},
  });
}

// P2: Ready says Paused, the condition says since when, and nothing is stuck.
TEST(Pause, IsReported) {
  Observation o = Installed();
  o.provider.spec.paused = true;
  auto condition = [&](std::string_view type) { return kube::FindCondition(o.provider.status.conditions, type); };

  o.provider.status = Summarize(o, Done{});
  EXPECT_EQ(condition("Paused")->status, "False") << "pods are left";
  EXPECT_THAT(condition("Paused")->message, HasSubstr("capa-controller-manager"));

  o.fleet.workloads = {Paused()};
  o.now += Seconds(60);
  o.provider.status = Summarize(o, Done{});
  EXPECT_EQ(condition("Paused")->status, "True");
  EXPECT_EQ(condition("Paused")->last_transition_time, FormatTime(o.now));
  EXPECT_EQ(condition("Ready")->status + condition("Ready")->reason, "FalsePaused");
  EXPECT_EQ(condition("Reconciling")->status + condition("Reconciling")->reason, "TruePaused");
  EXPECT_EQ(condition("ProviderInstalled")->status, "True") << "healthy at zero is installed";
  EXPECT_EQ(condition("Stalled"), nullptr);
  EXPECT_EQ(condition("ContractCompatible")->status, "True");

  o.provider.spec.paused = false;
  Done unpausing;
  unpausing.unpausing = true;
  o.provider.status = Summarize(o, unpausing);
  EXPECT_EQ(condition("Paused")->status, "False");
  EXPECT_EQ(condition("Ready")->status, "False");
  EXPECT_EQ(o.provider.status.applied, "") << "the counts of the pause aren't applied";

  o.fleet.workloads = {Running()};
  Done again;
  again.applied = "inputs";
  o.provider.status = Summarize(o, again);
  EXPECT_EQ(condition("Paused"), nullptr);
  EXPECT_EQ(condition("Ready")->status, "True");
  EXPECT_EQ(condition("Reconciling"), nullptr);
}

// C5: everything is done, and it still may not come back.
TEST(Pause, StaysAtZeroAndSaysForWhom) {
  Observation o = Installed();
  SayPaused(o);
  o.fleet.workloads = {Paused()};
  api::Provider left = testing::NewProvider(api::ProviderType::kInfrastructure, "docker");
  left.status.contract = "v1alpha4";
  left.status.conditions = o.provider.status.conditions;
  o.siblings.push_back(std::make_shared<api::Provider>(left));
  Step step = Decide(o);
  ASSERT_TRUE(std::holds_alternative<Hold>(step));
  const Hold& hold = std::get<Hold>(step);
  EXPECT_EQ(hold.reason, api::reason::kWaitingForContracts);
  EXPECT_EQ(hold.retry, Retry::kWaiting);
  EXPECT_THAT(hold.message, HasSubstr("InfrastructureProvider docker-system/docker (v1alpha4)"));
  Done done;
  done.hold = hold;
  auto status = Summarize(o, done);
  EXPECT_EQ(kube::FindCondition(status.conditions, "Paused")->status, "True");
  EXPECT_EQ(kube::FindCondition(status.conditions, "Ready")->reason, api::reason::kWaitingForContracts);
}

// P2, C4: what is applied meanwhile is applied at zero, with the count that counts.
TEST(Pause, AppliesAtZeroReplicas) {
  auto deployment = [] {
    return kube::Object(Json{{"apiVersion", "apps/v1"},
                             {"kind", "Deployment"},
                             {"metadata", {{"name", "capa-controller-manager"}, {"namespace", "aws-system"}}},
                             {"spec", {{"replicas", 2}}}});
  };
  Observation o = Installed();
  o.provider.spec.paused = true;
  o.fleet.workloads = {Paused("5")};
  kube::Object live = deployment(), fresh = deployment();
  ZeroReplicas(o, live);
  EXPECT_EQ(live.annotation(kFormer), "5") << "of the live one";
  EXPECT_FALSE(live.has_annotation("operator.cluster.x-k8s.io/scaled-by"));
  o.fleet.workloads[0].scaled_by = "autoscaler";
  ZeroReplicas(o, live);
  EXPECT_EQ(live.annotation("operator.cluster.x-k8s.io/scaled-by"), "autoscaler") << "P1: it gets its claim back";
  EXPECT_EQ(GetInt(live.json(), {"spec", "replicas"}, -1), 0);
  o.fleet.workloads.clear();
  ZeroReplicas(o, fresh);
  EXPECT_EQ(fresh.annotation(kFormer), "2") << "of the release, for a new one";
  EXPECT_TRUE(AppliesAtZero(o));
  o.provider.spec.paused = false;
  EXPECT_FALSE(AppliesAtZero(o));
}

void DeletedButUsed(Observation& o) {
  o.provider.deleting = true;
  o.users = {"AWSMachine default/a"};
  o.fleet.workloads = {Paused()};
}

// X2: what uses it can't go without it, so a deletion that waits for that follows spec.paused as ever.
TEST(Pause, EndsWhileADeletionWaits) {
  ExpectSteps({
      {"paused it stays",
       [](Observation& o) {
         DeletedButUsed(o);
         o.provider.spec.paused = true;
       },
       "other"},
      {"unpaused it runs again", DeletedButUsed, "unpause"},
      {"and a pause begins",
       [](Observation& o) {
         DeletedButUsed(o);
         o.provider.spec.paused = true;
         o.fleet.workloads = {Running()};
       },
       "down"},
      {"what nobody uses isn't started to be removed",
       [](Observation& o) {
         DeletedButUsed(o);
         o.users.clear();
       },
       "other"},
  });
}

// P2, D1: what drifts in a paused provider is restored when it is over; U11: a lost inventory is made anew also then.
TEST(Pause, LeavesDriftUntilItIsOver) {
  Observation o = Installed();
  o.rendered = o.provider.status.applied;
  o.fleet.drifts = {{testing::DeploymentId(), false, {}, {}}};
  EXPECT_TRUE(std::holds_alternative<Restore>(Decide(o)));
  o.fleet.workloads = {Paused()};
  o.provider.spec.paused = true;
  SayPaused(o);
  EXPECT_TRUE(std::holds_alternative<Steady>(Decide(o)));
  o.provider.spec.paused = false;
  EXPECT_TRUE(std::holds_alternative<Unpause>(Decide(o)));
  o.provider.status.conditions.clear();
  o.fleet.workloads = {Running()};
  EXPECT_TRUE(std::holds_alternative<Restore>(Decide(o)));

  o.provider.spec.paused = true;
  o.fleet = {};
  o.inventory_lost = true;
  EXPECT_TRUE(std::holds_alternative<Install>(Decide(o)));
}

// P1: what spec.deployment.replicas now says, where the spec reaches that workload.
TEST(Pause, KnowsWhatTheSpecDeclares) {
  Observation o = Installed();
  kube::ObjectId other{"apps", "Deployment", "aws-system", "webhook"};
  EXPECT_EQ(DeclaredReplicas(o, testing::DeploymentId()), std::nullopt);
  o.provider.spec.deployment.emplace().replicas = 4;
  o.provider.spec.additional_deployments["webhook"].deployment.emplace().replicas = 6;
  EXPECT_EQ(DeclaredReplicas(o, testing::DeploymentId()), 4);
  o.fleet.workloads.push_back(Running());
  EXPECT_EQ(DeclaredReplicas(o, other), 6);
  EXPECT_EQ(DeclaredReplicas(o, {"apps", "StatefulSet", "aws-system", "db"}), std::nullopt);
}

}  // namespace
}  // namespace capi::ops
