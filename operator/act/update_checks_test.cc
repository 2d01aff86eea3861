#include "operator/act/update_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "operator/decide/testing_fleet.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Newer = std::vector<api::AvailableUpgrade>;

Observation Due(const std::string& name) {
  Observation o = testing::Observed();
  o.provider.id.name = name;
  o.provider.status.update_check = api::UpdateCheck{"source"};
  return o;
}

class UpdateChecksTest : public ::testing::Test {
 protected:
  ~UpdateChecksTest() override {
    stop_.request_stop();
    if (worker_.joinable()) worker_.join();
  }
  void Start() {
    worker_ = std::thread([this] { checks_.Run(Context{}.WithStop(stop_.get_token())); });
  }
  void AwaitWoken(size_t count) {
    MutexLock lock(mu_);
    ASSERT_TRUE(changed_.wait_for(mu_, Seconds(30), [&] {
      mu_.AssertHeld();
      return woken_.size() >= count;
    }));
  }
  Result<Newer> Look(const Observation& o) {
    MutexLock lock(mu_);
    looked_.push_back(o.provider.id.name);
    seen_ = o;
    auto answer = answers_.find(o.provider.id.name);
    if (answer == answers_.end()) return Newer{{"v1.13.0", "v1beta2"}};
    auto next = answer->second.front();
    if (answer->second.size() > 1) answer->second.pop_front();
    return next();
  }

  FakeClock clock_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::map<std::string, std::deque<std::function<Result<Newer>()>>> answers_;                   // before Start
  std::function<bool(const std::string&)> may_look_ = [](const std::string&) { return true; };  // the same
  std::vector<std::string> looked_ CAPI_GUARDED_BY(mu_), woken_ CAPI_GUARDED_BY(mu_);
  Observation seen_ CAPI_GUARDED_BY(mu_);  // what the last look was given
  UpdateChecks checks_{{[this](const Context&, const Observation& o) { return Look(o); },
                        [this](const std::string& key) { return may_look_(key); },
                        [this](const std::string& key) {
                          MutexLock lock(mu_);
                          woken_.push_back(api::ProviderId::FromKey(key).name);
                          changed_.notify_all();
                        },
                        clock_}};
  std::stop_source stop_;
  std::thread worker_;
};

TEST_F(UpdateChecksTest, OneAfterTheOtherAndEachOnce_U12) {
  for (const char* name : {"a", "b", "a"}) checks_.Ask(Due(name));
  Start();
  AwaitWoken(2);
  Observation a = Due("a");
  auto found = checks_.FoundFor(a.provider);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->newer, ElementsAre(api::AvailableUpgrade{"v1.13.0", "v1beta2"}));
  EXPECT_EQ(found->source, "source");
  EXPECT_EQ(found->time, clock_.Now());

  checks_.Ask(a);  // what was found isn't told yet
  checks_.Ask(Due("c"));
  AwaitWoken(3);
  a.provider.status.update_check->time = FormatTime(clock_.Now());
  checks_.Ask(a);  // and now it is
  AwaitWoken(4);
  a.provider.status.update_check->time = "";
  checks_.Forget(a.provider.id.Key());
  EXPECT_FALSE(checks_.FoundFor(a.provider));
  MutexLock lock(mu_);
  EXPECT_THAT(looked_, ElementsAre("a", "b", "c", "a"));
}

// Who is gone loses his place in the line, and nobody else.
TEST_F(UpdateChecksTest, WhoIsGoneIsNotLookedAt_U12) {
  for (const char* name : {"a", "b", "c"}) checks_.Ask(Due(name));
  checks_.Forget(Due("b").provider.id.Key());
  Start();
  AwaitWoken(2);
  MutexLock lock(mu_);
  EXPECT_THAT(looked_, ElementsAre("a", "c"));
}

// Sources that hang hold up neither those that don't, nor what needs no source.
TEST_F(UpdateChecksTest, WhoTakesLongComesLast_U12) {
  Observation hung = Due("hung"), selecting = Due("selecting");
  hung.provider.status.conditions.push_back({"UpgradeAvailable", "Unknown", "UpdateCheckFailed", "", 1, ""});
  selecting.provider.spec.fetch_config = api::FetchConfig{};
  selecting.provider.spec.fetch_config->selector = Json::object();
  Observation mended = hung;
  mended.provider.id.name = "mended";
  for (const Observation& one : {mended, hung, Due("a"), selecting, Due("b"), Due("mended")}) checks_.Ask(one);
  Start();
  AwaitWoken(5);
  MutexLock lock(mu_);
  EXPECT_THAT(looked_, ElementsAre("selecting", "a", "b", "mended", "hung"));
}

