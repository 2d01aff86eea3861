#include "operator/decide/adoption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/act/adopt_inventory.h"
#include "operator/decide/decide.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

const api::ProviderId kAws{api::ProviderType::kInfrastructure, "aws-system", "aws"};

ClusterctlEntry Entry(const std::string& ns, const std::string& version, bool ours = false) {
  return {{kAws.type, ns, kAws.name}, version, ours};
}

// A1: what is written is what is read; who wrote it tells ours from clusterctl's.
TEST(ClusterctlInventory, EntriesAreReadBack) {
  kube::Manifest manifest = lifecycle::EntryManifest(kAws, "v2.0.2");
  EXPECT_EQ(manifest.id.ToString(), "Provider.clusterctl.cluster.x-k8s.io/aws-system/infrastructure-aws");
  EXPECT_TRUE(lifecycle::IsEntry(manifest.id));
  EXPECT_EQ(kube::StageOf(manifest.id.group_kind()), kube::Stage::kRecord);
  kube::Object object(*ParseJson(manifest.text));
  auto entry = lifecycle::ParseEntry(object);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->id, kAws);
  EXPECT_EQ(entry->version, "v2.0.2");
  EXPECT_FALSE(entry->ours);
  object.json()["metadata"]["managedFields"] = {{{"manager", "clusterctl"}, {"operation", "Update"}},
                                                {{"manager", "capi-operator"}, {"operation", "Apply"}}};
  EXPECT_TRUE(lifecycle::ParseEntry(object)->ours);
  object.json()["type"] = "SomethingElse";
  EXPECT_FALSE(lifecycle::ParseEntry(object));
}

TEST(ClusterctlInventory, OursAndForeignEntries) {
  struct Case {
    std::vector<ClusterctlEntry> entries;
    std::string ns;  // "" for nothing to adopt
  };
  const Case cases[] = {
      {{}, ""},
      {{Entry("aws-system", "v1.0.0")}, "aws-system"},
      {{Entry("aws-system", "v1.0.0", true)}, ""},
      {{Entry("aws-system", "")}, ""},
      {{Entry("other", "v1.0.0")}, "other"},
      {{Entry("other", "v1.0.0"), Entry("aws-system", "v1.0.0")}, "aws-system"},
      {{{{api::ProviderType::kBootstrap, "aws-system", "aws"}, "v1.0.0", false}}, ""},
  };
  for (const Case& c : cases) {
    auto former = InstalledByClusterctl(kAws, c.entries);
    EXPECT_EQ(former ? former->ns : "", c.ns);
  }
}

TEST(ClusterctlInventory, OurOwnEntrySaysWhatWeInstalled) {  // U11
  EXPECT_EQ(InstalledByUs(kAws, std::vector{Entry("aws-system", "v1.0.0", true)}), "v1.0.0");
  EXPECT_EQ(InstalledByUs(kAws, std::vector{Entry("aws-system", "v1.0.0")}), "");
  EXPECT_EQ(InstalledByUs(kAws, std::vector{Entry("other", "v1.0.0", true)}), "");
}

// A1: on request each gets an object, once, where the operator looks.
TEST(ClusterctlInventory, EntriesWithoutAProvider) {
  std::vector<ClusterctlEntry> entries = {Entry("aws-system", "v1.0.0"), Entry("ours", "v1.0.0", true)};
  EXPECT_EQ(WithoutProvider(entries, {}, "").size(), 1u);
  EXPECT_EQ(WithoutProvider(entries, {}, "aws-system").size(), 1u);
  EXPECT_EQ(WithoutProvider(entries, {}, "other").size(), 0u);
  EXPECT_EQ(WithoutProvider(entries, {{kAws.type, "elsewhere", "aws"}}, "").size(), 0u);
  EXPECT_EQ(WithoutProvider(entries, {{api::ProviderType::kAddon, "aws-system", "aws"}}, "").size(), 1u);
}

// A1b: the peer's marks, and a status that is only its.
TEST(Adoption, WhatThePeerLeft) {
  api::Provider provider = testing::NewProvider(api::ProviderType::kInfrastructure, "aws");
  EXPECT_FALSE(LeftByPeer(provider));
  EXPECT_TRUE(NeverInstalled(provider));
  provider.status.installed_version = "v1.0.0";
  ASSERT_TRUE(LeftByPeer(provider));
  EXPECT_EQ(LeftByPeer(provider)->version, "v1.0.0");
  provider.status.history = {{"v1.0.0", "", "", ""}};
  EXPECT_FALSE(LeftByPeer(provider)) << "ours, and its inventory was lost";
  provider.annotations["operator.cluster.x-k8s.io/applied-spec-hash"] = "abc";
  EXPECT_TRUE(LeftByPeer(provider)) << "it was given back, and comes again";
  provider.status.installed_version = "";
  EXPECT_EQ(LeftByPeer(provider)->version, "v1.12.0") << "its status was lost";
}

