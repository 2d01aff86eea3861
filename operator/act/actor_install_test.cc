// Installing, restoring and rolling back, by an actor on a server of the test's own.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/yaml/yaml.h"
#include "operator/act/install_testing.h"
#include "operator/decide/rollout.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/next_pass.h"
#include "operator/report/summarize.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// D1: what a change of input restores first was sent twice, since it was still taken for drifted after that.
TEST_F(InstallingActorTest, WhatWasRestoredIsNotSentAgain) {
  o_.provider.spec.version = "v1.12.1";
  o_.fleet.drifts = {{kSettings, true, {}, {}}};
  Done done = Install({InputsDigest(o_), o_.fleet.drifts});
  EXPECT_THAT(done.restored, ElementsAre(HasSubstr("settings was deleted")));
  EXPECT_EQ(Written("settings"), 1u);
}

// U5, D1: a CRD that only the failed release had stays in the inventory when that is rolled back. Once it was deleted,
// it was missing for good: each look applied the last good release, which doesn't have it, and wrote the status.
TEST_F(InstallingActorTest, WhatOnlyAFailedReleaseHadIsMissedOnce) {
  const kube::ObjectId crd{"apiextensions.k8s.io", "CustomResourceDefinition", "", "news.example"};
  RolledBack();
  o_.inventory.Put(crd, {"v1", "hash", "fields", false});
  o_.fleet.drifts = {{crd, true, {}, {}}};
  Step step = FollowRollout(o_, InputsDigest(o_)).value_or(Steady{});
  ASSERT_TRUE(std::holds_alternative<ops::Install>(step)) << testing::StepName(step);
  Done done = Install(std::get<ops::Install>(step));
  ASSERT_TRUE(done.inventory);
  EXPECT_EQ(done.inventory->Find(crd), nullptr);
  EXPECT_NE(done.inventory->Find(kSettings), nullptr);
}

// T3: what a missing right stopped was half written by then. Where nobody answers the question, the API server's own
// refusal tells; where that is away, the installation waits.
TEST_F(InstallingActorTest, RightsAreAskedForBeforeAnythingIsWritten) {
  auto reviewed = [](const Json& status) {
    return http::Response{.status = 201, .headers = {}, .body = ToJsonText({{"status", status}})};
  };
  const http::Response nothing = reviewed(Json::object()), no = reviewed({{"allowed", false}});
  const http::Response rule =
      reviewed(*ParseJson(R"({"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})"));
  const http::Response away = Refusal(503, "ServiceUnavailable", "away"), refused = Forbidden();
  const struct {
    const char* name;
    http::Response rules, access;
    const char* reason;  // "": it is installed
  } cases[] = {
      {"a rule gives it", rule, no, ""},
      {"nothing gives it", nothing, no, "PermissionsMissing"},
      {"another authorizer than RBAC gives it", nothing, reviewed({{"allowed", true}}), ""},
      {"nobody may ask for the rules", refused, no, ""},
      {"nobody may ask whether it is allowed", nothing, refused, ""},
      {"its authorizer can't say", nothing, reviewed({{"allowed", false}, {"evaluationError", "webhook is away"}}), ""},
      {"it says no, whatever another can't say", nothing,
       reviewed({{"allowed", false}, {"denied", true}, {"evaluationError", "webhook is away"}}), "PermissionsMissing"},
      {"a webhook that is to let the question in is away",
       Refusal(500, "InternalError", "failed calling webhook \"w\": EOF"), no, ""},
      {"the server fails", nothing, Refusal(500, "", "oops"), ""},
      {"the server is away", away, no, "APIServerUnavailable"},
      {"the server is away at the second question", nothing, away, "APIServerUnavailable"},
  };
  o_.provider.spec.version = "v1.12.1";
  o_.inventory.Put(kSettings, {"v1", "of the former release", "fields", false});
  size_t written = 0;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Refuse("selfsubjectrulesreviews", c.rules);
    Refuse("selfsubjectaccessreviews", c.access);
    Observation seen = o_;
    const size_t asked = Asked("selfsubjectrulesreviews");
    auto acted = Act(seen, ops::Install{InputsDigest(o_)});
    ASSERT_TRUE(acted.ok() && *acted);
    EXPECT_EQ((*acted)->hold ? (*acted)->hold->reason : "", c.reason);
    if (c.rules.body == rule.body) {
      EXPECT_EQ(Asked("selfsubjectrulesreviews") - asked, 1u) << "what is held in the whole cluster is enough";
    }
    written += *c.reason == '\0' ? 1 : 0;
    EXPECT_EQ(Written("settings"), written);
  }
}

