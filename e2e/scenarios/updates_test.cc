// Newer versions on a real control plane: what is told of them, and what spec.upgradePolicy makes of them (behaviour.md
// U12, U13).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "e2e/releases/tiny_core.h"
#include "e2e/support/managed_cluster.h"
#include "fetch/github_testing.h"

namespace capi::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// A window that is open now, and for an hour at least; or one that opens in six hours.
Json Window(bool open) {
  const auto start = SystemClock().Now() + (open ? -std::chrono::hours(1) : std::chrono::hours(6));
  return {{"start", FormatTime(start).substr(11, 5)}, {"duration", "2h"}};
}

class Updates : public UnmanagedCluster {
 protected:
  void TearDown() override {
    UnmanagedCluster::TearDown();
    if (!cluster_) return;
    for (const std::string& version : stored_) {
      (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns, "small-" + version);
    }
  }
  void Store(const TinyCore& small) {
    stored_.push_back(small.version);
    StoreTiny(*cluster_, kCore.ns, small);
  }
  bool Install(const std::string& version, Json more = Json::object()) {
    cluster_->CreateNamespace(kCore.ns);
    Store({.version = version});
    more["version"] = version;
    more["fetchConfig"] = TinySource();
    cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, more);
    return AwaitReady(kCore);
  }
  std::vector<std::string> Available() {
    std::vector<std::string> out;
    for (const auto& one : See(kCore).provider.status.available_upgrades) out.push_back(one.version + one.needs);
    return out;
  }
  bool AwaitAvailable(const std::vector<std::string>& versions) {
    const bool there = Eventually([&] { return Available() == versions; });
    EXPECT_TRUE(there) << ToJsonText(api::StatusToJson(See(kCore).provider.status));
    return there;
  }
  bool AwaitInstalled(const std::string& version) {
    const bool there = Eventually(
        [&] {
          Seen seen = See(kCore);
          return seen.provider.status.installed_version == version && seen.Status("Ready") == "True";
        },
        Seconds(60));
    EXPECT_TRUE(there) << See(kCore).Describe();
    return there;
  }
  // That the policy can't begin the upgrade that it goes to, for that reason; and that it is no fault of the provider.
  bool AwaitRefused(const std::string& why) {
    const bool told = Eventually(
        [&] {
          const auto upgrades = See(kCore).provider.status.available_upgrades;
          return !upgrades.empty() && upgrades.back().refused &&
                 upgrades.back().refused->message.find(why) != std::string::npos;
        },
        Seconds(60));
    EXPECT_TRUE(told) << See(kCore).Describe();
    EXPECT_EQ(See(kCore).Status("Ready"), "True");
    return told;
  }
  // spec.version, as it is written.
  std::string Declared() {
    auto object = cluster_->client().Get(cluster_->ctx(), api::ResourceOf(kCore.type), kCore.ns, kCore.name);
    EXPECT_TRUE(object.ok());
    return object.ok() ? GetString(object->json(), {"spec", "version"}) : "";
  }
  std::string Installed() { return See(kCore).provider.status.installed_version; }
  std::int64_t Begun() {
    std::int64_t sum = 0;
    for (const auto& [message, count] : EventsOf("UpgradeChosen")) sum += count;
    return sum;
  }

  // How often each message of that reason was told: the recorder counts equal ones in one Event.
  std::map<std::string, std::int64_t> EventsOf(std::string_view reason) {
    auto events = cluster_->client().List(cluster_->ctx(), kube::Builtin("Event"), kCore.ns);
    EXPECT_TRUE(events.ok());
    std::map<std::string, std::int64_t> out;
    if (!events.ok()) return out;
    const std::string uid = See(kCore).provider.uid;
    for (const kube::Object& event : events->items) {
      const Json& json = event.json();
      if (GetString(json, {"reason"}) != reason || GetString(json, {"involvedObject", "uid"}) != uid) continue;
      const Json* count = Find(json, {"count"});
      out[GetString(json, {"type"}) + " " + GetString(json, {"message"})] +=
          count != nullptr && count->is_number_integer() ? count->get<std::int64_t>() : 1;
    }
    return out;
  }

  std::vector<std::string> stored_;
};

