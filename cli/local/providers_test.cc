#include "cli/local/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/testing/value_or_abort.h"
#include "cli/api_testing.h"
#include "cli/local/lock_holder_testing.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using enum api::ProviderType;
using testing::ElementsAre;
using testing::HasSubstr;

PresentProvider Of(api::ProviderType type, const std::string& name, const std::string& recorded) {
  PresentProvider out;
  out.provider = {type, name, name + "-system", "v1.0.0"};
  out.has_object = true;
  out.recorded = recorded;
  return out;
}

// G2: the same command again leaves what it has installed as it is, whatever was released since, and needs no network.
TEST(TakeInstalled, IsWhatIsThereAtThatVersionOrAtWhichever) {
  PresentProvider going = Of(kIpam, "going", "v1.0.0");
  going.deleting = true;
  PresentProvider led = Of(kInfrastructure, "led", "v1.0.0");
  led.led_from = "v0.9.0";
  const std::vector<PresentProvider> present = {Of(kCore, "cluster-api", "v1.0.0"),
                                                Of(kInfrastructure, "aws", "v1.0.0"), led,
                                                Of(kInfrastructure, "half", ""), going};
  ProviderFlags flags = {{kInfrastructure,
                          {"AWS", "aws:v1.0.0", "aws:v1.1.0", "half", "half:v1.0.0", "docker", "not a name",
                           "led:v0.9.0", "led:v1.0.0", "led:v0.8.0"}},
                         {kBootstrap, {"aws"}},
                         {kIpam, {"going"}}};
  TakeInstalled(present, flags);
  EXPECT_THAT(flags[kInfrastructure],
              ElementsAre("aws:v1.1.0", "half", "half:v1.0.0", "docker", "not a name", "led:v0.8.0"));
  EXPECT_THAT(flags[kBootstrap], ElementsAre("aws"));
  EXPECT_THAT(flags[kIpam], ElementsAre("going"));
}

// A first `up` that was broken off goes on as init does: the types that it named have no default.
TEST(TakeInstalled, IsNothingBeforeThereIsACore) {
  ProviderFlags flags = {{kBootstrap, {"rke2"}}};
  TakeInstalled({Of(kCore, "cluster-api", ""), Of(kBootstrap, "rke2", "v1.0.0")}, flags);
  EXPECT_THAT(flags[kBootstrap], ElementsAre("rke2"));
}

// G1.
TEST(AwaitedOf, IsWhatThisRunNamesAndTheRest) {
  PresentProvider going = Of(kIpam, "going", "v1.0.0"), recorded = Of(kAddon, "recorded", "v1.0.0");
  going.deleting = true;
  recorded.has_object = false;
  AskedProviders asked;
  asked.flags = {{kInfrastructure, {"AWS:v1.0.0", "docker"}}, {kBootstrap, {"gcp"}}};
  asked.declared.ids = {{kControlPlane, "rke2-system", "rke2"}, {kCore, "elsewhere", "cluster-api"}};
  const AwaitedProviders got =
      AwaitedOf({Of(kCore, "cluster-api", "v1.0.0"), Of(kInfrastructure, "aws", "v1.0.0"),
                 Of(kInfrastructure, "gcp", ""), Of(kControlPlane, "rke2", ""), going, recorded},
                asked);
  EXPECT_THAT(got.named, ElementsAre(api::ProviderId{kInfrastructure, "aws-system", "aws"},
                                     api::ProviderId{kControlPlane, "rke2-system", "rke2"}));
  EXPECT_THAT(got.others, ElementsAre(api::ProviderId{kCore, "cluster-api-system", "cluster-api"},
                                      api::ProviderId{kInfrastructure, "gcp-system", "gcp"}));
}

// Time goes by as fast as somebody waits.
class JumpingClock : public FakeClock {
 public:
  bool WaitUntil(std::condition_variable_any&, Mutex&, const std::stop_token&, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    Advance(std::max(Millis(1), std::chrono::ceil<Millis>(deadline - Monotonic())));
    return ready();
  }
};