// T3, U5: a rollback that lacks rights waits for them, as an installation does, and says which. What pods said before
// takes no line of what is to be applied.
TEST_F(InstallingActorTest, ARollbackWaitsForRights) {
  ToBeRolledBack();
  o_.fleet.workloads = {testing::NewWorkload(kube::HealthState::kFailed, "panic\n---\nkind: ClusterRoleBinding\n")};
  const Json status{{"allowed", false}};
  for (const char* review : {"selfsubjectrulesreviews", "selfsubjectaccessreviews"}) {
    Refuse(review, {.status = 201, .headers = {}, .body = ToJsonText({{"status", status}})});
  }
  Done done = RollBack();
  EXPECT_EQ(done.hold->reason, "PermissionsMissing");
  EXPECT_EQ(done.rollout->outcome, "RollingOut") << "it isn't given up";
  EXPECT_THAT(done.hold->message,
              HasSubstr("it is rolled back to v1.12.0 when that can be: the operator lacks rights"));
  EXPECT_EQ(Written("settings"), 0u);
  const std::string told = kube::FindCondition(Summarize(o_, done).conditions, "Ready")->message;
  auto role = ParseYaml(std::string_view(told).substr(told.find('\n')));
  ASSERT_TRUE(role.ok()) << told;
  EXPECT_EQ(GetString(*role, {"kind"}), "ClusterRole");
}

// U5: something of the release that runs again was deleted, and a quota refused to have it back. That was taken for a
// rollback that can't be: the failed release had failed now instead of being rolled back, and the next look installed
// it.
TEST_F(InstallingActorTest, WhatIsRefusedAfterARollbackBringsNoFailedReleaseBack) {
  RolledBack();
  o_.rendered.clear();  // as after a restart
  o_.fleet.drifts = {{kSettings, true, {}, {}}};
  Refuse("settings", Forbidden());
  for (int look = 0; look < 3; ++look) {
    SCOPED_TRACE(look);
    Done done = Look();
    ASSERT_TRUE(done.hold);
    EXPECT_EQ(done.hold->reason, "InstallFailed");
    EXPECT_EQ(done.hold->retry, Retry::kRefused) << "F5: it is tried again";
    EXPECT_EQ(o_.provider.status.history.front().outcome, "RolledBack");
    EXPECT_EQ(o_.provider.status.installed_version, "v1.12.0");
    EXPECT_TRUE(o_.inventory.Contains(kSettings) && o_.inventory.Contains(kToken));
    Step next = Decide(o_);
    ASSERT_TRUE(std::holds_alternative<ops::Install>(next)) << testing::StepName(next);
    EXPECT_EQ(std::get<ops::Install>(next).rollback_to, "v1.12.0");
  }
  RefuseNothing();
  Done restored = Look();
  ASSERT_TRUE(restored.hold);
  EXPECT_EQ(restored.hold->reason, "RolledBack");
  EXPECT_EQ(Written("settings"), 1u);
}

// U5: a rollback that can't begin leaves the change failed, which isn't tried again for the same inputs.
TEST_F(InstallingActorTest, ARollbackThatCanNotBeginIsAFailure) {
  ToBeRolledBack();
  Refuse("settings", Forbidden());
  Done done = RollBack();
  EXPECT_THAT(done.hold->message, HasSubstr("; it is not rolled back: v1.12.0 can't be installed: "));
  EXPECT_EQ(done.rollout->outcome, "Failed");
}

// U5: what passes by itself ends no rollback before it has begun. That the time was over was told nowhere meanwhile.
TEST_F(InstallingActorTest, ARollbackWaitsForAWebhookThatIsAway) {
  ToBeRolledBack();
  Refuse("settings", Refusal(500, "InternalError", "failed calling webhook \"w\": connection refused"));
  Done done = RollBack();
  EXPECT_EQ(done.hold->retry, Retry::kBackoff);
  EXPECT_TRUE(done.loaded) << "F5: its source has nothing to do with it";
  EXPECT_EQ(done.rollout->outcome, "RollingOut");
  EXPECT_THAT(done.rollout->message, HasSubstr("(spec.rollout.timeout)"));
  EXPECT_THAT(done.hold->message, HasSubstr("(spec.rollout.timeout)"));
  EXPECT_THAT(done.hold->message, HasSubstr("; it is rolled back to v1.12.0 when that can be: "));
  EXPECT_THAT(done.hold->message, HasSubstr("failed calling webhook"));
}