// U12: told, and nothing else; without a source that is asked.
TEST_F(Updates, ANewConfigMapIsTold_U12) {
  StartOperator({"--check-updates=0"});
  ASSERT_TRUE(Install("v1.0.0"));
  const auto before = Versions(kCore);
  Store({.version = "v1.0.1"});
  ASSERT_TRUE(AwaitAvailable({"v1.0.1"}));
  Store({.version = "v1.2.0-rc.0"});
  Store({.version = "v1.1.0"});  // the last one: what is told of it is of all of them
  ASSERT_TRUE(AwaitAvailable({"v1.0.1", "v1.1.0"}));
  Seen seen = See(kCore);
  EXPECT_EQ(seen.Status("UpgradeAvailable"), "True");
  EXPECT_THAT(seen.Message("UpgradeAvailable"), HasSubstr("v1.1.0 (contract v1beta2)"));
  EXPECT_EQ(seen.Status("Ready"), "True");
  EXPECT_EQ(seen.provider.status.installed_version, "v1.0.0");
  EXPECT_EQ(Versions(kCore), before) << "nothing was written but the status";
  EXPECT_TRUE(Eventually([&] { return EventsOf("UpgradeAvailable").size() >= 2; }));
  EXPECT_THAT(EventsOf("UpgradeAvailable"),
              ElementsAre(Pair(HasSubstr("Normal v1.0.1"), 1), Pair(HasSubstr("Normal v1.1.0"), 1)));
  EXPECT_THAT(operator_->Metrics(), HasSubstr("capi_operator_provider_available_upgrades{kind=\"CoreProvider\",name="
                                              "\"cluster-api\",namespace=\"capi-system\"} 2"));
  operator_->Restart();
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(See(kCore).provider.status, seen.provider.status) << "a restart has nothing new to say";

  // Who only labels a ConfigMap has no version to tell of.
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns, "small-v1.1.0", kube::PatchType::kMerge,
                         Json{{"metadata", {{"labels", {{"touched", "1"}}}}}})
                  .ok());
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(See(kCore).provider.status, seen.provider.status);
  EXPECT_THAT(EventsOf("UpgradeAvailable"), ElementsAre(Pair(testing::_, 1), Pair(testing::_, 1)));
}

// U13: in its window alone, within its reach, and spec.version stays the user's.
TEST_F(Updates, ThePolicyInstallsInItsWindow_U13) {
  StartOperator();
  ASSERT_TRUE(Install("v1.0.0", {{"upgradePolicy", {{"type", "Patch"}, {"window", Window(false)}}}}));
  Store({.version = "v1.0.1"});
  Store({.version = "v1.1.0"});
  ASSERT_TRUE(AwaitAvailable({"v1.0.1", "v1.1.0"}));
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(Installed(), "v1.0.0") << "outside of the window";

  PatchSpec(kCore, {{"upgradePolicy", {{"window", Window(true)}}}});
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  EXPECT_EQ(Declared(), "v1.0.0");
  EXPECT_EQ(See(kCore).Reason("ProviderUpgraded"), "ProviderUpgraded");
  EXPECT_TRUE(Eventually([&] { return Begun() == 1; }));
  ASSERT_TRUE(AwaitAvailable({"v1.1.0"}));
  EXPECT_THAT(See(kCore).Message("UpgradeAvailable"), HasSubstr("v1.0.1 stays installed"));

  const auto installed = Versions(kCore);
  PatchSpec(kCore, {{"upgradePolicy", {{"window", Window(false)}}}});
  ASSERT_TRUE(AwaitPass(kCore)) << "or the event of v1.0.2 may come before that of the window";
  Store({.version = "v1.0.2"});
  ASSERT_TRUE(AwaitAvailable({"v1.0.2", "v1.1.0"}));
  operator_->Restart();
  ASSERT_TRUE(AwaitPass(kCore));
  for (const char* version : {"v1.0.x", "v0.9.0", "v1.0.0"}) {
    PatchSpec(kCore, {{"version", version}});
    ASSERT_TRUE(AwaitPass(kCore));
  }
  PatchSpec(kCore, {{"upgradePolicy", {{"type", "None"}}}});
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(Installed(), "v1.0.1");
  EXPECT_EQ(Versions(kCore), installed) << "neither a restart, a slip of the pen nor the policy's end takes it back";

  Annotate(kCore, "operator.cluster.x-k8s.io/allow-downgrade", "true");
  ASSERT_TRUE(AwaitInstalled("v1.0.0"));
  Annotate(kCore, "operator.cluster.x-k8s.io/allow-downgrade", nullptr);
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(Installed(), "v1.0.0");
  PatchSpec(kCore, {{"version", "v1.1.0"}});
  ASSERT_TRUE(AwaitInstalled("v1.1.0"));
  EXPECT_EQ(Begun(), 1);
}

