#include "operator/act/actor.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/http/server/server.h"
#include "operator/decide/rollout.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An actor on a server that has nothing, and remembers what it was asked for.
class ActorTest : public ::testing::Test {
 protected:
  ActorTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      asked_.push_back(request.path.substr(request.path.rfind('/') + 1));
      if (auto no = refusals_.find(asked_.back()); request.method != "GET" && no != refusals_.end()) return no->second;
      if (takes_ && request.method != "GET") return Written(request);
      if (auto found = objects_.find(request.path); request.method == "GET" && found != objects_.end()) {
        return http::Response{.status = 200, .headers = {}, .body = found->second};
      }
      return http::Response{.status = refuse_ ? 403 : 404, .headers = {}, .body = ""};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()}, {.user_agent = "actor-test"});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    watches_.emplace(*client_, nullptr);
    use_.emplace(*client_, *watches_);
    observer_.emplace(Observer::Needs{*client_, cache_, *watches_, settings_, fights_, *use_, SystemClock(),
                                      [](const std::string&) { return MigrationProgress{}; },
                                      [](const std::string&) { return std::string(); },
                                      [] { return std::vector<std::string>(); }, nullptr});
    writer_.emplace(*client_, cache_, masks_);
    secrets_.emplace(*client_, cache_, masks_, settings_, nullptr);
    Start();
  }
  // A process of the operator: the next one has no render at hand, and reads the key of inventories anew.
  void Start() {
    actor_.reset();
    key_.emplace(*client_, "own");
    actor_.emplace(Actor::Needs{*client_, *observer_, cache_, *writer_, settings_, sources_, masks_, *secrets_, fights_,
                                SystemClock(), *key_, [this](const std::string& key) {
                                  MutexLock lock(mu_);
                                  woken_.push_back(key);
                                  changed_.notify_all();
                                }});
  }
  Actor::Acted Act(Observation& o, const Step& step) { return actor_->Act(ctx_, o, step); }
  // Every migration that is asked for runs; returns the CRDs that were looked at when `last` has ended.
  std::vector<std::string> MigrateUntil(const std::string& last) {
    std::stop_source stop;
    Context ctx = ctx_.WithStop(stop.get_token());
    std::thread worker([&] { actor_->RunMigrations(ctx); });
    {
      MutexLock lock(mu_);
      EXPECT_TRUE(changed_.wait_for(mu_, Seconds(30), [&] {
        mu_.AssertHeld();
        return !woken_.empty() && woken_.back() == last;
      }));
    }
    stop.request_stop();
    worker.join();
    MutexLock lock(mu_);
    return asked_;
  }

  // As it was sent, by the operator.
  http::Response Written(const http::ServerRequest& request) CAPI_REQUIRES(mu_) {
    if (request.query.find("dryRun") == std::string::npos) written_.push_back(asked_.back());
    auto object = ParseJson(request.body);
    EXPECT_TRUE(object.ok()) << request.body;
    Json& metadata = (*object)["metadata"];
    metadata["resourceVersion"] = std::to_string(written_.size());
    metadata["managedFields"] = {
        {{"manager", api::kFieldManager}, {"operation", "Apply"}, {"fieldsV1", {{"f:data", Json::object()}}}}};
    return {.status = 200, .headers = {}, .body = ToJsonText(*object)};
  }

  Context ctx_ = Context{}.WithTimeout(Seconds(60));
  Mutex mu_;
  std::condition_variable_any changed_;
  bool refuse_ CAPI_GUARDED_BY(mu_) = false, takes_ CAPI_GUARDED_BY(mu_) = false;
  std::map<std::string, std::string> objects_ CAPI_GUARDED_BY(mu_);      // by path
  std::map<std::string, http::Response> refusals_ CAPI_GUARDED_BY(mu_);  // of writes, by the object's name
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_), written_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> woken_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
  ProviderCache cache_{[](const ProviderCache::Change&) {}};
  std::optional<Watches> watches_;
  Settings settings_;
  Sources sources_{settings_, {}};
  SecretMasks masks_;
  std::optional<KnownSecrets> secrets_;
  Fights fights_{SystemClock()};
  std::optional<UseFinder> use_;
  std::optional<Observer> observer_;
  std::optional<StatusWriter> writer_;
  std::optional<InventoryKey> key_;
  std::optional<Actor> actor_;
};

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

// "aws" with two releases of one ConfigMap in the cluster, of which v1.12.0 was installed by this actor.
class InstallingActorTest : public ActorTest {
 protected:
  InstallingActorTest() {
    StoredRelease next = o_.releases.front();
    next.name = "infrastructure-aws-v1.12.1";
    next.version_text = "v1.12.1";
    next.version = *api::Version::Parse("v1.12.1");
    o_.releases.push_back(next);
    {
      MutexLock lock(mu_);
      takes_ = true;
      for (const StoredRelease& release : o_.releases) {
        objects_["/api/v1/namespaces/aws-system/configmaps/" + release.name] =
            ToJsonText({{"metadata", {{"name", release.name}, {"namespace", release.ns}}},
                        {"data",
                         {{"metadata",
                           "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                           "- {major: 1, minor: 12, contract: v1beta2}\n"},
                          {"components",
                           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: n}\n"
                           "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: n}\n"}}}});
      }
    }
    o_.inventory.Put(kSettings, {"v1", "", "", false});  // or it would be looked for
    Done done = Install({InputsDigest(o_)});
    o_.rendered = o_.provider.status.applied = InputsDigest(o_);
    o_.provider.status.installed_version = "v1.12.0";
    o_.provider.status.history.front().outcome = api::outcome::kSucceeded;
    EXPECT_TRUE(done.inventory && done.inventory->Find(kSettings)->ever_applied());
    if (done.inventory) o_.inventory = *done.inventory;
    o_.core = testing::Observed().core;  // which the cache of providers doesn't have
    MutexLock lock(mu_);
    written_.clear();
  }
  ~InstallingActorTest() override { watches_->Stop(); }

