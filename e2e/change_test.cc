// Changes other than of a version: a forced fetch, a field that can't change, another build of the operator
// (behaviour.md U8, U9, U10).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "e2e/managed_cluster.h"
#include "e2e/tiny_core.h"
#include "kube/apply/inventory.h"
#include "kube/testing/folder.h"

namespace capi::e2e {
namespace {

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
  // Version of every object of the provider, by name.
  std::map<std::string, std::string> Versions(const Managed& provider = kCore) {
    std::map<std::string, std::string> out;
    auto inventory = kube::Inventory::Parse(See(provider).provider.status.inventory);
    EXPECT_TRUE(inventory.ok());
    for (const auto& [id, entry] : inventory->entries()) {
      auto resource = cluster_->client().mapper().For(cluster_->ctx(), id.group_kind(), entry.version);
      EXPECT_TRUE(resource.ok()) << id.ToString();
      if (!resource.ok()) continue;
      auto object = cluster_->client().Get(cluster_->ctx(), *resource, id.ns, id.name);
      EXPECT_TRUE(object.ok()) << id.ToString();
      if (object.ok()) out[id.ToString()] = object->resource_version();
    }
    return out;
  }

  kube::TemporaryFolder folder_;
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
  auto annotate = [&](const char* value) {
    Annotate(kCore, "operator.cluster.x-k8s.io/reconcile-at", value);
    EXPECT_TRUE(kube::Eventually([&] { return See(kCore).provider.status.handled_reconcile_at == value; }));
  };
  annotate("1");
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(Extra(), "second");
  auto stored = cluster_->Get("ConfigMap", kCore.ns, "core-cluster-api-v1.0.0");
  EXPECT_NE(GetString(stored.json(), {"data", "components"}).find("second"), std::string::npos);

  // The same again: everything is sent, nothing changes.
  auto before = Versions();
  annotate("2");
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(Versions(), before);
}

// U10: another build of the operator takes over ten running providers. It renders again, finds the same, and writes
// nothing but its own note of that.
TEST_F(Change, AnotherBuildOfTheOperatorRestartsNothing) {
  constexpr auto kInfra = api::ProviderType::kInfrastructure;
  const std::vector<std::pair<Managed, std::string>> running = {
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
  StartOperator();
  for (const auto& [provider, version] : running) Create(provider, version);
  std::map<std::string, std::map<std::string, std::string>> versions;
  std::map<std::string, api::ProviderStatus> before;
  for (const auto& [provider, version] : running) {
    ASSERT_TRUE(AwaitReady(provider)) << provider.Label() << See(provider).Describe();
    versions[provider.Label()] = Versions(provider);
    before[provider.Label()] = See(provider).provider.status;
  }
  StartOperator({}, {"CAPI_OPERATOR_RENDERER_VERSION=another"});
  for (const auto& item : running) {
    const Managed& provider = item.first;
    SCOPED_TRACE(provider.Label());
    const api::ProviderStatus& was = before[provider.Label()];
    ASSERT_TRUE(kube::Eventually([&] {
      std::string applied = See(provider).provider.status.applied;
      return !applied.empty() && applied != was.applied;
    })) << See(provider).Describe();
    EXPECT_EQ(Versions(provider), versions[provider.Label()]);
    api::ProviderStatus now = See(provider).provider.status;
    now.applied = was.applied;
    EXPECT_EQ(now, was);
  }
}

// U9: a Deployment whose selector changes is created anew, and its old pods serve until the new ones do.
TEST_F(Change, AnotherSelectorNeedsNoOutage) {
  StartOperator();
  StoreTiny(*cluster_, kCore.ns, {.version = "v1.0.0"});
  cluster_->ApplyProvider(kCore.type, kCore.ns, kCore.name, {{"version", "v1.0.0"}, {"fetchConfig", TinySource()}});
  ASSERT_TRUE(AwaitReady(kCore));
  kube::Object old = cluster_->Get("Deployment", kCore.ns, "small-manager");
  auto sets = [&] {
    auto list = cluster_->client().List(cluster_->ctx(), kube::Builtin("ReplicaSet"), kCore.ns);
    EXPECT_TRUE(list.ok());
    return list.ok() ? list->items : std::vector<kube::Object>{};
  };
  ASSERT_EQ(sets().size(), 1u);
  StoreTiny(*cluster_, kCore.ns, {.version = "v1.0.0", .app = "other"});
  std::int64_t least = 99;
  bool changed = kube::Eventually([&] {
    std::int64_t available = 0;
    auto all = sets();
    for (const auto& set : all) available += GetInt(set.json(), {"status", "availableReplicas"});
    least = std::min(least, available);
    auto now = cluster_->client().Get(cluster_->ctx(), kube::Builtin("Deployment"), kCore.ns, "small-manager");
    return now.ok() && now->uid() != old.uid() && all.size() == 1u && See(kCore).Status("Ready") == "True";
  });
  EXPECT_TRUE(changed) << See(kCore).Describe();
  EXPECT_GE(least, 1);
  auto inventory = kube::Inventory::Parse(See(kCore).provider.status.inventory);
  ASSERT_TRUE(inventory.ok());
  for (const auto& [id, entry] : inventory->entries()) EXPECT_FALSE(entry.stale) << id.ToString();
}

}  // namespace
}  // namespace capi::e2e
