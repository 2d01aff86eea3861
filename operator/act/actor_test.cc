#include "operator/act/actor.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "fetch/oci/oci_testing.h"
#include "operator/act/actor_testing.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Observation Unmigrated(const std::string& provider, const std::string& crd) {
  Observation o = testing::Observed();
  o.provider.id.name = provider;
  o.fleet.unmigrated.emplace_back().name = crd;
  return o;
}

// P4, P1: hands off and a pause stop a migration that was asked for; what else is done doesn't.
TEST_F(ActorTest, WhatHandsAreOffMigratesNothing) {
  struct Case {
    std::string_view name;
    Step step;
    bool paused, migrates;
  };
  const Case cases[] = {
      {"hands off", HandsOff{}, false, false},
      {"a pause", Steady{}, true, false},
      {"nothing to do", Steady{}, false, true},
      {"a deletion at zero says what has to run", Migrate{}, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Unmigrated("aws", "things.x"), other = Unmigrated("last", "zebras.x");
    ASSERT_TRUE(Act(o, Migrate{}).ok());
    o.provider.spec.paused = c.paused;
    ASSERT_TRUE(Act(o, c.step).ok());
    ASSERT_TRUE(Act(other, Migrate{}).ok());
    auto asked = MigrateUntil(other.provider.id.Key());
    if (c.migrates) {
      EXPECT_THAT(asked, ElementsAre("things.x", "zebras.x"));
    } else {
      EXPECT_THAT(asked, ElementsAre("zebras.x"));
    }
    actor_->Forget(o.provider.id.Key());
    actor_->Forget(other.provider.id.Key());
    MutexLock lock(mu_);
    asked_.clear();
    woken_.clear();
  }
}

// X1, F5: how the migration stands is what the worker says now, not what was seen when the pass began.
TEST_F(ActorTest, ADeletionTellsHowAMigrationStandsNow) {
  Observation o = Unmigrated("aws", "things.x");
  o.provider.deleting = true;
  o.fleet.unmigrated[0].migration = {.objects = 7, .error = Error{Code::kInternal, "once", {}}, .next = Millis(0)};
  auto acted = Act(o, Migrate{});
  ASSERT_TRUE(acted.ok() && *acted);
  ASSERT_TRUE((*acted)->hold);
  EXPECT_EQ((*acted)->hold->reason, "MigratingStorage");
  EXPECT_EQ((*acted)->hold->retry, Retry::kWaiting);
  EXPECT_FALSE((*acted)->again_after);
}

// I7: its Secrets are read while they are there. When the last pass is told of, the provider itself may be gone.
TEST_F(ActorTest, ARemovalLearnsWhatIsSecretFirst) {
  Json object = {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                 {"kind", "InfrastructureProvider"},
                 {"metadata", {{"name", "aws"}, {"namespace", "aws-system"}, {"uid", "u"}, {"resourceVersion", "1"}}},
                 {"spec", {{"configSecret", {{"name", "variables"}}}}}};
  cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(object));
  Observation o = testing::Observed();
  o.provider.deleting = true;
  ASSERT_TRUE(Act(o, Remove{}).ok());
  EXPECT_TRUE(masks_.Knows(o.provider.id.Key()));
  MutexLock lock(mu_);
  ASSERT_FALSE(asked_.empty());
  EXPECT_EQ(asked_.front(), "variables");
}

// I7: pods of a rollout that isn't through run with a Secret's former value, and what they say is told.
TEST_F(ActorTest, AFormerValueIsSecretUntilTheRolloutHasEnded) {
  Observation o = testing::Observed();
  const std::string key = o.provider.id.Key();
  for (const char* value : {"token-one", "token-two"}) {
    auto values = std::make_shared<SecretValues>();
    values->Add(value);
    masks_.Add(key, *values);
    masks_.ApplyBegins(key, values);
    masks_.ApplyEnds(key);
  }
  o.provider.status.applied = "x";
  o.provider.status.history.emplace_back().outcome = api::outcome::kRollingOut;
  ASSERT_TRUE(Act(o, Steady{}).ok());
  EXPECT_EQ(masks_.Hide(key, "token-one token-two"), "*** ***");
  o.provider.status.history.front().outcome = api::outcome::kSucceeded;
  ASSERT_TRUE(Act(o, Steady{}).ok());
  EXPECT_EQ(masks_.Hide(key, "token-one token-two"), "token-one ***");
}

