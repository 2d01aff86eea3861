#include "lifecycle/plan/crd_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/vectors.h"

namespace capi::lifecycle {
namespace {

using ::testing::ElementsAre;

// "v1" is served, "v1*" stored too, "-v1" neither.
kube::Manifest Crd(const std::vector<std::string>& versions) {
  Json list = Json::array();
  for (std::string name : versions) {
    bool served = name[0] != '-', storage = name.back() == '*';
    if (!served) name.erase(0, 1);
    if (storage) name.pop_back();
    list.push_back({{"name", name}, {"served", served}, {"storage", storage}});
  }
  return kube::ToManifest(kube::Object(
      Json{{"apiVersion", "apiextensions.k8s.io/v1"},
           {"kind", "CustomResourceDefinition"},
           {"metadata", {{"name", "foos.test.cluster.x-k8s.io"}}},
           {"spec", {{"group", "test.cluster.x-k8s.io"}, {"names", {{"kind", "Foo"}}}, {"versions", list}}}}));
}

CrdStates Live(std::vector<std::string> versions, std::string storage, std::vector<std::string> stored) {
  CrdState state;
  state.name = "foos.test.cluster.x-k8s.io";
  state.served = state.versions = std::move(versions);
  state.storage = std::move(storage);
  state.stored = std::move(stored);
  return {{state.name, state}};
}

kube::Manifest Other(const std::string& api_version, const std::string& kind) {
  return kube::ToManifest(
      kube::Object(Json{{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", "a"}}}}));
}

std::vector<std::string> Kinds(const std::vector<kube::Manifest>& manifests) {
  std::vector<std::string> kinds;
  for (const auto& m : manifests) kinds.push_back(m.id.kind);
  return kinds;
}

TEST(TransitionalCrd, KeepsWhatOldPodsUnderstand) {
  struct Case {
    std::string name;
    std::vector<std::string> desired;
    CrdStates live;
    std::vector<std::string> want;  // empty: nothing to keep
  };
  const Case cases[] = {
      {"U2 the storage version switches later", {"v1", "v2*"}, Live({"v1"}, "v1", {"v1"}), {"v1*", "v2"}},
      {"U2 and no version stops being served", {"-v1", "v2*"}, Live({"v1"}, "v1", {"v1"}), {"v1*", "v2"}},
      {"the same storage version", {"v1*", "v2"}, Live({"v1"}, "v1", {"v1"}), {}},
      {"stops being served alone", {"-v1", "v2*"}, Live({"v1", "v2"}, "v2", {"v2"}), {"v1", "v2*"}},
      {"U3 what it lacks can't be kept: it is refused", {"v2*"}, Live({"v1"}, "v1", {"v1"}), {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    auto transitional = TransitionalCrd(Crd(c.desired), c.live.begin()->second);
    ASSERT_EQ(transitional.has_value(), !c.want.empty());
    if (!transitional) continue;
    EXPECT_EQ(transitional->text, Crd(c.want).text);
    EXPECT_NE(transitional->hash, Crd(c.desired).hash) << "or the final form would never be sent";
  }
}

TEST(PlanStages, HoldsBackWhatOldPodsDontUnderstand) {
  auto crd = Crd({"v1", "v2*"});
  auto role = Other("rbac.authorization.k8s.io/v1", "ClusterRole"), deployment = Other("apps/v1", "Deployment");
  auto webhook = Other("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration");
  CrdStates live = Live({"v1"}, "v1", {"v1"});

  kube::Inventory before;
  before.Put(webhook.id, {"v1", "old", "fields"});
  StagePlan plan = PlanStages({crd, role, deployment, webhook}, before, live);
  EXPECT_THAT(Kinds(plan.now), ElementsAre("CustomResourceDefinition", "ClusterRole", "Deployment"));
  EXPECT_EQ(plan.now[0].crd_storage, "v1");
  EXPECT_EQ(plan.later, 2u);

  // An object that was applied as it is and got lost is no change: it comes back at once (D1).
  before.Put(webhook.id, {"v1", webhook.hash, ""});
  before.Put(crd.id, {"v1", crd.hash, "fields"});
  plan = PlanStages({crd, role, deployment, webhook}, before, live);
  EXPECT_EQ(plan.now.size(), 4u);
  EXPECT_EQ(plan.now[0].crd_storage, "v2") << "never back to the old storage version";
  EXPECT_EQ(plan.later, 0u);
}

// U2: the storage version switches after the webhooks, and that of a CRD that is as it was doesn't switch at all.
TEST(TakeSwitchingCrds, TakesThoseThatSwitch) {
  auto crd = Crd({"v1", "v2*"}), plain = Other("apps/v1", "Deployment");
  struct Case {
    CrdStates live;
    bool applied, taken;
  };
  const Case cases[] = {{Live({"v1"}, "v1", {"v1"}), false, true},
                        {Live({"v1"}, "v1", {"v1"}), true, false},
                        {Live({"v1", "v2"}, "v2", {"v2"}), false, false},
                        {{}, false, false}};
  for (const Case& c : cases) {
    kube::Inventory before;
    if (c.applied) before.Put(crd.id, {"v1", crd.hash, "fields"});
    std::vector<kube::Manifest> manifests = {crd, plain};
    auto taken = TakeSwitchingCrds(manifests, before, c.live);
    EXPECT_EQ(taken.size(), c.taken ? 1u : 0u);
    EXPECT_EQ(manifests.size(), c.taken ? 1u : 2u);
    EXPECT_EQ(manifests.back().id.kind, "Deployment");
  }
}

// U3: what is stored at the old storage version alone can't be brought anywhere, nor what would go to one that is lost
// too.
TEST(LostVersions, CanBeMigratedToTheStorageVersionThatStays) {
  auto lost = LostVersions({Crd({"v2*"})}, Live({"v1", "v2"}, "v2", {"v1", "v2"}));
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].version, "v1");
  EXPECT_TRUE(lost[0].migratable);
  lost = LostVersions({Crd({"v3*"})}, Live({"v1", "v2"}, "v2", {"v1", "v2"}));
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_FALSE(lost[0].migratable);
  EXPECT_FALSE(lost[1].migratable);
}

// U3: what the reference does before it replaces a CRD.
TEST(ToMigrate, Vectors) {
  auto reference = [](const Json&, const Json& c) {
    const Json& current = c.at("current");
    auto texts = [](const Json* list) { return list->get<std::vector<std::string>>(); };
    CrdStates live;
    if (!current.is_null()) {
      live =
          Live(texts(Find(current, {"versions"})), GetString(current, {"storage"}), texts(Find(current, {"stored"})));
    }
    std::vector<std::string> versions = texts(Find(c, {"new", "versions"}));
    for (auto& v : versions) v += v == GetString(c, {"new", "storage"}) ? "*" : "";
    auto crds = ToMigrate({Crd(versions)}, live);
    ASSERT_EQ(crds.ok(), !c.contains("error"));
    if (crds.ok()) {
      EXPECT_EQ(!crds->empty(), c.at("want").at("migrated").get<bool>());
    } else {
      EXPECT_EQ(crds.error().message, GetString(c, {"error"}));
    }
  };
  RunVectors("crd-migration.json", reference);
}

}  // namespace
}  // namespace capi::lifecycle
