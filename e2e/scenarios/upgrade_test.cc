// Changes of version on a real control plane: in stages, without a moment without a replica, back again where they fail
// (behaviour.md U2, U3, U5).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "base/mutex.h"
#include "base/testing/length.h"
#include "base/yaml/yaml.h"
#include "e2e/releases/tiny_core.h"
#include "e2e/support/injected_faults.h"
#include "e2e/support/managed_cluster.h"
#include "e2e/support/passes.h"
#include "e2e/support/recorder.h"
#include "kube/apply/apply.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;

std::int64_t Available(const kube::Object& object) { return GetInt(object.json(), {"status", "availableReplicas"}); }

std::string StorageOf(const kube::Object& crd) {
  const Json* versions = Find(crd.json(), {"spec", "versions"});
  if (versions == nullptr) return "";
  for (const Json& v : *versions) {
    if (GetBool(v, {"storage"})) return GetString(v, {"name"});
  }
  return "";
}

bool Serves(const kube::Object& crd, std::string_view version) {
  const Json* versions = Find(crd.json(), {"spec", "versions"});
  return versions != nullptr && std::any_of(versions->begin(), versions->end(), [&](const Json& v) {
           return GetString(v, {"name"}) == version && GetBool(v, {"served"});
         });
}

bool HasNewPodsAlone(const kube::Object& deployment) {
  const Json& json = deployment.json();
  return GetInt(json, {"status", "updatedReplicas"}) == 1 && GetInt(json, {"status", "replicas"}) == 1 &&
         GetInt(json, {"status", "observedGeneration"}) == GetInt(json, {"metadata", "generation"});
}

class Upgrade : public ManagedCluster {
 protected:
  void SetVersion(const std::string& version, Json more = Json::object()) {
    Json spec = std::move(more);
    spec["version"] = version;
    PatchSpec(kCore, spec);
  }
  bool AwaitInstalled(const std::string& version, Millis timeout = Seconds(60)) {
    bool there = Eventually(
        [&] {
          Seen seen = See(kCore);
          return seen.provider.status.installed_version == version && seen.Status("Ready") == "True";
        },
        timeout);
    EXPECT_TRUE(there) << See(kCore).Describe();
    return there;
  }
  std::vector<kube::Object> CoreCrds() {
    auto crds = cluster_->client().List(cluster_->ctx(), kube::Builtin("CustomResourceDefinition"), "",
                                        {.label_selector = "cluster.x-k8s.io/provider=cluster-api"});
    EXPECT_TRUE(crds.ok());
    return crds.ok() ? crds->items : std::vector<kube::Object>{};
  }
};

