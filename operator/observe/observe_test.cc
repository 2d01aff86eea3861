// What passes observe, on a server that streams what a test gives it.
#include "operator/observe/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/decide/testing_fleet.h"
#include "operator/observe/server_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;

constexpr const char* kKey = "InfrastructureProvider/aws-system/aws";

class ObserveTest : public ::testing::Test {
 protected:
  ObserveTest() { server_.Answer("/api", R"({"kind":"APIGroupDiscoveryList","items":[]})"); }

  testing::WatchServer server_;
  Context ctx_ = Context{}.WithTimeout(Seconds(60));
  FakeClock clock_;
  Settings settings_;
  ProviderCache cache_{[](const ProviderCache::Change&) {}};
  Watches watches_{*server_.client, [](const Watches::Key&, const std::set<std::string>&, const kube::ObjectPtr&,
                                       const kube::ObjectPtr&) {}};
  Fights fights_{clock_};
  UseFinder use_{*server_.client, watches_};
  Observer observer_{{*server_.client, cache_, watches_, settings_, fights_, use_, clock_,
                      [](const std::string&) { return MigrationProgress(); }, [](const std::string&) { return ""; },
                      [] { return std::vector<std::string>(); }, nullptr}};
};

kube::Inventory Inventory(const kube::ObjectId& id) {
  kube::Inventory inventory;
  inventory.Put(id, {"v1", "hash", "fields", false});
  return inventory;
}

kube::ObjectPtr CrdOfAs() {
  return std::make_shared<const kube::Object>(*ParseJson(R"({"metadata":{"name":"as.x"},"spec":{"group":"x",
    "scope":"Cluster","names":{"kind":"A","plural":"as"},"versions":[{"name":"v1","served":true,"storage":true}]},
    "status":{"storedVersions":["v1"]}})"));
}

// U11, D1: the server of an aggregated API is away. That hides the drift of its kinds, and holds up nothing else.
TEST_F(ObserveTest, AnAggregatedApiThatIsAwayHidesItsKindsAlone) {
  server_.Answer("/apis", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.example"},
    "versions":[{"version":"v1","freshness":"Stale","resources":[]}]}]})");
  auto fleet = observer_.ObserveFleet(ctx_, kKey, Inventory({"x.example", "Gauge", "", "g"}));
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  EXPECT_TRUE(fleet->blind);
  EXPECT_TRUE(fleet->drifts.empty());
}

// X1, T1: without the key of the installation nobody can tell what a record allows. That held up deletions, too, for
// which it makes no difference: they can go without what they refer to.
TEST_F(ObserveTest, ADeletionNeedsNoKeyForItsReferences) {
  Observer keyless{{*server_.client, cache_, watches_, settings_, fights_, use_, clock_,
                    [](const std::string&) { return MigrationProgress(); }, [](const std::string&) { return ""; },
                    [] { return std::vector<std::string>(); },
                    [](const Context&) -> Result<std::string> {
                      return Error{Code::kUnavailable, "no key", {}};
                    }}};
  Json json = *ParseJson(R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2","kind":"InfrastructureProvider",
    "metadata":{"name":"aws","namespace":"aws-system","uid":"u","resourceVersion":"1","annotations":{
      "operator.cluster.x-k8s.io/allowed-references":"a record",
      "operator.cluster.x-k8s.io/force-delete":"true"}},
    "spec":{"configSecret":{"name":"s","namespace":"another"}},
    "status":{"installedVersion":"v1.0.0","inventory":[
      {"kind":"ServiceAccount","namespace":"aws-system","name":"manager","version":"v1"}]}})");
  server_.Has("/api/v1/serviceaccounts", {});
  server_.Has("/api/v1/namespaces", {});
  auto alive = std::make_shared<const kube::Object>(json);
  cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, alive);
  auto observed = keyless.Observe(ctx_, kKey);
  ASSERT_FALSE(observed.ok());
  EXPECT_EQ(observed.error().message, "no key");

  json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  json["metadata"]["resourceVersion"] = "2";
  cache_.OnEvent(api::ProviderType::kInfrastructure, alive, std::make_shared<const kube::Object>(json));
  observed = keyless.Observe(ctx_, kKey);
  ASSERT_TRUE(observed.ok()) << observed.error().message;
  EXPECT_EQ((*observed)->refused_references.size(), 1u) << "and none is followed";
}

// But discovery that fails tells nothing of anything.
TEST_F(ObserveTest, NothingIsObservedWithoutDiscovery) {
  EXPECT_FALSE(observer_.ObserveFleet(ctx_, kKey, Inventory({"x.example", "Gauge", "", "g"})).ok());
}

// D1: what was written is no drift before its watch has caught up, and one afterwards.
TEST_F(ObserveTest, WhatIsAwaitedIsNoDrift) {
  const kube::ObjectId account{"", "ServiceAccount", "aws-system", "manager"};
  server_.Has("/api/v1/serviceaccounts", {});
  observer_.tracks().Expect(account, "200");
  auto fleet = observer_.ObserveFleet(ctx_, kKey, Inventory(account));
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  EXPECT_TRUE(fleet->drifts.empty());
  EXPECT_EQ(fleet->awaited, kWatchLag) << "no event may come: it had gone again before anybody awaited it";
  clock_.Advance(kWatchLag);
  fleet = observer_.ObserveFleet(ctx_, kKey, Inventory(account));
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  ASSERT_EQ(fleet->drifts.size(), 1u);
  EXPECT_TRUE(fleet->drifts[0].missing);
  EXPECT_EQ(fleet->awaited, std::nullopt);
}