// U5: a rollback whose announcement wasn't stored was taken for one that has begun, of which nothing was noted then.
// The failed release was sent again at the next look, over and over.
TEST_F(InstallingActorTest, ARollbackThatCanNotBeAnnouncedHasNotBegun) {
  ToBeRolledBack();
  Refuse("status", Forbidden());
  Done done = RollBack();
  EXPECT_EQ(done.rollout->outcome, "Failed");
  EXPECT_THAT(
      done.hold->message,
      HasSubstr("; it is not rolled back: v1.12.0 can't be installed: InfrastructureProvider/aws: exceeded quota"));

  Refuse("status", Refusal(503, "ServiceUnavailable", "etcd has no leader"));
  done = RollBack();
  EXPECT_EQ(done.rollout->outcome, "RollingOut");
  EXPECT_THAT(done.rollout->message, HasSubstr("(spec.rollout.timeout)")) << "or it isn't tried again";
  EXPECT_EQ(done.hold->retry, Retry::kBackoff);
}

// I7: what an entry keeps of a refusal, or of a pod's last words, is cut off. Of half a value nobody knows afterwards
// that it is a Secret's.
TEST_F(InstallingActorTest, NoHalfOfASecretsValueIsKept) {
  ToBeRolledBack();
  const std::string value = "hunter2-hunter3";
  SecretValues values;
  values.Add(value);
  masks_.Put(o_.provider.id.Key(), values);
  struct Case {
    std::string_view name;
    bool pod, webhook, rollback;  // whose words they are; what refuses the rollback; whether there is one
  };
  const Case cases[] = {{"the refusal of a rollback", false, false, true},
                        {"a pod's words, where a rollback is refused", true, false, true},
                        {"a pod's words, where it waits", true, true, true},
                        {"a pod's words, where there is none", true, false, false}};
  for (const Case& c : cases) {
    for (std::string words : {"", "further"}) {  // where the cut falls between two values for one of them
      SCOPED_TRACE(fmt::format("{}: {}", c.name, words));
      while (words.size() < 5000) words += value;
      Refuse("settings", c.webhook ? Refusal(500, "InternalError", "failed calling webhook \"w\": refused")
                                   : Refusal(403, "Forbidden", c.pod ? "no" : words));
      Observation seen = o_;
      seen.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress, c.pod ? words : "not ready")};
      Step step = GiveUp{};
      if (c.rollback) step = ops::Install{InputsDigest(o_), {}, "v1.12.0"};
      auto acted = Act(seen, step);
      ASSERT_TRUE(acted.ok() && *acted && (*acted)->hold && (*acted)->rollout);
      masks_.Hide(o_.provider.id.Key(), seen, **acted);  // as the report does, which finds whole values alone
      for (const std::string& message : {(*acted)->hold->message, (*acted)->rollout->message}) {
        EXPECT_THAT(message, HasSubstr("***"));
        EXPECT_THAT(message, Not(HasSubstr("hunter")));
      }
    }
  }
}

// U5, F5: why something can't be put back was told by the last pass's Stalled. A webhook that is away, or one object's
// 503 beside another's refusal, stalls nothing: the time of such a change never ended.
TEST_F(InstallingActorTest, SaysWhetherSomethingIsRefusedOrTheServerIsAway) {
  const http::Response away = Refusal(503, "ServiceUnavailable", "etcd has no leader"), no = Forbidden();
  const http::Response webhook = Refusal(500, "InternalError", "failed calling webhook \"w\": connection refused");
  const http::Response conflict = Refusal(409, "Conflict", "the object has been modified");
  const http::Response denial = Refusal(500, "InternalError", "admission webhook \"w\" denied the request: oops");
  const http::Response patch = Refusal(500, "InternalError", "Internal error occurred: add operation does not apply");
  const http::Response gone = Refusal(410, "Expired", "the continue token is too old");
  const http::Response part{.status = 503, .headers = {}, .body = "service unavailable\n"};
  struct Case {
    std::string_view name;
    http::Response settings, token;
    std::string_view applying, trying;  // the reason, of an apply and of its dry run
    Retry retry;
  };
  const Case cases[] = {
      {"it is refused", no, no, "InstallFailed", "DryRunFailed", Retry::kRefused},
      {"a webhook is away", webhook, webhook, "InstallFailed", "DryRunFailed", Retry::kBackoff},
      {"a webhook denies with a 500", denial, denial, "InstallFailed", "DryRunFailed", Retry::kBackoff},
      {"a webhook's patch doesn't apply", patch, patch, "InstallFailed", "DryRunFailed", Retry::kBackoff},
      {"an aggregated API is away", part, part, "InstallFailed", "DryRunFailed", Retry::kBackoff},
      {"it is too old", gone, gone, "InstallFailed", "DryRunFailed", Retry::kBackoff},
      {"somebody else writes", conflict, conflict, "InstallFailed", "DryRunFailed", Retry::kBackoff},
      {"one is refused, and one of all the others meets an outage", no, away, "InstallFailed", "DryRunFailed",
       Retry::kBackoff},
      {"the API server is away", away, away, "APIServerUnavailable", "APIServerUnavailable", Retry::kBackoff},
  };
  for (const Case& c : cases) {
    for (bool dry : {false, true}) {
      SCOPED_TRACE(fmt::format("{}{}", c.name, dry ? ", in a dry run" : ""));
      Refuse("settings", c.settings);
      Refuse("token", c.token);
      Observation seen = o_;
      seen.fleet.drifts = {{kSettings, true, {}, {}}, {kToken, true, {}, {}}};
      for (const auto& id : {kSettings, kToken}) {
        if (dry) seen.inventory.Put(id, {"v1", "other", "fields", false});
      }
      auto acted = Act(seen, ops::Install{InputsDigest(o_)});
      ASSERT_TRUE(acted.ok() && *acted && (*acted)->hold);
      EXPECT_EQ((*acted)->hold->reason, dry ? c.trying : c.applying);
      EXPECT_EQ((*acted)->hold->retry, c.retry);
    }
  }
}

