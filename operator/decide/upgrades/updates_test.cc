#include "operator/decide/upgrades/updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Observed;

constexpr Millis kHour = std::chrono::hours(1), kTwelve = 12 * kHour;

// Ready at v1.12.0, of contract v1beta2, from the network.
Observation Running() {
  Observation o = Observed();
  o.check_updates = kTwelve;
  o.source = "url https://example.org/core";
  api::ProviderStatus& status = o.provider.status;
  status.installed_version = "v1.12.0";
  status.contract = "v1beta2";
  status.applied = "digest";
  status.conditions = {{"Ready", "True", "WorkloadsReady", "", 1, ""}};
  status.history = {api::HistoryEntry{"v1.12.0", "v1beta2", "sha256:1"}};
  status.history[0].outcome = "Succeeded";
  return o;
}

// With what the last look has found, told.
Observation Knowing(std::vector<api::AvailableUpgrade> upgrades) {
  Observation o = Running();
  SettleUpdates(o.provider.status, o);
  o.provider.status.available_upgrades = std::move(upgrades);
  return o;
}

std::vector<std::string> InWords(const api::ProviderStatus& status) {
  std::vector<std::string> out;
  for (const auto& one : status.available_upgrades) out.push_back(one.version + "/" + one.contract + "/" + one.needs);
  return out;
}

// A look that has just ended.
void Find(Observation& o, std::vector<api::AvailableUpgrade> newer, std::optional<Error> error = std::nullopt) {
  o.updates = UpdatesFound{o.provider.status.update_check->source, o.now, std::move(newer), std::move(error)};
  SettleUpdates(o.provider.status, o);
}

TEST(MayBeChecked, NotWhileItIsChanged_U12) {
  const struct {
    std::string_view what;
    std::function<void(api::Provider&)> change;
    bool may;
  } cases[] = {
      {"it runs", [](api::Provider&) {}, true},
      {"it isn't ready", [](api::Provider& p) { p.status.conditions[0].status = "False"; }, true},
      {"nothing is installed", [](api::Provider& p) { p.status.installed_version = ""; }, false},
      {"deleted", [](api::Provider& p) { p.deleting = true; }, false},
      {"hands off", [](api::Provider& p) { p.annotations["cluster.x-k8s.io/paused"] = ""; }, false},
      {"to be paused", [](api::Provider& p) { p.spec.paused = true; }, false},
      {"at zero still",
       [](api::Provider& p) {
         p.status.conditions.push_back({"Paused", "True", "Paused", "", 1, ""});
       },
       false},
      {"another version is asked for", [](api::Provider& p) { p.spec.version = "v1.13.0"; }, false},
      {"a change is sent", [](api::Provider& p) { p.status.history[0].outcome = "Applying"; }, false},
      {"a change rolls out", [](api::Provider& p) { p.status.history[0].outcome = "RollingOut"; }, false},
      {"it is rolled back", [](api::Provider& p) { p.status.history[0].outcome = "RollingBack"; }, false},
      {"it was rolled back",
       [](api::Provider& p) {
         p.spec.version = p.status.history[0].version = "v1.12.1";
         p.status.history[0].outcome = "RolledBack";
       },
       true},
      {"it was rolled back, and another one is asked for since",
       [](api::Provider& p) {
         p.spec.version = "v1.12.2";
         p.status.history[0].outcome = "RolledBack";
       },
       false},
  };
  for (const auto& c : cases) {
    Observation o = Running();
    SettleUpdates(o.provider.status, o);
    c.change(o.provider);
    EXPECT_EQ(MayBeChecked(o.provider), c.may) << c.what;
    EXPECT_EQ(UpdateCheckIn(o).has_value(), c.may) << c.what;
  }
}