// U13: by the clock alone. Nothing changes meanwhile, and nobody looks for newer versions.
TEST_F(Updates, AWindowOpensByItself_U13) {
  StartOperator({"--check-updates=0"});
  ASSERT_TRUE(Install("v1.0.0"));
  Store({.version = "v1.0.1"});
  ASSERT_TRUE(AwaitAvailable({"v1.0.1"}));
  const WallTime opens = std::chrono::ceil<std::chrono::minutes>(SystemClock().Now() + Seconds(5));
  const Json window = {{"start", FormatTime(opens).substr(11, 5)}, {"duration", "40s"}};
  PatchSpec(kCore, {{"upgradePolicy", {{"type", "Patch"}, {"window", window}}}});
  ASSERT_TRUE(Eventually([&] {
    return See(kCore).Message("UpgradeAvailable").find("its window opens at " + FormatTime(opens)) != std::string::npos;
  })) << See(kCore).Describe();
  ASSERT_LT(SystemClock().Now(), opens) << "this machine is too slow";
  EXPECT_EQ(Installed(), "v1.0.0");
  const auto left = std::chrono::ceil<Millis>(opens - SystemClock().Now());
  ASSERT_TRUE(Eventually([&] { return Installed() == "v1.0.1"; }, left + Seconds(60), Millis(100)))
      << See(kCore).Describe();
  const auto began = ParseTime(See(kCore).provider.status.history.front().started);
  ASSERT_TRUE(began.ok());
  EXPECT_GE(*began, opens);
  EXPECT_LT(*began, opens + Seconds(40));
}

// U13, U5: from a version that the policy has come to. What doesn't come up is rolled back once, whatever changes then;
// what can't even begin changes nothing; the next version mends it.
TEST_F(Updates, WhatFailsTakesNothingBackAndIsNotTriedAgain_U13) {
  StartOperator();
  ASSERT_TRUE(Install("v1.0.0", {{"upgradePolicy", {{"type", "Patch"}}}, {"rollout", {{"onFailure", "Rollback"}}}}));
  Store({.version = "v1.0.1"});
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  PatchSpec(kCore, {{"rollout", {{"timeout", "6s"}}}});
  ASSERT_TRUE(AwaitPass(kCore));
  Store({.version = "v1.0.2", .can_run = false});
  ASSERT_TRUE(AwaitReason(kCore, "ProviderUpgraded", "RolledBack", Seconds(60)));
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  EXPECT_TRUE(Eventually([&] { return Begun() == 2; }));
  EXPECT_EQ(See(kCore).Reason("ProviderUpgraded"), "RolledBack");
  EXPECT_THAT(See(kCore).Message("UpgradeAvailable"), HasSubstr("v1.0.2 (contract v1beta2), which failed before"));

  PatchSpec(kCore, {{"deployment", {{"replicas", 1}}}});
  ASSERT_TRUE(AwaitPass(kCore));
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  PatchSpec(kCore, {{"upgradePolicy", {{"type", "None"}}}});
  ASSERT_TRUE(AwaitPass(kCore));
  PatchSpec(kCore, {{"upgradePolicy", {{"type", "Patch"}}}});
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(Begun(), 2) << "it isn't tried again";
  EXPECT_EQ(Installed(), "v1.0.1");
  EXPECT_EQ(Declared(), "v1.0.0");

  const Seen before = See(kCore);
  Store({.version = "v1.0.3", .needs_variable = true});
  ASSERT_TRUE(AwaitRefused("NEW_VARIABLE"));
  EXPECT_EQ(Installed(), "v1.0.1");
  EXPECT_EQ(Begun(), 2);
  EXPECT_EQ(See(kCore).provider.status.history, before.provider.status.history);
  PatchSpec(kCore, {{"rollout", {{"timeout", "5m"}}}});
  ASSERT_TRUE(AwaitPass(kCore));
  Store({.version = "v1.0.4"});
  ASSERT_TRUE(AwaitInstalled("v1.0.4"));
}

// U13: what was of the installed contract when it was looked at, and isn't any more.
TEST_F(Updates, ThePolicyStaysWithinTheContract_U13) {
  StartOperator();
  ASSERT_TRUE(Install("v1.0.0", {{"upgradePolicy", {{"type", "Minor"}, {"window", Window(false)}}}}));
  Store({.version = "v1.1.0"});
  ASSERT_TRUE(AwaitAvailable({"v1.1.0"}));
  const std::string other = ReplaceAll(TinyCore{.version = "v1.1.0"}.Metadata(), "v1beta2", "v1beta1");
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns, "small-v1.1.0", kube::PatchType::kMerge,
                         Json{{"data", {{"metadata", other}}}})
                  .ok());
  PatchSpec(kCore, {{"upgradePolicy", {{"window", Window(true)}}}});
  ASSERT_TRUE(AwaitRefused("spec.upgradePolicy stays within v1beta2"));
  EXPECT_EQ(Installed(), "v1.0.0");
  EXPECT_EQ(See(kCore).provider.status.desired_contract, "") << "nobody was told of another contract";
  EXPECT_EQ(Begun(), 0);
}