// U2, U3: v1.10.4 -> v1.11.0 switches the storage version of every CRD and the path of every webhook.
TEST_F(Upgrade, GoesInStagesAndNeverWithoutAReplica) {
  CAPI_NEED_RELEASES("cluster-api/v1.10.4", "cluster-api/v1.11.0");
  ASSERT_TRUE(Install(kCore, "v1.10.4"));
  StoreRelease(kCore, "v1.11.0");
  Recorder deployments(*cluster_, "Deployment", kCore.ns), crds(*cluster_, "CustomResourceDefinition", ""),
      webhooks(*cluster_, "ValidatingWebhookConfiguration", "");
  SetVersion("v1.11.0");
  ASSERT_TRUE(AwaitInstalled("v1.11.0"));
  ASSERT_TRUE(AwaitReason(kCore, "StorageMigrated", "StorageMigrated"));

  std::int64_t sent = 0, rolled_out = 0;
  for (const auto& event : deployments.Seen()) {
    EXPECT_GE(Available(event.object), 1) << "U2: " << ToJsonText(*Find(event.object.json(), {"status"}));
    EXPECT_NE(event.type, kube::WatchEvent::Type::kDeleted);
    bool fresh = GetInt(event.object.json(), {"metadata", "generation"}) > 1;
    if (fresh && sent == 0) sent = VersionOf(event.object);
    if (sent != 0 && HasNewPodsAlone(event.object) && rolled_out == 0) rolled_out = VersionOf(event.object);
  }
  ASSERT_GT(sent, 0);
  ASSERT_GT(rolled_out, sent);
  std::map<std::string, std::int64_t> served, switched;  // since which version v1beta2 is
  for (const auto& event : crds.Seen()) {
    if (event.object.label("cluster.x-k8s.io/provider") != "cluster-api") continue;
    if (Serves(event.object, "v1beta2")) served.emplace(event.object.name(), VersionOf(event.object));
    if (StorageOf(event.object) == "v1beta2") switched.emplace(event.object.name(), VersionOf(event.object));
  }
  const std::set<std::string> all = CrdsOf(GetRelease("cluster-api", "v1.11.0"));
  ASSERT_FALSE(all.empty());
  std::int64_t webhook = 0;
  for (const auto& event : webhooks.Seen()) {
    if (event.object.label("cluster.x-k8s.io/provider") == "cluster-api" && webhook == 0) {
      webhook = VersionOf(event.object);
    }
  }
  EXPECT_GT(webhook, rolled_out) << "old pods don't serve the new paths";
  for (const std::string& name : all) {
    ASSERT_TRUE(served.contains(name) && switched.contains(name)) << name;
    EXPECT_LT(served[name], sent) << name << " at the new version is served before the pods come";
    EXPECT_GT(switched[name], webhook) << name;
  }
  for (const auto& crd : CoreCrds()) {
    EXPECT_EQ(ToJsonText(*Find(crd.json(), {"status", "storedVersions"})), "[\"" + StorageOf(crd) + "\"]")
        << crd.name();
  }
  const auto& history = See(kCore).provider.status.history;
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].version + " " + history[0].outcome, "v1.11.0 Succeeded");
  EXPECT_EQ(See(kCore).Reason("ProviderUpgraded"), "ProviderUpgraded");
}

// ---- A small core, whose CRD, pods and paths a test decides on ----

class SmallUpgrade : public Upgrade {
 protected:
  void Store(const TinyCore& small) { StoreTiny(*cluster_, kCore.ns, small); }
  bool Install(const TinyCore& small, Json more = Json::object()) {
    cluster_->CreateNamespace(kCore.ns);
    Store(small);
    more["version"] = small.version;
    more["fetchConfig"] = TinySource();
    cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, more);
    return AwaitInstalled(small.version);
  }
  void TearDown() override {
    Upgrade::TearDown();
    if (!cluster_) return;
    for (const char* version : {"v1.0.0", "v1.0.1", "v1.1.0"}) {
      (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns,
                                      std::string("small-") + version);
    }
  }
  std::string Path() {
    auto webhook = cluster_->Get("ValidatingWebhookConfiguration", "", "small-webhook");
    return GetString((*Find(webhook.json(), {"webhooks"}))[0], {"clientConfig", "service", "path"});
  }
  kube::Resource Smalls(const std::string& version) {
    return {.group = "cluster.x-k8s.io", .version = version, .plural = "smalls", .kind = "Small"};
  }
  kube::Object NewSmall(const std::string& version, const std::string& name) {
    return kube::Object(Json{{"apiVersion", "cluster.x-k8s.io/" + version},
                             {"kind", "Small"},
                             {"metadata", {{"name", name}, {"namespace", kCore.ns}}},
                             {"spec", {{"keep", name}}}});
  }
  // A person's edit of the spec, and the manager's of the status.
  void Edit(const std::string& name) {
    auto patch = [&](const Json& edit, const std::string& subresource) {
      auto edited = cluster_->client().Patch(cluster_->ctx(), Smalls("v1"), kCore.ns, name, kube::PatchType::kMerge,
                                             edit, {.subresource = subresource});
      EXPECT_TRUE(edited.ok()) << edited.error().message;
    };
    patch({{"spec", {{"keep", "edited"}}}}, "");
    patch({{"status", {{"seen", "edited"}}}}, "status");
  }
  kube::Object Manager() { return cluster_->Get("Deployment", kCore.ns, "small-manager"); }
  std::string Image() {
    kube::Object deployment = Manager();
    return GetString((*Find(deployment.json(), {"spec", "template", "spec", "containers"}))[0], {"image"});
  }
};