TEST(UpdateChecks, AreSpreadAndSurviveARestart_U12) {
  std::set<Millis> firsts;
  for (int i = 0; i < 50; ++i) {
    Observation o = Running();
    o.provider.id.name = "p" + std::to_string(i);
    SettleUpdates(o.provider.status, o);
    auto in = UpdateCheckIn(o);
    ASSERT_TRUE(in);
    EXPECT_LE(*in, kHour);
    firsts.insert(*in);
    o.now += *in;
    EXPECT_EQ(UpdateCheckIn(o), Millis(0));
    Find(o, {});
    auto next = UpdateCheckIn(o);
    ASSERT_TRUE(next);
    EXPECT_GE(*next, kTwelve - kHour * 2);
    EXPECT_LE(*next, kTwelve + kHour * 2);

    Observation restarted = o;  // what was found isn't known any more, but when
    restarted.updates.reset();
    restarted.now += kHour;
    const api::ProviderStatus before = restarted.provider.status;
    SettleUpdates(restarted.provider.status, restarted);
    EXPECT_EQ(restarted.provider.status, before);
    EXPECT_EQ(UpdateCheckIn(restarted), *next - kHour);
  }
  EXPECT_GT(firsts.size(), 40u);
}

TEST(UpdateChecks, ZeroAsksNoSource_U12) {
  Observation o = Knowing({{"v1.12.1", "v1beta2"}});
  o.check_updates = Millis(0);
  EXPECT_EQ(UpdateCheckIn(o), std::nullopt);
  SettleUpdates(o.provider.status, o);
  EXPECT_FALSE(o.provider.status.update_check);
  EXPECT_THAT(o.provider.status.available_upgrades, IsEmpty()) << "nobody knows whether that is so still";
}

TEST(UpdateChecks, AnotherSourceIsAskedAtOnce_U12) {
  Observation o = Knowing({{"v1.12.1", "v1beta2"}});
  const UpdatesFound old{o.provider.status.update_check->source, o.now, {{"v1.12.1", "v1beta2"}}, {}};
  o.source = "oci registry.example.org/aws";
  o.updates = old;  // of a look that was under way
  SettleUpdates(o.provider.status, o);
  EXPECT_THAT(o.provider.status.available_upgrades, IsEmpty());
  EXPECT_EQ(UpdateCheckIn(o), Millis(0));
}

// Whoever puts a Secret right, or asks for signatures, needn't wait for the next look.
TEST(UpdateChecks, OtherCredentialsAndKeysBringALook_U12_T14) {
  auto named = [](const char* name, const char* stamp) { return Referenced{{name, "aws-system"}, true, stamp}; };
  const struct {
    std::string_view what;
    std::function<void(Observation&)> change;
    bool is_kept;  // what was known
  } cases[] = {
      {"a Secret for the source", [&](Observation& o) { o.source_secret = named("access", "u/1"); }, true},
      {"the Secret with variables, which may have credentials",
       [&](Observation& o) { o.config_secret = named("variables", "u/1"); }, true},
      {"signatures",
       [&](Observation& o) {
         o.provider.spec.fetch_config = api::FetchConfig{};
         o.provider.spec.fetch_config->verify = api::VerifySpec{"cosign", {"keys", "aws-system"}};
       },
       false},
  };
  for (const auto& c : cases) {
    Observation o = Knowing({{"v1.12.1", "v1beta2"}});
    Find(o, {{"v1.12.1", "v1beta2"}});
    c.change(o);
    SettleUpdates(o.provider.status, o);
    EXPECT_EQ(UpdateCheckIn(o), Millis(0)) << c.what;
    EXPECT_EQ(!o.provider.status.available_upgrades.empty(), c.is_kept) << c.what;
    o.now += Seconds(1);
    Find(o, {{"v1.12.1", "v1beta2"}});
    EXPECT_GT(UpdateCheckIn(o), kHour) << c.what;
    for (std::optional<Referenced>* secret : {&o.source_secret, &o.config_secret}) {
      if (*secret) (*secret)->stamp = "u/2";
    }
    if (o.provider.spec.fetch_config) o.keys_secret = named("keys", "u/3");
    SettleUpdates(o.provider.status, o);
    EXPECT_EQ(UpdateCheckIn(o), Millis(0)) << c.what << " in another state";
    EXPECT_FALSE(o.provider.status.available_upgrades.empty()) << c.what;
  }
}

