#include "operator/act/actor.h"

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
  std::map<std::string, std::string> objects_ CAPI_GUARDED_BY(mu_);  // by path
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
        objects_["/api/v1/namespaces/aws-system/configmaps/" + release.name] = ToJsonText(
            {{"metadata", {{"name", release.name}, {"namespace", release.ns}}},
             {"data",
              {{"metadata",
                "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                "- {major: 1, minor: 12, contract: v1beta2}\n"},
               {"components", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: n}\n"}}}});
      }
    }
    o_.inventory.Put(kSettings, {"v1", "", "", false});  // or it would be looked for
    Done done = Install({InputsDigest(o_)});
    o_.rendered = o_.provider.status.applied = InputsDigest(o_);
    o_.provider.status.installed_version = "v1.12.0";
    o_.provider.status.history.front().outcome = api::outcome::kSucceeded;
    EXPECT_TRUE(done.inventory && done.inventory->Find(kSettings)->ever_applied());
    if (done.inventory) o_.inventory = *done.inventory;
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

  const kube::ObjectId kSettings{"", "ConfigMap", "aws-system", "settings"};
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
  o_.provider.spec.version = "v1.12.1";
  o_.provider.status.applied = "";
  api::HistoryEntry failed{"v1.12.1", "v1beta2", "sha256:1", "2027-01-15T07:00:00Z"};
  failed.outcome = api::outcome::kRolledBack;
  failed.inputs = InputsDigest(o_);
  o_.provider.status.history.insert(o_.provider.status.history.begin(), failed);
  o_.inventory.Put(crd, {"v1", "hash", "fields", false});
  o_.fleet.drifts = {{crd, true, {}, {}}};
  Step step = FollowRollout(o_, InputsDigest(o_)).value_or(Steady{});
  ASSERT_TRUE(std::holds_alternative<ops::Install>(step)) << testing::StepName(step);
  Done done = Install(std::get<ops::Install>(step));
  ASSERT_TRUE(done.inventory);
  EXPECT_EQ(done.inventory->Find(crd), nullptr);
  EXPECT_NE(done.inventory->Find(kSettings), nullptr);
}

}  // namespace
}  // namespace capi::ops