fetch::GitHubRelease OnGitHub(const TinyCore& small) {
  return {.tag = small.version,
          .assets = {{"metadata.yaml", small.Metadata()}, {"core-components.yaml", small.Components()}}};
}

// How often it was asked for the list.
std::ptrdiff_t Lists(const fetch::GitHubStandIn& github) {
  return std::ranges::count_if(github.seen(),
                               [](const auto& one) { return one.target.starts_with("/repos/o/r/releases?"); });
}

// From a source on the network, which is asked for newer versions every ten seconds.
class UpdatesFromGitHub : public Updates {
 protected:
  // v1.0.0, with `more` in the spec.
  bool InstallFromGitHub(Json more = Json::object()) {
    const fetch::GitHubOptions at = github_.options();
    StartOperator({"--check-updates=10s", "--github-api-url=" + at.api_url, "--github-url=" + at.download_url});
    cluster_->CreateNamespace(kCore.ns);
    more["version"] = "v1.0.0";
    more["fetchConfig"] = {{"url", fetch::kReleases}};
    cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, more);
    return AwaitReady(kCore);
  }

  fetch::GitHubStandIn github_{{OnGitHub({.version = "v1.0.0"})}};
};

// U12: a source on the network is asked now and then; one that is away makes nobody ill.
TEST_F(UpdatesFromGitHub, ASourceIsAskedNowAndThen_U12) {
  ASSERT_TRUE(InstallFromGitHub());
  auto has_looked = [&] {
    const auto& check = See(kCore).provider.status.update_check;
    return check && !check->time.empty();
  };
  EXPECT_TRUE(Eventually(has_looked, Seconds(60)));
  EXPECT_GE(Lists(github_), 1);
  EXPECT_EQ(See(kCore).Status("UpgradeAvailable"), "") << "there is nothing to tell";
  github_.Publish({OnGitHub({.version = "v1.0.1"}), OnGitHub({.version = "v1.0.0"})});
  EXPECT_TRUE(Eventually([&] { return Available() == std::vector<std::string>{"v1.0.1"}; }, Seconds(60)))
      << See(kCore).Describe();
  github_.AnswerApiWith(fetch::TextResponse(503, ""));
  ASSERT_TRUE(AwaitReason(kCore, "UpgradeAvailable", "UpdateCheckFailed", Seconds(60)));
  EXPECT_EQ(See(kCore).Status("Ready"), "True");
  EXPECT_EQ(Available(), std::vector<std::string>{"v1.0.1"}) << "what was known is so still";
}

// U13: from a version that the policy has come to.
TEST_F(UpdatesFromGitHub, AChoiceThatCannotBeFetchedTakesNothingBack_U13) {
  ASSERT_TRUE(InstallFromGitHub({{"upgradePolicy", {{"type", "Patch"}}}}));
  github_.Publish({OnGitHub({.version = "v1.0.1"}), OnGitHub({.version = "v1.0.0"})});
  const bool has_begun = Eventually(
      [&] {
        const auto& entries = See(kCore).provider.status.history;
        return !entries.empty() && entries.front().version == "v1.0.1";
      },
      Seconds(60));
  ASSERT_TRUE(has_begun) << See(kCore).Describe();
  fetch::GitHubRelease lost = OnGitHub({.version = "v1.0.2"});
  lost.assets.erase("core-components.yaml");
  // The source is asked at once when another version is installed (U12): no look has to be waited for.
  github_.Publish({lost, OnGitHub({.version = "v1.0.1"}), OnGitHub({.version = "v1.0.0"})});
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  const auto installed = Versions(kCore);
  const auto history = See(kCore).provider.status.history;
  ASSERT_TRUE(AwaitRefused("v1.0.2"));
  github_.AnswerApiWith(fetch::TextResponse(503, ""));
  ASSERT_TRUE(AwaitReason(kCore, "UpgradeAvailable", "UpdateCheckFailed", Seconds(60)));
  operator_->Restart();
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(See(kCore).Status("Ready"), "True");
  EXPECT_EQ(Installed(), "v1.0.1");
  EXPECT_EQ(See(kCore).provider.status.history, history);
  EXPECT_EQ(Versions(kCore), installed);
  EXPECT_EQ(Begun(), 1);
}

}  // namespace
}  // namespace capi::e2e