// Does `one` for 0 to `count` - 1, eight at a time.
void ForEachOf(int count, const std::function<void(int)>& one) {
  std::atomic<int> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = next++; n < count; n = next++) one(n);
    });
  }
}

// Somebody who edits an object whenever the operator is about to write it: what it may have read of it is older then.
// Holds up these writes, too. Thread-compatible.
class Editor {
 public:
  using Edit = std::function<void(const std::string& name)>;
  Editor(kube::FaultProxy& proxy, Edit edit)
      : edit_(std::move(edit)), faults_(proxy, [this](const kube::ProxyRequest& request) { return Meet(request); }) {}
  void Stop() { faults_.Clear(); }
  // The names of those that it has edited so far.
  std::set<std::string> Edited() {
    MutexLock lock(mu_);
    return edited_;
  }

 private:
  kube::Fault Meet(const kube::ProxyRequest& request) {
    constexpr std::string_view kPath = "/smalls/";
    const size_t at = request.target.find(kPath);
    if (request.method == "GET" || at == std::string::npos) return {};
    const std::string rest = request.target.substr(at + kPath.size());
    const std::string name = rest.substr(0, rest.find_first_of("/?"));
    edit_(name);
    MutexLock lock(mu_);
    edited_.insert(name);
    return {.delay = Millis(200)};
  }

  const Edit edit_;
  Mutex mu_;
  std::set<std::string> edited_ CAPI_GUARDED_BY(mu_);
  InjectedFaults faults_;  // the last one: it uses the others
};

// U3: objects are written anew at the version that is stored now, and the next release may drop the old one. Meanwhile
// what drifts is restored, and who edits the objects loses nothing.
TEST_F(SmallUpgrade, MigratesWhatIsStored) {
  const int count = ByLength(300, 5'000, 100'000);
  auto name = [](int i) { return fmt::format("s{}", i); };
  StartBehindProxy();
  ASSERT_TRUE(Install({.version = "v1.0.0", .crd_versions = "v1*"}));
  std::vector<std::string> uids(static_cast<size_t>(count));
  ForEachOf(count, [&](int i) {
    auto made = cluster_->client().Create(cluster_->ctx(), Smalls("v1"), NewSmall("v1", name(i)));
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (made.ok()) uids[static_cast<size_t>(i)] = made->uid();
  });
  ASSERT_FALSE(HasFailure());
  Editor editor(*proxy_, [&](const std::string& object) { Edit(object); });
  Store({.version = "v1.0.1", .crd_versions = "v1,v2*"});
  SetVersion("v1.0.1");
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  const Json drift = {{"metadata", {{"labels", {{std::string(api::kLabelProvider), "nobody"}}}}}};
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("Deployment"), kCore.ns, "small-manager",
                         kube::PatchType::kMerge, drift)
                  .ok());
  EXPECT_TRUE(Eventually([&] { return Manager().label(api::kLabelProvider) == "cluster-api"; }));
  EXPECT_EQ(See(kCore).Status("StorageMigrated"), "False") << "D1 waits for no migration";
  auto says_how_far = [&] {
    return See(kCore).Message("StorageMigrated").find("are written anew") != std::string::npos;
  };
  EXPECT_TRUE(Eventually(says_how_far, Seconds(60))) << See(kCore).Describe();
  EXPECT_TRUE(Eventually([&] { return editor.Edited().size() >= 5; }));
  editor.Stop();
  const std::set<std::string> edited = editor.Edited();
  ASSERT_TRUE(AwaitReason(kCore, "StorageMigrated", "StorageMigrated", Seconds(60) + count * Millis(20)));
  auto stored = cluster_->Get("CustomResourceDefinition", "", "smalls.cluster.x-k8s.io");
  EXPECT_EQ(ToJsonText(*Find(stored.json(), {"status", "storedVersions"})), R"(["v2"])");

  Store({.version = "v1.1.0", .crd_versions = "v2*"});
  SetVersion("v1.1.0");
  ASSERT_TRUE(AwaitInstalled("v1.1.0"));
  auto after = cluster_->client().List(cluster_->ctx(), Smalls("v2"), kCore.ns);
  ASSERT_TRUE(after.ok()) << "an object that is stored at v1 still can't be read: " << after.error().message;
  std::map<std::string, const kube::Object*> objects;
  for (const auto& object : after->items) objects[object.name()] = &object;
  ASSERT_EQ(objects.size(), static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto found = objects.find(name(i));
    ASSERT_NE(found, objects.end()) << name(i);
    EXPECT_EQ(found->second->uid(), uids[static_cast<size_t>(i)]) << "it is another object: " << name(i);
    const bool was_edited = edited.contains(name(i));
    EXPECT_EQ(GetString(found->second->json(), {"spec", "keep"}), was_edited ? "edited" : name(i)) << name(i);
    EXPECT_EQ(GetString(found->second->json(), {"status", "seen"}), was_edited ? "edited" : "") << name(i);
  }
  // The test's own objects go, or the CRD's deletion would have to wait for them.
  ForEachOf(count, [&](int i) {
    EXPECT_TRUE(cluster_->client().Delete(cluster_->ctx(), Smalls("v2"), kCore.ns, name(i)).ok());
  });
}