// F1: what has to be written first, and is refused, is an error of the pass that says what it was.
TEST_F(ActorTest, AFinalizerThatIsRefusedIsAnError) {
  Json object = {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                 {"kind", "InfrastructureProvider"},
                 {"metadata", {{"name", "aws"}, {"namespace", "aws-system"}, {"uid", "u"}, {"resourceVersion", "1"}}},
                 {"spec", Json::object()}};
  cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(object));
  {
    MutexLock lock(mu_);
    refuse_ = true;
  }
  Observation o = testing::Observed();
  auto acted = Act(o, AddFinalizer{});
  ASSERT_FALSE(acted.ok());
  EXPECT_EQ(acted.code(), Code::kPermissionDenied);
  EXPECT_THAT(acted.error().message, HasSubstr("setting the finalizer"));
}

// U5: a pass that took half a minute made the rollout's deadline half a minute late, and the first look at its pods.
TEST_F(ActorTest, ARolloutIsWaitedForUntilItsDeadline) {
  struct Case {
    std::string_view name;
    Millis left, elapsed, took, again;
  };
  const Case cases[] = {
      {"the deadline comes first", Seconds(40), Seconds(60), Seconds(30), Seconds(10)},
      {"it has passed", Seconds(20), Seconds(60), Seconds(30), Seconds(0)},
      {"pods are looked at again", Seconds(300), Seconds(60), Seconds(30), Seconds(15)},
      {"pods are looked at", Seconds(300), Seconds(1), Seconds(2), Seconds(2)},
      {"that is due", Seconds(300), Seconds(1), Seconds(30), Seconds(0)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = testing::Observed();
    o.now = SystemClock().Now() - c.took;
    auto acted = Act(o, Await{c.left, c.elapsed});
    ASSERT_TRUE(acted.ok() && *acted && (*acted)->again_after);
    EXPECT_LE(*(*acted)->again_after, c.again);
    EXPECT_GE(*(*acted)->again_after, c.again - Seconds(5)) << "this machine may be slow";
  }
}

// I3: what is known of newer versions is for the metrics alone. A status waited for the source.
TEST_F(ActorTest, NoStepLooksForNewerVersions) {
  Observation o = testing::Observed();
  o.provider.spec.fetch_config.emplace().selector = Json::object();
  auto steady = Act(o, Steady{});
  ASSERT_TRUE(steady.ok() && *steady);
  {
    MutexLock lock(mu_);
    EXPECT_TRUE(asked_.empty());
  }
  EXPECT_EQ(actor_->NewestVersion(ctx_, o), "");
  MutexLock lock(mu_);
  EXPECT_FALSE(asked_.empty()) << "it reads the releases that there are";
}

// While one source is asked, another provider comes: it is woken when that is over, and not seconds later.
TEST_F(ActorTest, WhoWaitsForATurnIsWoken_T13) {
  fetch::OciStandIn registry({{"v1.12.0", fetch::PlainArtifact()}});
  Sources sources(settings_, {.github = {}, .allowed = {registry.host()}});
  Start(sources);
  Observation first = testing::Observed();
  first.releases.clear();
  first.provider.spec.fetch_config.emplace().oci = registry.reference();
  Observation second = first;
  second.provider.id.name = "azure";
  std::atomic<bool> came = false;
  std::string held;
  registry.set_registry_fault([&](const http::ServerRequest&) {
    if (!came.exchange(true)) {
      auto acted = Act(second, ops::Install{});
      if (acted.ok() && *acted && (*acted)->hold) held = (*acted)->hold->message;
    }
    return std::optional<http::Response>();
  });
  ASSERT_TRUE(Act(first, ops::Install{}).ok());
  EXPECT_THAT(held, HasSubstr("its source isn't asked yet"));
  MutexLock lock(mu_);
  EXPECT_THAT(woken_, ElementsAre(second.provider.id.Key()));
}

TEST_F(ActorTest, SomeStepsWriteNothing) {
  Observation o = testing::Observed();
  const Hold hold{"Ready", "InUse", "a cluster", Retry::kWaiting};
  auto held = Act(o, hold), steady = Act(o, Steady{}), off = Act(o, HandsOff{}), unpause = Act(o, Unpause{});
  ASSERT_TRUE(held.ok() && *held && steady.ok() && *steady && off.ok() && *off && unpause.ok() && *unpause);
  EXPECT_EQ((*held)->hold->message, "a cluster");
  EXPECT_FALSE((*steady)->hold);
  EXPECT_TRUE((*off)->hands_off);
  EXPECT_TRUE((*unpause)->unpausing && (*unpause)->again);
  MutexLock lock(mu_);
  EXPECT_TRUE(asked_.empty());
}

}  // namespace
}  // namespace capi::ops