  Done Install(const ops::Install& step) {
    auto acted = Act(o_, step);
    EXPECT_TRUE(acted.ok() && *acted);
    return acted.ok() && *acted ? **std::move(acted) : Done{};
  }
  size_t Written(const std::string& name) {
    MutexLock lock(mu_);
    return static_cast<size_t>(std::count(written_.begin(), written_.end(), name));
  }

  void Refuse(const std::string& name, http::Response answer) {
    MutexLock lock(mu_);
    refusals_[name] = std::move(answer);
  }
  void RefuseNothing() {
    MutexLock lock(mu_);
    refusals_.clear();
  }
  // v1.12.1 has failed, and v1.12.0 runs again.
  void RolledBack() {
    o_.provider.spec.version = "v1.12.1";
    o_.provider.status.applied = "";
    api::HistoryEntry failed{"v1.12.1", "v1beta2", "sha256:1", "2027-01-15T07:00:00Z"};
    failed.outcome = api::outcome::kRolledBack;
    failed.inputs = InputsDigest(o_);
    o_.provider.status.history.insert(o_.provider.status.history.begin(), failed);
  }
  // What comes of the next look, as the status tells it. The provider's spec is as before.
  Done Look() {
    Step step = Decide(o_);
    const Hold* held = std::get_if<Hold>(&step);
    EXPECT_EQ(held, nullptr) << held->reason << ": " << held->message;
    Observation seen = o_;
    auto acted = Act(seen, step);
    EXPECT_TRUE(acted.ok() && *acted);
    if (!acted.ok() || !*acted) return {};
    o_.provider.status = Summarize(seen, **acted);
    if ((*acted)->inventory) o_.inventory = *(*acted)->inventory;
    return **std::move(acted);
  }

  const kube::ObjectId kSettings{"", "ConfigMap", "aws-system", "settings"};
  const kube::ObjectId kToken{"", "Secret", "aws-system", "token"};
  Observation o_ = testing::Observed();
};

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

http::Response Refusal(int status, std::string_view reason, std::string_view message) {
  http::Response response{.status = status, .headers = {}, .body = ""};
  response.body = ToJsonText({{"kind", "Status"}, {"code", status}, {"reason", reason}, {"message", message}});
  if (status != 403) response.headers.Set("Retry-After", "60");  // or the client tries again before it says so
  return response;
}

http::Response Forbidden() { return Refusal(403, "Forbidden", "exceeded quota"); }

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
  RolledBack();
  o_.provider.status.history.front().outcome = api::outcome::kRollingOut;
  o_.inventory.Put(kSettings, {"v1", "of the failed release", "fields", false});
  Refuse("settings", Forbidden());
  o_.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
  Observation seen = o_;
  auto acted = Act(seen, ops::Install{InputsDigest(o_), {}, "v1.12.0"});
  ASSERT_TRUE(acted.ok() && *acted && (*acted)->hold && (*acted)->rollout);
  EXPECT_THAT((*acted)->hold->message, HasSubstr("; it is not rolled back: v1.12.0 can't be installed: "));
  EXPECT_THAT((*acted)->hold->message, Not(HasSubstr("there is no release")));
  EXPECT_EQ((*acted)->rollout->outcome, "Failed");
}

// U5: what passes by itself ends no rollback before it has begun. That the time was over was told nowhere meanwhile.
TEST_F(InstallingActorTest, ARollbackWaitsForAWebhookThatIsAway) {
  RolledBack();
  o_.provider.status.history.front().outcome = api::outcome::kRollingOut;
  o_.inventory.Put(kSettings, {"v1", "of the failed release", "fields", false});
  Refuse("settings", Refusal(500, "InternalError", "failed calling webhook \"w\": connection refused"));
  Observation seen = o_;
  auto acted = Act(seen, ops::Install{InputsDigest(o_), {}, "v1.12.0"});
  ASSERT_TRUE(acted.ok() && *acted && (*acted)->hold);
  EXPECT_EQ((*acted)->hold->retry, Retry::kBackoff);
  EXPECT_FALSE((*acted)->rollout.has_value());
  EXPECT_THAT((*acted)->hold->message, HasSubstr("(spec.rollout.timeout)"));
  EXPECT_THAT((*acted)->hold->message, HasSubstr("; it is rolled back to v1.12.0 when that can be: "));
  EXPECT_THAT((*acted)->hold->message, HasSubstr("failed calling webhook"));
}

// U5, F5: why something can't be put back was told by the last pass's Stalled. A webhook that is away, or one object's
// 503 beside another's refusal, stalls nothing: the time of such a change never ended.
TEST_F(InstallingActorTest, SaysWhetherSomethingIsRefusedOrTheServerIsAway) {
  const http::Response away = Refusal(503, "ServiceUnavailable", "etcd has no leader"), no = Forbidden();
  const http::Response webhook = Refusal(500, "InternalError", "failed calling webhook \"w\": connection refused");
  const http::Response denial = Refusal(500, "InternalError", "admission webhook \"w\" denied the request: oops");
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
      {"one is refused, and one of all the others fails for now", no, away, "InstallFailed", "DryRunFailed",
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