// I5, U3: before any write.
TEST_F(SmallUpgrade, ARefusedReleaseChangesNothing) {
  ASSERT_TRUE(Install({.version = "v1.0.0", .crd_versions = "v1*"}));
  auto before = See(kCore).provider.status;
  auto crd = cluster_->Get("CustomResourceDefinition", "", "smalls.cluster.x-k8s.io");
  auto deployment = Manager();
  struct Case {
    TinyCore small;
    std::string condition, reason, message;
  };
  const Case cases[] = {
      {{.version = "v1.1.0", .crd_versions = "v2*"},
       "PreflightCheckPassed",
       "StoredVersionsInUse",
       "v1.1.0 has no version v1 of smalls.cluster.x-k8s.io"},
      {{.version = "v1.0.1", .needs_variable = true}, "PreflightCheckPassed", "MissingVariables", "NEW_VARIABLE"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.reason);
    Store(c.small);
    SetVersion(c.small.version);
    ASSERT_TRUE(AwaitReason(kCore, c.condition, c.reason));
    Seen seen = See(kCore);
    EXPECT_THAT(seen.Message(c.condition), HasSubstr(c.message));
    EXPECT_EQ(seen.provider.status.installed_version, "v1.0.0");
    EXPECT_EQ(seen.provider.status.inventory, before.inventory);
  }
  SetVersion("v1.9.0");
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "VersionNotFound"));
  EXPECT_EQ(cluster_->Get("CustomResourceDefinition", "", "smalls.cluster.x-k8s.io").resource_version(),
            crd.resource_version());
  EXPECT_EQ(Manager().resource_version(), deployment.resource_version());
  SetVersion("v1.0.0");
  EXPECT_TRUE(AwaitInstalled("v1.0.0"));
}