// A pass that needs a dozen watches waited for the answer of each before it began the next.
TEST_F(ObserveTest, WatchesGetTheirFirstStateSideBySide) {
  kube::Inventory inventory;
  for (const char* kind : {"ServiceAccount", "Service", "Secret"}) {
    inventory.Put({"", kind, "aws-system", "manager"}, {"v1", "hash", "fields", false});
    server_.Has("/api/v1/" + kube::Builtin(kind).plural, {});
  }
  server_.StreamOnceThereAre(3);
  auto fleet = observer_.ObserveFleet(ctx_, kKey, inventory);
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  EXPECT_FALSE(fleet->blind);
  EXPECT_EQ(fleet->drifts.size(), 3u);
}

// I13: of all the CRDs of a cluster nobody reads more than that they are there.
TEST_F(ObserveTest, OfAllCrdsTheirPresenceIsKept) {
  constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  server_.Has(kCrds, {{{"metadata",
                        {{"name", "as.x"},
                         {"uid", "u"},
                         {"resourceVersion", "1"},
                         {"labels", {{"a", "b"}}},
                         {"annotations", {{"large", std::string(1000, 'x')}}}}}}});
  ASSERT_TRUE(observer_.WatchAllCrds(ctx_, kKey).ok());
  const kube::Resource& crds = kube::Builtin("CustomResourceDefinition");
  auto watch = watches_.Need(ctx_, {Watches::Purpose::kNewKinds, crds, "", "", "", true}, kKey);
  ASSERT_TRUE(watch.ok()) << watch.error().message;
  EXPECT_EQ(server_.watched(kCrds), 1);
  kube::ObjectPtr crd = (*watch)->Get("", "as.x");
  ASSERT_NE(crd, nullptr);
  EXPECT_EQ(crd->json()["metadata"].size(), 3u);
}

// I13: each event of any CRD cost each provider that waits for a kind a render. It waits for some groups; after a
// restart nobody knows which.
TEST_F(ObserveTest, WhoWaitsForAKindAwaitsTheCrdsOfItsGroup) {
  EXPECT_TRUE(observer_.Awaits(kKey, "foxes.x.io"));
  observer_.AwaitGroups(kKey, {"x.io", "cert-manager.io"});
  EXPECT_TRUE(observer_.Awaits(kKey, "foxes.x.io"));
  EXPECT_TRUE(observer_.Awaits(kKey, "issuers.cert-manager.io"));
  EXPECT_FALSE(observer_.Awaits(kKey, "challenges.acme.cert-manager.io"));
  EXPECT_FALSE(observer_.Awaits(kKey, "io"));
  EXPECT_TRUE(observer_.Awaits("another", "foxes.z.io"));
  observer_.AwaitGroups(kKey, {"z.io"});
  EXPECT_FALSE(observer_.Awaits(kKey, "foxes.x.io"));
  observer_.Forget(kKey);
  EXPECT_TRUE(observer_.Awaits(kKey, "foxes.x.io"));
}

// X2: as long as one of the kinds that were in use still is, nothing is read again: the watch tells.
TEST_F(ObserveTest, WhatIsInUseIsReadOnceAndThenWatched) {
  auto crd = CrdOfAs();
  const Json used = *ParseJson(R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1",
    "labels":{"cluster.x-k8s.io/cluster-name":"c"}}})");
  server_.Has("/apis/x/v1/as", {used});
  for (int i = 0; i < 3; ++i) {
    auto users = use_.Find(ctx_, kKey, {crd});
    ASSERT_TRUE(users.ok()) << users.error().message;
    EXPECT_THAT(*users, ElementsAre("A a"));
  }
  EXPECT_EQ(server_.listed("/apis/x/v1/as"), 1);
  EXPECT_EQ(server_.watched("/apis/x/v1/as"), 1);

  use_.Forget(kKey);
  EXPECT_TRUE(use_.Find(ctx_, kKey, {crd}).ok());
  EXPECT_EQ(server_.listed("/apis/x/v1/as"), 2) << "another deletion begins anew";
}

// X2: the last of them has gone: then all kinds are read once more, since another may be in use by now.
TEST_F(ObserveTest, WhenNothingIsInUseAllKindsAreReadAgain) {
  auto crd = CrdOfAs();
  server_.Has("/apis/x/v1/as", {});
  for (int i = 1; i <= 2; ++i) {
    auto users = use_.Find(ctx_, kKey, {crd});
    ASSERT_TRUE(users.ok()) << users.error().message;
    EXPECT_TRUE(users->empty());
    EXPECT_EQ(server_.listed("/apis/x/v1/as"), i);
  }
  EXPECT_EQ(server_.watched("/apis/x/v1/as"), 0);
}

}  // namespace
}  // namespace capi::ops