// Variables may change each hour, and say nothing of a source that gets none of them.
TEST(UpdateChecks, VariablesBringNoLookAtWhatGetsNone_U12_T15_I18) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"git", "git https://git.example.org/core "},
      {"a folder on a server", "url https://files.example.org/core/latest/core-components.yaml"},
      {"a folder", "folder /releases"},
  };
  for (const auto& [what, source] : cases) {
    Observation o = Running();
    o.source = source;
    if (what == "git")
      o.provider.spec.fetch_config.emplace().git = api::GitSource{"https://git.example.org/core", "", {}};
    o.config_secret = Referenced{{"variables", "aws-system"}, true, "u/1"};
    SettleUpdates(o.provider.status, o);
    Find(o, {{"v1.12.1", "v1beta2"}});
    const std::string before = o.provider.status.update_check->source;
    o.config_secret->stamp = "u/2";
    SettleUpdates(o.provider.status, o);
    EXPECT_EQ(o.provider.status.update_check->source, before) << what;
    EXPECT_GT(UpdateCheckIn(o), kHour) << what;
  }
  Observation o = Running();
  SettleUpdates(o.provider.status, o);
  const std::string before = o.provider.status.update_check->source;
  o.config_secret = Referenced{{"variables", "aws-system"}, true, "u/1"};
  SettleUpdates(o.provider.status, o);
  EXPECT_NE(o.provider.status.update_check->source, before) << "of GitHub it may have a token";
}