// U5, F5: of a release with a kind whose server is away, which the API server can only name the group of, it said for
// good that the API server is away.
TEST_F(InstallingActorTest, AKindWhoseServerIsAwayIsNoOutage) {
  {
    MutexLock lock(mu_);
    Store(o_.releases[1], "---\napiVersion: aggregated.example/v1\nkind: Fox\nmetadata: {name: f, namespace: n}\n");
  }
  o_.provider.spec.version = "v1.12.1";
  Done done = Install({InputsDigest(o_)});
  ASSERT_TRUE(done.hold);
  EXPECT_EQ(done.hold->reason, "DryRunFailed");
  EXPECT_EQ(done.hold->retry, Retry::kBackoff);
  EXPECT_THAT(done.hold->message, HasSubstr("the API of its group doesn't answer now"));
}

// U13: what is refused withdraws a choice. That the API server is away tells nothing of it, and is waited for less and
// less often.
TEST_F(InstallingActorTest, WhatRefusesAChoiceWithdrawsIt_U13) {
  const struct {
    std::string_view name;
    http::Response answer;
    bool withdrawn;
  } cases[] = {
      {"it is refused", Forbidden(), true},
      {"a webhook is away", Refusal(500, "InternalError", "failed calling webhook \"w\": connection refused"), true},
      {"the API server is away", Refusal(503, "ServiceUnavailable", "away"), false},
  };
  o_.declared_version = o_.provider.spec.version = "v1.12.0";
  o_.provider.status.contract = "v1beta2";
  o_.inventory.Put(kSettings, {"v1", "of the former release", "fields", false});  // so that it is tried
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Refuse("settings", c.answer);
    Observation seen = o_;
    auto acted = Act(seen, Upgrade{"v1.12.1"});
    ASSERT_TRUE(acted.ok() && *acted);
    const Done& done = **acted;
    EXPECT_FALSE(done.hold);
    EXPECT_EQ(done.chosen, "");
    EXPECT_EQ(done.withdrawn.has_value(), c.withdrawn);
    EXPECT_EQ(done.away.has_value(), !c.withdrawn);
    const NextPass next = NextPassOf(o_, done, true, Seconds(3600));
    EXPECT_EQ(next.backoff.has_value(), !c.withdrawn);
    EXPECT_FALSE(next.resync && done.away);
  }
  EXPECT_EQ(Written("settings"), 0u);
  const std::string key = o_.provider.id.Key();
  EXPECT_EQ(actor_->RenderedInputs(key), o_.rendered) << "D1: what runs can be restored at once";
  RefuseNothing();
  Refuse("status", Forbidden());
  auto unannounced = Act(o_, Upgrade{"v1.12.1"});
  ASSERT_TRUE(unannounced.ok() && *unannounced);
  EXPECT_TRUE((*unannounced)->withdrawn) << "its announcement is refused, which is no outage";
  EXPECT_EQ(actor_->RenderedInputs(key), "") << "what runs isn't restored from what was rendered of it";
  RefuseNothing();
  auto acted = Act(o_, Upgrade{"v1.12.1"});
  ASSERT_TRUE(acted.ok() && *acted);
  EXPECT_EQ((*acted)->chosen, "v1.12.1");
}