// U5: the old pods serve, the condition says what is wrong with the new, and it stays so over a restart; and pods that
// come up late finish the upgrade.
TEST_F(SmallUpgrade, HoldLeavesTheOldPodsServing) {
  ASSERT_TRUE(Install({.version = "v1.0.0"}, {{"rollout", {{"timeout", "6s"}}}}));
  Store({.version = "v1.0.1", .crd_versions = "v1,v2*", .can_run = false});
  Recorder deployments(*cluster_, "Deployment", kCore.ns);
  SetVersion("v1.0.1");
  ASSERT_TRUE(AwaitReason(kCore, "ProviderUpgraded", "RolloutTimedOut"));
  Seen seen = See(kCore);
  EXPECT_THAT(seen.Message("Ready"), HasSubstr("v1.0.1 wasn't healthy within 6s"));
  EXPECT_THAT(seen.Message("Ready"), HasSubstr("pod small-manager-"));
  EXPECT_THAT(seen.Message("Ready"), HasSubstr("node"));
  EXPECT_EQ(seen.Status("Stalled"), "True");
  EXPECT_EQ(seen.provider.status.installed_version, "v1.0.0");
  EXPECT_EQ(Path(), "/v1.0.0") << "the webhooks are those of the pods that serve";
  EXPECT_EQ(StorageOf(cluster_->Get("CustomResourceDefinition", "", "smalls.cluster.x-k8s.io")), "v1");
  EXPECT_FALSE(deployments.Seen().empty());
  for (const auto& event : deployments.Seen()) EXPECT_GE(Available(event.object), 1);

  auto generation = GetInt(Manager().json(), {"metadata", "generation"});
  operator_->Kill();
  operator_->Restart();
  ASSERT_TRUE(kube::Eventually([&] { return Passes(*operator_) > 0; }));
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(See(kCore).Reason("ProviderUpgraded"), "RolloutTimedOut");
  EXPECT_EQ(GetInt(Manager().json(), {"metadata", "generation"}), generation) << "it isn't tried again";

  kube::Object node = cluster_->client().List(cluster_->ctx(), kube::Builtin("Node"), "")->items.front();
  Json label = {{"metadata", {{"labels", {{"no-such", "node"}}}}}};
  ASSERT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("Node"), "", node.name(), kube::PatchType::kMerge, label)
                  .ok());
  EXPECT_TRUE(AwaitInstalled("v1.0.1"));
  EXPECT_EQ(Path(), "/v1.0.1");
  label["metadata"]["labels"]["no-such"] = nullptr;
  EXPECT_TRUE(cluster_->client()
                  .Patch(cluster_->ctx(), kube::Builtin("Node"), "", node.name(), kube::PatchType::kMerge, label)
                  .ok());
}

// U5: back to the last good release, and no loop; then the way on.
TEST_F(SmallUpgrade, RollbackRunsTheLastGoodReleaseAgain) {
  ASSERT_TRUE(Install({.version = "v1.0.0"}, {{"rollout", {{"timeout", "3s"}, {"onFailure", "Rollback"}}}}));
  Store({.version = "v1.1.0", .crd_versions = "v1,v2*", .can_run = false});
  Recorder deployments(*cluster_, "Deployment", kCore.ns);
  SetVersion("v1.1.0");
  ASSERT_TRUE(AwaitReason(kCore, "ProviderUpgraded", "RolledBack"));
  Seen seen = See(kCore);
  EXPECT_THAT(seen.Message("ProviderUpgraded"), HasSubstr("v1.1.0 failed, v1.0.0 runs again"));
  EXPECT_EQ(seen.provider.status.installed_version, "v1.0.0");
  EXPECT_EQ(seen.provider.status.history.front().outcome, "RolledBack");
  EXPECT_EQ(Image(), "registry.example/small:v1.0.0");
  EXPECT_EQ(Path(), "/v1.0.0");
  EXPECT_FALSE(deployments.Seen().empty());
  for (const auto& event : deployments.Seen()) EXPECT_GE(Available(event.object), 1);
  auto stored = cluster_->Get("CustomResourceDefinition", "", "smalls.cluster.x-k8s.io");
  EXPECT_EQ(ToJsonText(*Find(stored.json(), {"status", "storedVersions"})), R"(["v1"])");

  const auto generation = GetInt(Manager().json(), {"metadata", "generation"});
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(See(kCore).Reason("ProviderUpgraded"), "RolledBack");
  EXPECT_EQ(GetInt(Manager().json(), {"metadata", "generation"}), generation) << "it isn't tried again";

  Store({.version = "v1.0.1"});
  SetVersion("v1.0.1");
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  EXPECT_EQ(See(kCore).Status("ProviderUpgraded"), "True");
}