// A source that fails, and a bug, are what the look came to (F7); and the next provider has its turn.
TEST_F(UpdateChecksTest, WhatFailsIsTold_U12) {
  answers_["away"] = {[]() -> Result<Newer> { return Error{Code::kUnavailable, "no answer", {}}; }};
  answers_["bug"] = {[]() -> Result<Newer> { throw std::runtime_error("out of range"); }};
  for (const char* name : {"away", "bug", "fine"}) checks_.Ask(Due(name));
  Start();
  AwaitWoken(3);
  auto error = [&](const char* name) { return checks_.FoundFor(Due(name).provider)->error; };
  EXPECT_EQ(error("away")->message, "no answer");
  EXPECT_THAT(error("bug")->message, HasSubstr("out of range"));
  EXPECT_FALSE(error("fine"));
}

// I18: whether the Secret with variables is for its source is told by that.
TEST_F(UpdateChecksTest, ALookIsToldItsSource_U12) {
  Observation a = Due("a");
  a.source = "folder /releases";
  a.config_secret = Referenced{{"variables", "ns"}, true, "u/1"};
  checks_.Ask(a);
  Start();
  AwaitWoken(1);
  MutexLock lock(mu_);
  EXPECT_EQ(seen_.source, a.source);
  EXPECT_TRUE(seen_.config_secret);
  EXPECT_FALSE(SourceSecretOf(seen_));
}

// Nobody is looked at who began to change meanwhile.
TEST_F(UpdateChecksTest, WhoChangesIsLeftAlone_U12) {
  may_look_ = [](const std::string& key) { return key != Due("paused").provider.id.Key(); };
  for (const char* name : {"paused", "runs"}) checks_.Ask(Due(name));
  Start();
  AwaitWoken(2);
  MutexLock lock(mu_);
  EXPECT_THAT(looked_, ElementsAre("runs"));
}

// A change ends as the turn comes: whoever asks then is told that it is being looked at, and has to be told that it
// isn't.
TEST_F(UpdateChecksTest, AChangeThatEndsAtItsTurnIsNotMissed_U12) {
  const Observation a = Due("a");
  may_look_ = [&, turns = 0](const std::string&) mutable {
    if (turns++ > 0) return true;
    checks_.Ask(a);
    return false;
  };
  checks_.Ask(a);
  Start();
  AwaitWoken(1);
  checks_.Ask(a);  // the pass that comes of it
  AwaitWoken(2);
  MutexLock lock(mu_);
  EXPECT_THAT(looked_, ElementsAre("a"));
}

// A provider is deleted and made anew during a look: what that found isn't its own, and it isn't forgotten either.
TEST_F(UpdateChecksTest, WhoIsMadeAnewIsLookedAtAgain_U12) {
  const Observation a = Due("a");
  answers_["a"] = {[&]() -> Result<Newer> {
                     checks_.Forget(a.provider.id.Key());
                     checks_.Ask(a);
                     return Newer{{"v1.13.0", "v1beta2"}};
                   },
                   []() -> Result<Newer> {
                     return Newer{{"v1.14.0", "v1beta2"}};
                   }};
  checks_.Ask(a);
  Start();
  AwaitWoken(1);
  EXPECT_FALSE(checks_.FoundFor(a.provider));
  checks_.Ask(a);
  AwaitWoken(2);
  auto found = checks_.FoundFor(a.provider);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->newer, ElementsAre(api::AvailableUpgrade{"v1.14.0", "v1beta2"}));
}

// What was found counts once: not again where the next version failed, and this one came back.
TEST_F(UpdateChecksTest, WhatIsToldOrOfAnotherSourceIsForgotten_U12) {
  for (bool told : {true, false}) {
    Observation a = Due(told ? "told" : "other");
    checks_.Ask(a);
    if (told) Start();
    AwaitWoken(told ? 1 : 2);
    EXPECT_TRUE(checks_.FoundFor(a.provider));
    Observation then = a;
    if (told) then.provider.status.update_check->time = FormatTime(clock_.Now());
    if (!told) then.provider.status.update_check->source = "another";
    EXPECT_FALSE(checks_.FoundFor(then.provider)) << told;
    EXPECT_FALSE(checks_.FoundFor(a.provider)) << told;
  }
}

// The clock is set back between two looks: the second one's answer is told all the same.
TEST_F(UpdateChecksTest, AClockThatGoesBackHidesNothing_U12) {
  checks_.Ask(Due("a"));
  Start();
  AwaitWoken(1);
  Observation a = Due("a");
  a.provider.status.update_check->time = FormatTime(clock_.Now() + std::chrono::hours(24));
  EXPECT_TRUE(IsUntold(checks_.FoundFor(a.provider), a.provider.status));
  checks_.Ask(a);  // until it is told, it isn't asked for again
  checks_.Ask(Due("c"));
  AwaitWoken(2);
  a.provider.status.update_check->time = FormatTime(clock_.Now());
  checks_.Ask(a);
  AwaitWoken(3);
  MutexLock lock(mu_);
  EXPECT_THAT(looked_, ElementsAre("a", "c", "a"));
}

}  // namespace
}  // namespace capi::ops