class AwaitTest : public testing::Test {
 protected:
  AwaitTest() {
    ctx_.clock = &clock_;
    supervisor_.Hold(plane_.Lock(), local::PlaneLock::Who::kSupervisor);
  }
  static Answer Provider(const char* ready, bool stalled) {
    return {200, fmt::format(R"({{"apiVersion":"operator.cluster.x-k8s.io/v1alpha2","kind":"InfrastructureProvider",)"
                             R"("metadata":{{"name":"x","namespace":"ns","generation":1}},"spec":{{}},"status":{{)"
                             R"("observedGeneration":1,"conditions":[{{"type":"Ready","status":"{}","reason":"Why",)"
                             R"("message":"so"}},{{"type":"Stalled","status":"{}"}}]}}}})",
                             ready, stalled ? "True" : "False")};
  }
  static std::string Get(const std::string& name) {
    return "/apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/ns/infrastructureproviders/" + name + " ";
  }
  static FakeApi Api(std::map<std::string, std::vector<Answer>> answers, const std::string& deployment = "") {
    answers["/apis/apps/v1/deployments?"] = {{200, R"({"items":[)" + deployment + "]}"}};
    answers["/apis/apps/v1/namespaces/capi-operator-system/deployments?"] =
        answers["/api/v1/pods"] = {{200, R"({"items":[]})"}};
    return FakeApi(std::move(answers));
  }
  auto Others(FakeApi& api, const std::vector<std::string>& names) {
    return AwaitOthers(ctx_, api.client(), plane_, Ids(names), Seconds(300), lines_);
  }
  static std::vector<api::ProviderId> Ids(const std::vector<std::string>& names) {
    std::vector<api::ProviderId> out;
    for (const std::string& name : names) out.push_back({kInfrastructure, "ns", name});
    return out;
  }

  TestFolder temp_;
  local::PlaneFolder plane_ = ValueOrAbort(local::PlaneFolder::Make(temp_ / "plane"), "plane");
  LockHolder supervisor_;
  JumpingClock clock_;
  Context ctx_;
  std::ostringstream terminal_;
  LiveLines lines_{terminal_, 0};
};

// G1: one that was rolled back, say, is no reason to fail for an `up` that doesn't name it, and for one that does.
TEST_F(AwaitTest, WhatStalledIsToldAndFailsWhoNamesItAlone) {
  FakeApi api = Api({{Get("back"), {Provider("False", true)}}, {Get("good"), {Provider("True", false)}}});
  const auto told = Others(api, {"back", "gone", "good"});
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_THAT(*told, ElementsAre(HasSubstr("doesn't go on with InfrastructureProvider ns/back: Why: so")));
  const Status named = AwaitNamed(ctx_, api.client(), plane_, Ids({"back"}), Seconds(300), lines_);
  EXPECT_EQ(named.code(), Code::kFailedPrecondition);
  EXPECT_TRUE(AwaitNamed(ctx_, api.client(), plane_, Ids({"good"}), Seconds(300), lines_).ok());
}

// G1: an operator that has just started hasn't looked yet.
TEST_F(AwaitTest, WhatAnEarlierRunHasSaidCountsForNothing) {
  const std::vector<Answer> answers = {Provider("False", true), Provider("False", true), Provider("True", false)};
  FakeApi api = Api({{Get("x"), answers}, {Get("y"), answers}});
  const Status named = AwaitNamed(ctx_, api.client(), plane_, Ids({"x"}), Seconds(300), lines_);
  EXPECT_TRUE(named.ok()) << named.error().message;
  EXPECT_THAT(*Others(api, {"y"}), ElementsAre());
}

// G1: the same for managers that never come up, and for one that goes on for longer than anybody waits.
TEST_F(AwaitTest, WhatIsNotReadyInTimeIsTold) {
  const std::string deployment =
      R"({"metadata":{"name":"m","namespace":"ns","uid":"u","labels":{"cluster.x-k8s.io/provider":"infrastructure-x"}},)"
      R"("spec":{"replicas":1}})";
  FakeApi api = Api({{Get("x"), {Provider("False", false)}}}, deployment);
  const auto told = Others(api, {"x"});
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_THAT(*told, ElementsAre(HasSubstr("the managers aren't ready: ns/m: 0 of 1 Pods"),
                                 HasSubstr("InfrastructureProvider ns/x is not ready")));
  const Status named = AwaitNamed(ctx_, api.client(), plane_, Ids({"x"}), Seconds(300), lines_);
  EXPECT_EQ(named.code(), Code::kDeadlineExceeded);
}

TEST(PassOverPaused, TakesOutWhatIsPausedAndSaysSo) {
  PresentProvider paused = Of(kInfrastructure, "aws", "v1.0.0"), going = Of(kIpam, "going", "v1.0.0");
  paused.held = going.held = going.deleting = true;
  const api::ProviderId core{kCore, "cluster-api-system", "cluster-api"}, ipam{kIpam, "going-system", "going"};
  std::vector<api::ProviderId> ids = {core, {kInfrastructure, "aws-system", "aws"}, ipam};
  std::ostringstream out;
  Notes notes(out);
  PassOverPaused({Of(kCore, "cluster-api", "v1.0.0"), paused, going}, ids, notes);
  EXPECT_THAT(ids, ElementsAre(core, ipam));
  EXPECT_THAT(out.str(), HasSubstr("infrastructure-aws in namespace aws-system is paused"));
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("going")));
}

}  // namespace
}  // namespace capi::cli