// ---- What somebody else has put there, without our labels ----

class SmallUpgradeOfOthers : public SmallUpgrade {
 protected:
  // As Helm would: the release as it is, or with `only` its objects of one kind.
  void PutThere(const TinyCore& small, const std::function<void(Json&)>& change = nullptr, std::string_view only = "") {
    cluster_->CreateNamespace(kCore.ns);
    auto documents = ParseYamlStream(small.Components());
    ASSERT_TRUE(documents.ok()) << documents.error().message;
    std::vector<kube::Manifest> manifests;
    for (auto& document : *documents) {
      if (!only.empty() && GetString(document.value, {"kind"}) != only) continue;
      if (change) change(document.value);
      manifests.push_back(kube::ToManifest(kube::Object(std::move(document.value))));
    }
    std::vector<kube::Change> changes;
    kube::Applier helm(cluster_->client(), {.field_manager = "helm"});
    auto applied = helm.Apply(cluster_->ctx(), manifests, {}, changes);
    ASSERT_TRUE(applied.ok()) << applied.error().message;
  }
  void AskFor(const TinyCore& small) {
    Store(small);
    Json spec = {{"version", small.version}, {"fetchConfig", TinySource()}};
    cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, spec);
  }
  bool AwaitAvailable() {
    return Eventually([&] { return Available(Manager()) == 1; });
  }
  // Since when only pods of the new release serve; expects that some have served all the time (U2).
  static std::int64_t RolledOutAt(Recorder& deployments) {
    std::int64_t rolled_out = 0;
    for (const auto& event : deployments.Seen()) {
      EXPECT_GE(Available(event.object), 1) << "U2: " << ToJsonText(*Find(event.object.json(), {"status"}));
      const bool fresh = GetInt(event.object.json(), {"metadata", "generation"}) > 1;
      if (fresh && HasNewPodsAlone(event.object) && rolled_out == 0) rolled_out = VersionOf(event.object);
    }
    EXPECT_GT(rolled_out, 0);
    return rolled_out;
  }
};

// U2, U3: over CRDs with objects, and pods that serve them, a first installation is an upgrade.
TEST_F(SmallUpgradeOfOthers, AFirstInstallationIsAChangeOfWhatIsThere) {
  ASSERT_NO_FATAL_FAILURE(PutThere({.version = "v1.0.0", .crd_versions = "v1*"}));
  auto made = cluster_->client().Create(cluster_->ctx(), Smalls("v1"), NewSmall("v1", "mine"));
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_TRUE(AwaitAvailable());
  const std::string before = cluster_->Get("ConfigMap", kCore.ns, "small-config").resource_version();
  AskFor({.version = "v1.1.0", .crd_versions = "v2*"});
  ASSERT_TRUE(AwaitReason(kCore, "PreflightCheckPassed", "StoredVersionsInUse"));
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("v1.1.0 has no version v1 of smalls.cluster.x-k8s.io"));
  EXPECT_EQ(cluster_->Get("ConfigMap", kCore.ns, "small-config").resource_version(), before);

  Recorder deployments(*cluster_, "Deployment", kCore.ns), webhooks(*cluster_, "ValidatingWebhookConfiguration", "");
  AskFor({.version = "v1.0.1", .crd_versions = "v1,v2*"});
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  ASSERT_TRUE(AwaitReason(kCore, "StorageMigrated", "StorageMigrated"));
  const std::int64_t rolled_out = RolledOutAt(deployments);
  ASSERT_FALSE(webhooks.Seen().empty());
  EXPECT_GT(VersionOf(webhooks.Seen().front().object), rolled_out) << "the old pods serve the old path";
  auto crd = cluster_->Get("CustomResourceDefinition", "", "smalls.cluster.x-k8s.io");
  EXPECT_EQ(ToJsonText(*Find(crd.json(), {"status", "storedVersions"})), R"(["v2"])");
  auto kept = cluster_->client().Get(cluster_->ctx(), Smalls("v2"), kCore.ns, "mine");
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept->uid(), made->uid());
  EXPECT_TRUE(cluster_->client().Delete(cluster_->ctx(), Smalls("v2"), kCore.ns, "mine").ok());
}