// U13: one that has begun ends when a try is refused after its time, and the one before was refused, too.
TEST_F(InstallingActorTest, AChoiceEndsWhereATryIsRefusedTooLate_U13) {
  const struct {
    std::string_view name, before;
    http::Response answer;
    Millis late;
    bool ends;
  } cases[] = {
      {"again", "InstallFailed", Forbidden(), Seconds(5), true},
      {"in time", "InstallFailed", Forbidden(), -Seconds(5), false},
      {"once, after an outage", "APIServerUnavailable", Forbidden(), Seconds(5), false},
      {"an outage", "InstallFailed", Refusal(503, "ServiceUnavailable", "away"), Seconds(5), false},
  };
  o_.declared_version = "v1.12.0";
  o_.provider.spec.version = "v1.12.1";
  o_.inventory.Put(kSettings, {"v1", "of the former release", "fields", false});  // so that it is tried
  const auto history = o_.provider.status.history;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Refuse("settings", c.answer);
    api::ProviderStatus& status = o_.provider.status;
    status.history = history;
    status.history.insert(status.history.begin(), api::HistoryEntry{"v1.12.1", "v1beta2", "sha256:1"});
    api::HistoryEntry& begun = status.history.front();
    begun.outcome = api::outcome::kApplying;
    begun.instead_of = "v1.12.0";
    begun.inputs = InputsDigest(o_);
    begun.started = FormatTime(o_.now - o_.provider.spec.rollout.timeout - c.late);
    status.conditions = {{"Ready", "False", std::string(c.before), "exceeded quota", 1, ""}};
    const Done done = Install({InputsDigest(o_)});
    ASSERT_TRUE(done.hold);
    EXPECT_EQ(done.rollout && !done.rollout->message.empty(), c.ends);
    EXPECT_EQ(done.again_after == Millis(0), c.ends);
  }
}

// U13, I3: who empties spec.version beside a policy gets no newest version, at any time.
TEST_F(InstallingActorTest, AnEmptiedVersionIsWhatRuns_U13) {
  o_.provider.spec.upgrade_policy.type = api::UpgradeType::kPatch;
  o_.provider.spec.version = o_.declared_version = "";
  Done done = Install({""});
  ASSERT_TRUE(done.now);
  EXPECT_FALSE(done.hold) << done.hold->message;
  EXPECT_EQ(done.now->declared_version, "v1.12.0");
  EXPECT_EQ(done.now->provider.spec.version, "v1.12.0");
}

// D1: after a restart with another key of inventories (docs/formats.md says how to change it) the hash of what is
// secret was another one than the inventory's. That was taken for something that was never applied, and not restored.
TEST_F(InstallingActorTest, WhatIsSecretIsRestoredWithAnotherKey) {
  for (bool missing : {true, false}) {
    SCOPED_TRACE(missing);
    const std::string before = o_.inventory.Find(kToken)->hash;
    Start();
    o_.rendered.clear();
    auto acted = Act(o_, Restore{{{kToken, missing, {.fields = "others"}, {}}}, {}});
    ASSERT_TRUE(acted.ok() && *acted && (*acted)->inventory);
    EXPECT_EQ((*acted)->restored.size(), 1u);
    EXPECT_EQ(Written("token"), missing ? 1u : 2u);
    EXPECT_NE((*acted)->inventory->Find(kToken)->hash, before) << "the key is another one";
    o_.inventory = *(*acted)->inventory;
  }
}

// T5: what a restoration after a restart took was in nothing but `reconcile`.
TEST_F(InstallingActorTest, TellsWhatARestorationTook) {
  const auto parts = [](const Done& done) {
    std::vector<Phase> out;
    for (const auto& [phase, time] : done.times) out.push_back(phase);
    return out;
  };
  o_.rendered.clear();
  auto acted = Act(o_, Restore{{{kSettings, true, {}, {}}}, {}});
  ASSERT_TRUE(acted.ok() && *acted);
  EXPECT_THAT(parts(**acted), ElementsAre(Phase::kFetch, Phase::kRender, Phase::kApply));
  acted = Act(o_, Restore{{{kSettings, true, {}, {}}}, {}});
  ASSERT_TRUE(acted.ok() && *acted);
  EXPECT_THAT(parts(**acted), ElementsAre(Phase::kApply)) << "the render is at hand";
}

}  // namespace
}  // namespace capi::ops