TEST(UpdateChecks, AFailureIsToldAndChangesNothing_U12) {
  Observation o = Knowing({{"v1.12.1", "v1beta2"}});
  o.now += kTwelve;
  Find(o, {}, Error{Code::kUnavailable, "away", {}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.1/v1beta2/"));
  auto next = UpdateCheckIn(o);
  ASSERT_TRUE(next);
  EXPECT_GE(*next, kHour / 2);
  EXPECT_LE(*next, 2 * kHour) << "sooner than after one that came to something";

  o.now += *next;
  Find(o, {}, Error{Code::kRateLimited, "slowly", 5 * kHour});
  EXPECT_EQ(UpdateCheckIn(o), 5 * kHour) << "no earlier than a source asks for";
  o.now += 5 * kHour;
  Find(o, {{"v1.12.2", "v1beta2"}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.2/v1beta2/"));
}

// A person's fault isn't asked for each hour, nor each ten minutes, for ever; an outage is.
TEST(UpdateChecks, WhatNoTimeMendsIsAskedForEverMoreSeldom_U12) {
  for (bool of_selected : {false, true}) {
    for (Code code : {Code::kFailedPrecondition, Code::kUnavailable}) {
      Observation o = Running();
      if (of_selected) {
        o.provider.spec.fetch_config = api::FetchConfig{};
        o.provider.spec.fetch_config->selector = Json::object();
        o.releases = {{"aws-system", "a", "v1.12.1", *api::Version::Parse("v1.12.1"), "u/1"}};
      }
      SettleUpdates(o.provider.status, o);
      o.provider.status.conditions.push_back({"UpgradeAvailable", "Unknown", "UpdateCheckFailed", "", 1, ""});
      std::vector<Millis> waits;
      for (int look = 0; look < 10; ++look) {
        Find(o, {}, Error{code, "no signature", {}});
        waits.push_back(*UpdateCheckIn(o));
        o.now += waits.back();
      }
      EXPECT_LE(waits.front(), kHour * 11 / 10);
      if (code == Code::kUnavailable) {
        EXPECT_EQ(waits.back(), waits.front());
      } else {
        EXPECT_EQ(waits[1], 2 * waits[0]);
        EXPECT_GE(waits.back(), kTwelve * 9 / 10);
        EXPECT_LE(waits.back(), kTwelve * 11 / 10);
      }
    }
  }
}

// U12: what was said of the next look holds only as long as the clock and the interval are what they were then.
TEST(UpdateChecks, TheNextOneIsNeverFarAway_U12) {
  const struct {
    std::string_view what;
    std::function<void(Observation&)> change;
    Millis least, most;  // until the next look, whatever was told
  } cases[] = {
      {"nothing changes", [](Observation&) {}, kTwelve / 2, kTwelve * 11 / 10},
      {"the clock was a year ahead", [](Observation& o) { o.now -= 365 * 24 * kHour; }, Millis(0), Millis(0)},
      {"the clock was an hour ahead", [](Observation& o) { o.now -= kHour; }, Millis(0), Millis(0)},
      {"a longer interval counts from the next one on", [](Observation& o) { o.check_updates = 240 * kHour; },
       kTwelve / 2, kTwelve * 11 / 10},
      {"a shorter interval, not over yet",
       [](Observation& o) {
         o.check_updates = 2 * kHour;
         o.now += kHour;
       },
       kHour, kHour * 12 / 10},
      {"a shorter interval that is over",
       [](Observation& o) {
         o.check_updates = 2 * kHour;
         o.now += 3 * kHour;
       },
       Millis(0), Millis(0)},
  };
  for (const auto& c : cases) {
    Observation o = Knowing({});
    Find(o, {});
    o.updates.reset();  // a restart
    c.change(o);
    auto next = UpdateCheckIn(o);
    ASSERT_TRUE(next) << c.what;
    EXPECT_GE(*next, c.least) << c.what;
    EXPECT_LE(*next, c.most) << c.what;
  }
  // The same of one that a source is said to have asked for.
  Observation o = Knowing({});
  Find(o, {}, Error{Code::kRateLimited, "slowly", 24 * 365 * kHour});
  o.provider.status.conditions.push_back({"UpgradeAvailable", "Unknown", "UpdateCheckFailed", "", 1, ""});
  EXPECT_EQ(UpdateCheckIn(o), 24 * kHour);
  // A shorter interval counts from the last look on, failed or not: not all providers are looked at at once.
  for (bool failed : {false, true}) {
    Observation weekly = Knowing({});
    weekly.check_updates = 168 * kHour;
    Find(weekly, {});
    if (failed)
      weekly.provider.status.conditions.push_back({"UpgradeAvailable", "Unknown", "UpdateCheckFailed", "", 1, ""});
    weekly.check_updates = 48 * kHour;
    weekly.now += kHour;
    EXPECT_GT(UpdateCheckIn(weekly), 45 * kHour) << failed;
    EXPECT_LE(UpdateCheckIn(weekly), 53 * kHour) << failed;
    weekly.check_updates = kHour;
    weekly.now += kHour;
    EXPECT_LE(UpdateCheckIn(weekly), failed ? 22 * kHour : Millis(0)) << "no source may ask for more than a day";
  }
  // And what a look has found counts, though the clock was set back since the last one.
  o.now -= 48 * kHour;
  Find(o, {{"v1.12.1", "v1beta2"}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.1/v1beta2/"));
  EXPECT_GT(UpdateCheckIn(o), Millis(0)) << "and isn't asked for again at once";
}

// After a rollback or a downgrade it isn't for half a day that nothing is newer.
TEST(UpdateChecks, AnotherInstalledVersionBringsALook_U12) {
  Observation o = Knowing({});
  Find(o, {{"v1.12.1", "v1beta2"}, {"v1.13.0", "v1beta2"}});
  o.provider.spec.version = o.provider.status.installed_version = "v1.12.1";
  SettleUpdates(o.provider.status, o);
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.13.0/v1beta2/"));
  o.now += Seconds(1);
  Find(o, {{"v1.13.0", "v1beta2"}});
  EXPECT_GT(UpdateCheckIn(o), kHour);

  o.now += kHour;
  o.provider.spec.version = o.provider.status.installed_version = "v1.12.0";
  SettleUpdates(o.provider.status, o);
  EXPECT_EQ(UpdateCheckIn(o), Millis(0)) << "what was found is newer than another version";
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.13.0/v1beta2/")) << "which is newer than this one, too";
  Find(o, {{"v1.12.1", "v1beta2"}, {"v1.13.0", "v1beta2"}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.1/v1beta2/", "v1.13.0/v1beta2/"));
}

// One file that can't be had: nothing that was known is forgotten, to be told as new the next time.
TEST(AvailableUpgrades, OfWhatCannotBeReadThoseThatWereKnownStay_U12) {
  Observation o = Knowing({{"v1.12.2", "v1beta2"}, {"v1.13.0", "v1beta2"}, {"v1.14.0", "v1beta2"}});
  Find(o, {{"v1.12.1", "v1beta2"}, {"v1.12.2", "", "403"}, {"v1.13.1", "", "403"}, {"v1.15.0", "v1beta2"}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.2/v1beta2/", "v1.13.0/v1beta2/", "v1.15.0/v1beta2/"))
      << "v1.14.0 isn't there any more";
  o.now += kTwelve;
  Find(o, {{"v1.12.3", "v1beta2"}, {"v1.12.4", "", "403"}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.3/v1beta2/"));
}

// The interval is looked at as time goes on, not at one moment.
TEST(UpdateChecks, AShorterIntervalBringsALook_U12) {
  Observation o = Knowing({});
  o.check_updates = 23 * kHour;
  Find(o, {});
  o.check_updates = kHour;
  Millis waited{0};
  for (auto next = UpdateCheckIn(o); next && *next > Millis(0) && waited < 48 * kHour; next = UpdateCheckIn(o)) {
    waited += std::chrono::minutes(30);
    o.now += std::chrono::minutes(30);
  }
  EXPECT_LE(waited, 2 * kHour);
}

TEST(UpdateChecks, NewConfigMapsAreReadAtOnceAndOthersNever_U12) {
  Observation o = Running();
  o.check_updates = Millis(0);  // nobody has to be asked for them
  o.provider.spec.fetch_config = api::FetchConfig{};
  o.provider.spec.fetch_config->selector = Json::object();
  SettleUpdates(o.provider.status, o);
  EXPECT_FALSE(o.provider.status.update_check);
  EXPECT_EQ(UpdateCheckIn(o), std::nullopt);

  auto add = [&](const char* version) {
    o.releases.push_back(
        {"aws-system", version, version, *api::Version::Parse(version), std::string("uid-") + version + "/1"});
    SettleUpdates(o.provider.status, o);
  };
  add("v1.13.0-rc.1");
  EXPECT_EQ(UpdateCheckIn(o), std::nullopt) << "a prerelease is chosen by name alone";
  add("v1.12.1");
  EXPECT_EQ(UpdateCheckIn(o), Millis(0));
  Find(o, {{"v1.12.1", "v1beta2"}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.1/v1beta2/"));
  EXPECT_GT(UpdateCheckIn(o), std::chrono::hours(6));

  const api::ProviderStatus told = o.provider.status;
  for (StoredRelease& release : o.releases) release.stamp.back() = '2';  // somebody labels them
  SettleUpdates(o.provider.status, o);
  EXPECT_EQ(o.provider.status, told) << "no version came, and none went";

  add("v1.12.2");
  EXPECT_EQ(UpdateCheckIn(o), Millis(0));
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.1/v1beta2/")) << "until they are read";
  o.now += Seconds(1);
  Find(o, {}, Error{Code::kUnavailable, "the API server is away", {}});
  auto again = UpdateCheckIn(o);
  ASSERT_TRUE(again);
  EXPECT_LE(*again, std::chrono::minutes(10));
  o.now += *again;
  Find(o, {{"v1.12.2", "v1beta2"}});
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.2/v1beta2/"));
}

// What has to come first is said of each, by what is installed of the others now.
TEST(AvailableUpgrades, SayWhatHasToComeFirst_U12) {
  Observation o = Knowing({{"v1.11.9", "v1beta2"}, {"v1.12.1", "v1beta2"}, {"v2.0.0", "v1beta2"}, {"v3.0.0", "v9"}});
  SettleUpdates(o.provider.status, o);
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.1/v1beta2/", "v2.0.0/v1beta2/"))
      << "neither older ones, nor those of a contract that this operator doesn't know";

  auto core = std::make_shared<api::Provider>(testing::NewCore());
  core->status.installed_version = "v1.9.0";
  core->status.contract = "v1beta1";
  o.core = core;
  o.siblings = {core};
  o.provider.status.contract = "v1beta1";
  SettleUpdates(o.provider.status, o);
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.12.1/v1beta2/CoreUpgrade", "v2.0.0/v1beta2/CoreUpgrade"));

  // The core's own: of v1alpha4 all others would be stopped (C3); to v1beta2 they needn't (C2); C7.
  Observation of_core = Knowing({});
  auto other = std::make_shared<api::Provider>(of_core.provider);
  other->status.contract = "v1alpha4";
  of_core.provider.id = testing::NewCore().id;
  of_core.core = std::make_shared<api::Provider>(of_core.provider);
  of_core.siblings = {other};
  of_core.provider.status.contract = "v1alpha4";
  of_core.provider.status.available_upgrades = {{"v1.13.0", "v1beta1"}, {"v1.16.0", "v1beta2"}};
  SettleUpdates(of_core.provider.status, of_core);
  EXPECT_THAT(InWords(of_core.provider.status), ElementsAre("v1.13.0/v1beta1/Pause", "v1.16.0/v1beta2/NearerVersion"));
  other->status.contract = of_core.provider.status.contract = "v1beta1";
  SettleUpdates(of_core.provider.status, of_core);
  EXPECT_THAT(InWords(of_core.provider.status), ElementsAre("v1.13.0/v1beta1/", "v1.16.0/v1beta2/NearerVersion"));
}

// Of an object that can't be read, or that goes, what is known stays.
TEST(UpdateChecks, NothingIsForgottenOfWhatGoesOrCannotBeRead_U12) {
  for (bool goes : {false, true}) {
    Observation o = Knowing({{"v1.13.0", "v1beta2"}});
    const api::ProviderStatus before = o.provider.status;
    o.provider.deleting = goes;
    if (!goes) o.spec_error = Error{Code::kInvalidArgument, "", {}};
    o.check_updates = Millis(0);
    SettleUpdates(o.provider.status, o);
    EXPECT_EQ(o.provider.status, before) << goes;
  }
}

// What somebody has written into the status by hand.
TEST(AvailableUpgrades, WhatIsNoVersionIsForgotten_U12) {
  Observation o = Knowing({{"v1.x", "v1beta2"}, {"v1.13.0", "v1beta2"}});
  SettleUpdates(o.provider.status, o);
  EXPECT_THAT(InWords(o.provider.status), ElementsAre("v1.13.0/v1beta2/"));
}

// Whether all has to be signed is what a look depends on, with the same keys.
TEST(UpdateChecks, AskedForSignaturesItIsLookedAgain_U12_T14) {
  Observation o = Running();
  o.provider.spec.fetch_config = api::FetchConfig{.url = "https://example.org/core"};
  SettleUpdates(o.provider.status, o);
  const std::string plain = o.provider.status.update_check->source;
  o.provider.spec.fetch_config->verify.emplace();
  SettleUpdates(o.provider.status, o);
  EXPECT_NE(o.provider.status.update_check->source, plain);
}

}  // namespace
}  // namespace capi::ops