// U2, U7: pods that serve are enough; also for who goes on where another died between its announcement and the
// workload.
TEST_F(SmallUpgradeOfOthers, PodsThatServeGoOnServing) {
  StartBehindProxy();
  ASSERT_NO_FATAL_FAILURE(PutThere({.version = "v1.0.0"}, nullptr, "Deployment"));
  ASSERT_TRUE(AwaitAvailable());
  Recorder deployments(*cluster_, "Deployment", kCore.ns), webhooks(*cluster_, "ValidatingWebhookConfiguration", "");
  InjectedFaults faults(*proxy_, [](const kube::ProxyRequest& request) {
    const std::string& to = request.target;
    const bool write = to.find("/configmaps/small-config?") != to.npos && to.find("dryRun") == to.npos;
    return kube::Fault{.status = write ? 503 : 0};
  });
  AskFor({.version = "v1.0.1"});
  ASSERT_TRUE(kube::Eventually([&] { return See(kCore).Reason("Ready") == "APIServerUnavailable"; }));
  operator_->Kill();
  faults.Clear();
  operator_->Restart();
  ASSERT_TRUE(AwaitInstalled("v1.0.1"));
  const std::int64_t rolled_out = RolledOutAt(deployments);
  ASSERT_FALSE(webhooks.Seen().empty());
  EXPECT_GT(VersionOf(webhooks.Seen().front().object), rolled_out) << "the old pods serve the old path";
}

// I5: before the first write. The selector can't be changed, and what another object owns isn't made anew (U4, U9).
TEST_F(SmallUpgradeOfOthers, WhatCanNotBeChangedIsToldBeforeAnythingIsWritten) {
  cluster_->CreateNamespace(kCore.ns);
  cluster_->StoreConfigMap(kCore.ns, "owner", {}, {});
  const Json owner = {{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"name", "owner"},
                      {"uid", cluster_->Get("ConfigMap", kCore.ns, "owner").uid()}};
  auto owned = [&](Json& object) { object["metadata"]["ownerReferences"] = Json::array({owner}); };
  ASSERT_NO_FATAL_FAILURE(PutThere({.version = "v1.0.0", .app = "another"}, owned, "Deployment"));
  AskFor({.version = "v1.0.1"});
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "DryRunFailed")) << See(kCore).Describe();
  EXPECT_THAT(See(kCore).Message("Ready"), HasSubstr("small-manager"));
  EXPECT_TRUE(See(kCore).provider.status.inventory.empty());
  EXPECT_FALSE(cluster_->Exists({"apiextensions.k8s.io", "CustomResourceDefinition", "", "smalls.cluster.x-k8s.io"}));
  EXPECT_FALSE(cluster_->Exists({"", "ConfigMap", kCore.ns, "small-config"}));
  for (const auto& [kind, name] : {std::pair{"Deployment", "small-manager"}, std::pair{"ConfigMap", "owner"}}) {
    EXPECT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin(kind), kCore.ns, name).ok());
  }
}

}  // namespace
}  // namespace capi::e2e
