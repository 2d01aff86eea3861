// Changes other than of a version: a forced fetch, a field that can't change, another build of the operator
// (behaviour.md U8, U9, U10).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/files.h"
#include "base/processes/temporary_folder.h"
#include "e2e/releases/tiny_core.h"
#include "e2e/support/managed_cluster.h"
#include "e2e/support/recorder.h"

namespace capi::e2e {
namespace {

std::int64_t Available(const kube::Object& object) { return GetInt(object.json(), {"status", "availableReplicas"}); }

bool IsOwnedBy(const kube::Object& object, const kube::Object& owner) {
  const Json* owners = Find(object.json(), {"metadata", "ownerReferences"});
  return owners != nullptr && std::any_of(owners->begin(), owners->end(),
                                          [&](const Json& one) { return GetString(one, {"uid"}) == owner.uid(); });
}

class Change : public UnmanagedCluster {
 protected:
  void SetUp() override {
    UnmanagedCluster::SetUp();
    if (cluster_) cluster_->CreateNamespace(kCore.ns);
  }
  void TearDown() override {
    UnmanagedCluster::TearDown();
    if (!cluster_) return;
    (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), kCore.ns, "small-v1.0.0").ok();
  }
  std::string Extra() {
    return GetString(cluster_->Get("ConfigMap", kCore.ns, "small-config").json(), {"data", "extra"});
  }
  TemporaryFolder folder_;
};

void WriteRelease(const std::string& folder, const TinyCore& release) {
  std::string path = folder + "/cluster-api/" + release.version;
  std::filesystem::create_directories(path);
  ASSERT_TRUE(WriteFile(path + "/metadata.yaml", release.Metadata()).ok());
  ASSERT_TRUE(WriteFile(path + "/core-components.yaml", release.Components()).ok());
}

// U8: a release that was published anew under the same version comes when it is asked for, and not before.
TEST_F(Change, ReconcileAtFetchesAgain) {
  WriteRelease(folder_.path(), {.version = "v1.0.0", .extra = "first"});
  StartOperator({"--releases-dir", folder_.path()});
  cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, {{"version", "v1.0.0"}});
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(Extra(), "first");

  WriteRelease(folder_.path(), {.version = "v1.0.0", .extra = "second"});
  ASSERT_TRUE(AwaitPass(kCore));
  EXPECT_EQ(Extra(), "first");
  auto annotate = [&](const char* value) {
    Annotate(kCore, "operator.cluster.x-k8s.io/reconcile-at", value);
    EXPECT_TRUE(Eventually([&] { return See(kCore).provider.status.handled_reconcile_at == value; }));
  };
  annotate("1");
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(Extra(), "second");
  auto stored = cluster_->Get("ConfigMap", kCore.ns, "core-cluster-api-v1.0.0");
  EXPECT_NE(GetString(stored.json(), {"data", "components"}).find("second"), std::string::npos);

  // The same again: everything is sent, nothing changes.
  auto before = Versions(kCore);
  annotate("2");
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(Versions(kCore), before);
}

