// For tests: an actor that installs, restores and rolls back, on a server of the test's own.
#pragma once

#include <fmt/core.h>

#include <algorithm>

#include "operator/act/actor_testing.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// "aws" with two releases of one ConfigMap in the cluster, of which v1.12.0 was installed by this actor.
// Thread-compatible.
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
      const auto groups = [&](const char* items) {
        return fmt::format(R"({{"kind":"APIGroupDiscoveryList","items":[{}]}})", items);
      };
      objects_["/api"] = groups("");
      objects_["/apis"] = groups(R"({"metadata":{"name":"aggregated.example"},
        "versions":[{"version":"v1","freshness":"Stale","resources":[]}]})");
      for (const StoredRelease& release : o_.releases) Store(release);
    }
    o_.inventory.Put(kSettings, {"v1", "", "", false});  // or it would be looked for
    Done done = Install({InputsDigest(o_)});
    EXPECT_FALSE(done.hold) << done.hold->message;
    if (o_.provider.status.history.empty()) return;
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

  void Store(const StoredRelease& release, const std::string& more = "") CAPI_REQUIRES(mu_) {
    objects_["/api/v1/namespaces/aws-system/configmaps/" + release.name] =
        ToJsonText({{"metadata",
                     {{"name", release.name},
                      {"namespace", release.ns},
                      {"labels", {{std::string(api::kLabelReleaseVersion), release.version_text}}}}},
                    {"data",
                     {{"metadata",
                       "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                       "- {major: 1, minor: 12, contract: v1beta2}\n"},
                      {"components",
                       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: n}\n"
                       "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: n}\n" +
                           more}}}});
  }

  Done Install(const ops::Install& step) {
    auto acted = Act(o_, step);
    EXPECT_TRUE(acted.ok() && *acted);
    return acted.ok() && *acted ? **std::move(acted) : Done{};
  }
  size_t Written(const std::string& name) {
    MutexLock lock(mu_);
    return static_cast<size_t>(std::count(written_.begin(), written_.end(), name));
  }

  size_t Asked(const std::string& name) {
    MutexLock lock(mu_);
    return static_cast<size_t>(std::count(asked_.begin(), asked_.end(), name));
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
  // v1.12.1 is late, and is to be rolled back, which changes the settings.
  void ToBeRolledBack() {
    RolledBack();
    o_.provider.status.history.front().outcome = api::outcome::kRollingOut;
    o_.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
    o_.inventory.Put(kSettings, {"v1", "of the failed release", "fields", false});
  }
  Done RollBack() {
    Observation seen = o_;
    auto acted = Act(seen, ops::Install{InputsDigest(o_), {}, "v1.12.0"});
    Done done = acted.ok() && *acted ? **std::move(acted) : Done{};
    EXPECT_TRUE(done.hold && done.rollout);
    if (!done.hold) done.hold.emplace();
    if (!done.rollout) done.rollout.emplace();
    return done;
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

inline http::Response Refusal(int status, std::string_view reason, std::string_view message) {
  http::Response response{.status = status, .headers = {}, .body = ""};
  response.body = ToJsonText({{"kind", "Status"}, {"code", status}, {"reason", reason}, {"message", message}});
  return response;
}

inline http::Response Forbidden() { return Refusal(403, "Forbidden", "exceeded quota"); }

}  // namespace capi::ops