// U11: a trace of any kind says that it was installed.
TEST(Adoption, NeverInstalledHasNoTrace) {
  const api::Provider fresh = testing::NewProvider(api::ProviderType::kInfrastructure, "aws");
  void (*const traces[])(api::ProviderStatus&) = {
      [](api::ProviderStatus& s) { s.inventory = Json::object(); },
      [](api::ProviderStatus& s) { s.installed_version = "v1.0.0"; },
      [](api::ProviderStatus& s) { s.applied = "inputs"; },
      [](api::ProviderStatus& s) { s.history.emplace_back(); },
  };
  EXPECT_TRUE(NeverInstalled(fresh));
  for (auto* leave : traces) {
    api::Provider provider = fresh;
    leave(provider.status);
    EXPECT_FALSE(NeverInstalled(provider));
  }
}

// A2: only this word, so that nobody overwrites by accident.
TEST(Adoption, OverwritesWhereToldTo) {
  api::Provider provider = testing::NewProvider(api::ProviderType::kInfrastructure, "aws");
  EXPECT_FALSE(MayOverwrite(provider));
  provider.annotations["operator.cluster.x-k8s.io/overwrite-differences"] = "false";
  EXPECT_FALSE(MayOverwrite(provider));
  provider.annotations["operator.cluster.x-k8s.io/overwrite-differences"] = "true";
  EXPECT_TRUE(MayOverwrite(provider));
}

Observation Adopted() {
  Observation o = testing::Observed();
  o.former = FormerInstall{"clusterctl", o.provider.id.ns, "v1.11.0"};
  return o;
}

TEST(Adoption, IsDecidedAfterThePreflight) {
  Observation o = Adopted();
  EXPECT_TRUE(std::holds_alternative<Adopt>(Decide(o)));
  o.config_secret = Referenced{{"variables", o.provider.id.ns}, false, ""};
  EXPECT_TRUE(std::holds_alternative<Adopt>(Decide(o))) << "A2: the Secret is made";
  o.config_secret->ref.ns = "elsewhere";
  EXPECT_TRUE(std::holds_alternative<Hold>(Decide(o))) << "T1";
  o = Adopted();
  o.core_crds_established = false;
  EXPECT_TRUE(std::holds_alternative<Hold>(Decide(o))) << "I4: the core first";
  o = Adopted();
  o.former->ns = "elsewhere";
  Step step = Decide(o);
  ASSERT_TRUE(std::holds_alternative<Hold>(step));
  EXPECT_THAT(std::get<Hold>(step).message, HasSubstr("clusterctl installed aws v1.11.0 in namespace elsewhere"));
  o = Adopted();
  o.provider.spec.paused = true;
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  o.left_behind = true;
  EXPECT_TRUE(std::holds_alternative<Adopt>(Decide(o))) << "A2: a pause comes after it";
  o = Adopted();
  o.provider.deleting = true;
  o.left_behind = true;
  EXPECT_TRUE(std::holds_alternative<Remove>(Decide(o))) << "and its inventory is empty: nothing is removed";
  o.provider.has_finalizer = true;
  o.users = {"Cluster default/mine"};
  EXPECT_TRUE(std::holds_alternative<Remove>(Decide(o))) << "so X2 has nothing to guard";
  o.left_behind = false;
  o.inventory.Put(testing::DeploymentId(), {"v1", "", ""});
  EXPECT_TRUE(std::holds_alternative<Hold>(Decide(o))) << "X2: taken over halfway, it is guarded";
}

// A2: what differs is named by its path.
TEST(Adoption, DifferencesAreNamed) {
  Hold hold = DifferencesHold(
      {"clusterctl", "x", "v1.0.0"},
      {{testing::DeploymentId(), false, {"spec.replicas", "spec.paused"}}, {{"", "Secret", "x", "s"}, true, {}}});
  EXPECT_EQ(hold.reason, "Adopting");
  EXPECT_THAT(hold.message,
              HasSubstr("Deployment.apps/aws-system/capa-controller-manager (spec.replicas, spec.paused), "
                        "Secret/x/s (doesn't exist)"));
}

}  // namespace
}  // namespace capi::ops