// U10: another build of the operator takes over running providers: the four, and what else there is. It renders again,
// finds the same, and writes nothing but its own note of that.
TEST_F(Change, AnotherBuildOfTheOperatorRestartsNothing) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0", "bootstrap-kubeadm/v1.12.0", "control-plane-kubeadm/v1.12.0",
                     "infrastructure-docker/v1.12.0");
  constexpr auto kInfra = api::ProviderType::kInfrastructure;
  std::vector<std::pair<Managed, std::string>> running = {
      {kCore, "v1.12.0"},
      {kBootstrap, "v1.12.0"},
      {kControlPlane, "v1.12.0"},
      {kDocker, "v1.12.0"},
      {kAws, "v2.11.1"},
      {{kInfra, "capm3-system", "metal3", ""}, "v1.11.8"},
      {{kInfra, "capo-system", "openstack", ""}, "v0.14.7"},
      {{kInfra, "capg-system", "gcp", ""}, "v1.12.0"},
      {{kInfra, "capk-system", "kubevirt", ""}, "v0.11.2"},
      {{api::ProviderType::kIpam, "caip-in-cluster-system", "in-cluster", ""}, "v1.0.3"},
  };
  std::erase_if(running,
                [](const auto& one) { return !MissingReleases({one.first.Label() + "/" + one.second}).empty(); });
  StartOperator();
  for (const auto& [provider, version] : running) Create(provider, version);
  std::map<std::string, std::map<std::string, std::string>> versions;
  std::map<std::string, api::ProviderStatus> before;
  for (const auto& [provider, version] : running) {
    ASSERT_TRUE(AwaitReady(provider)) << provider.Label() << See(provider).Describe();
    versions[provider.Label()] = Versions(provider);
    before[provider.Label()] = See(provider).provider.status;
  }
  // An operator with another renderer has digests of its own.
  operator_.reset();
  for (const auto& item : running) PatchStatus(item.first, {{"applied", "of-another-operator"}});
  StartOperator();
  for (const auto& item : running) {
    const Managed& provider = item.first;
    SCOPED_TRACE(provider.Label());
    const api::ProviderStatus& was = before[provider.Label()];
    ASSERT_TRUE(Eventually([&] { return See(provider).provider.status.applied == was.applied; }))
        << See(provider).Describe();
    EXPECT_EQ(Versions(provider), versions[provider.Label()]);
    EXPECT_EQ(See(provider).provider.status, was);
  }
}

// U9: a Deployment whose selector changes is created anew, and its old pods serve until the new ones do.
TEST_F(Change, AnotherSelectorNeedsNoOutage) {
  StartOperator();
  StoreTiny(*cluster_, kCore.ns, {.version = "v1.0.0"});
  cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, {{"version", "v1.0.0"}, {"fetchConfig", TinySource()}});
  ASSERT_TRUE(AwaitReady(kCore));
  kube::Object old = cluster_->Get("Deployment", kCore.ns, "small-manager");
  Recorder sets(*cluster_, "ReplicaSet", kCore.ns);
  // One that another test left may take its time to go.
  std::map<std::string, std::int64_t> available;
  std::set<std::string> others;
  for (const auto& set : sets.Before()) {
    if (IsOwnedBy(set, old)) {
      available[set.uid()] = Available(set);
    } else {
      others.insert(set.uid());
    }
  }
  ASSERT_EQ(available.size(), 1u);
  StoreTiny(*cluster_, kCore.ns, {.version = "v1.0.0", .app = "other"});
  bool changed = Eventually([&] {
    auto left = cluster_->client().List(cluster_->ctx(), kube::Builtin("ReplicaSet"), kCore.ns);
    auto now = cluster_->client().Get(cluster_->ctx(), kube::Builtin("Deployment"), kCore.ns, "small-manager");
    if (!now.ok() || now->uid() == old.uid() || !left.ok()) return false;
    std::erase_if(left->items, [&](const auto& set) { return others.contains(set.uid()); });
    // What has gone is taken out of the inventory after it went.
    return left->items.size() == 1u && See(kCore).Status("Ready") == "True" && !InventoryOf(kCore).has_stale();
  });
  EXPECT_TRUE(changed) << See(kCore).Describe();
  for (const auto& event : sets.Seen()) {
    if (others.contains(event.object.uid())) continue;
    available[event.object.uid()] = event.type == kube::WatchEvent::Type::kDeleted ? 0 : Available(event.object);
    std::int64_t sum = 0;
    for (const auto& [uid, pods] : available) sum += pods;
    EXPECT_GE(sum, 1) << event.object.name();
  }
  EXPECT_EQ(available.size(), 2u);
  EXPECT_GT(InventoryOf(kCore).size(), 0u);
}

}  // namespace
}  // namespace capi::e2e
