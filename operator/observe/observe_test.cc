// What passes observe, on a server that streams what a test gives it.
#include "operator/observe/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/stored_release.h"
#include "operator/decide/testing_fleet.h"
#include "operator/observe/server_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;

constexpr const char* kKey = "InfrastructureProvider/aws-system/aws";

class ObserveTest : public ::testing::Test {
 protected:
  ObserveTest() { server_.Answer("/api", R"({"kind":"APIGroupDiscoveryList","items":[]})"); }
  ~ObserveTest() override { watches_.Stop(); }

  testing::WatchServer server_;
  Context ctx_ = Context{}.WithTimeout(Seconds(60));
  FakeClock clock_;
  Settings settings_;
  ProviderCache cache_{[](const ProviderCache::Change&) {}};
  // What is shown of ConfigMaps, as "NAMESPACE@VERSION" with the namespace of the watch.
  bool WasShown(const std::string& line) {
    MutexLock lock(mu_);
    return changed_.wait_for(mu_, std::chrono::seconds(60), [&] { return shown_.contains(line); });
  }

  Mutex mu_;
  std::condition_variable_any changed_;
  std::set<std::string> shown_;
  Watches watches_{*server_.client,
                   [this](const Watches::Event& event) {
                     observer_.Saw(event.watch, event.was, event.is);
                     MutexLock lock(mu_);
                     shown_.insert(event.watch.ns + "@" + (event.is ? event.is : event.was)->resource_version());
                     changed_.notify_all();
                   },
                   [this](const Watches::Key& watch) { observer_.WatchEnds(watch); }};
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

// I14: a release that was just stored is the provider's before its watch shows it. A watch that a selector asks for may
// show it first: the one that releases are read from had it not yet, and it was fetched once more.
TEST_F(ObserveTest, AStoredReleaseCountsUntilItsOwnWatchShowsIt) {
  constexpr const char *kMaps = "/api/v1/configmaps", *kOfSelector = "/api/v1/namespaces/aws-system/configmaps";
  for (const char* none : {"/api/v1/namespaces", "/apis/apps/v1/deployments", "/apis/apps/v1/daemonsets",
                           "/apis/apps/v1/statefulsets", kMaps, kOfSelector}) {
    server_.Has(none, {});
  }
  Json json = *ParseJson(R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2","kind":"InfrastructureProvider",
    "metadata":{"name":"aws","namespace":"aws-system","uid":"u","resourceVersion":"1"},"spec":{"version":"v1.0.0"}})");
  cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(json));
  json["metadata"]["name"] = "azure";
  json["spec"]["fetchConfig"] = {{"selector", {{"matchLabels", {{"mine", "yes"}}}}}};
  cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(json));
  auto releases = [&](const char* key) {
    std::vector<std::string> stamps;
    auto observed = observer_.Observe(ctx_, key);
    EXPECT_TRUE(observed.ok()) << observed.error().message;
    if (!observed.ok()) return stamps;
    for (const StoredRelease& release : (*observed)->releases) stamps.push_back(release.stamp);
    return stamps;
  };
  EXPECT_TRUE(releases(kKey).empty());
  EXPECT_TRUE(releases("InfrastructureProvider/aws-system/azure").empty());
  ASSERT_EQ(server_.watched(kOfSelector), 1);
  StoredRelease stored{"aws-system", "aws-v1.0.0", "v1.0.0", *api::Version::Parse("v1.0.0"), "m/200"};
  observer_.Remember(kKey, stored);
  Json map = {
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata", {{"namespace", "aws-system"}, {"name", "aws-v1.0.0"}, {"uid", "m"}, {"resourceVersion", "200"}}}};
  map["metadata"]["labels"] = api::ReleaseLabels(api::ProviderId::FromKey(kKey));
  server_.Send(kOfSelector, "ADDED", map);
  ASSERT_TRUE(WasShown("aws-system@200"));
  EXPECT_THAT(releases(kKey), ElementsAre("m/200")) << "its own watch hasn't shown it";

  server_.Send(kMaps, "ADDED", map);
  ASSERT_TRUE(WasShown("@200"));
  map["metadata"]["resourceVersion"] = "201";
  server_.Send(kMaps, "DELETED", map);
  ASSERT_TRUE(WasShown("@201"));
  EXPECT_TRUE(releases(kKey).empty()) << "it was shown, and is gone";

  // All that the shared watch has shown is forgotten with it, though the selector's goes on.
  watches_.BeginUse(kKey);
  watches_.EndUse(kKey);
  observer_.Remember(kKey, stored);
  EXPECT_THAT(releases(kKey), ElementsAre("m/200")) << "the next watch may be behind the answer";
}

// T1, T14: Secrets of its own namespace are watched, so that a change of the keys is looked at at once; what the spec
// may not name is neither read nor watched.
TEST_F(ObserveTest, TheKeysAndTheSourcesCredentialsAreWatched) {
  constexpr const char *kOwn = "/api/v1/namespaces/aws-system/secrets", *kForeign = "/api/v1/namespaces/b/secrets";
  const Json secret = {
      {"metadata", {{"namespace", "aws-system"}, {"name", "s"}, {"uid", "u"}, {"resourceVersion", "7"}}}};
  for (const char* none : {"/api/v1/namespaces", "/apis/apps/v1/deployments", "/apis/apps/v1/daemonsets",
                           "/apis/apps/v1/statefulsets", "/api/v1/configmaps"}) {
    server_.Has(none, {});
  }
  server_.Has(kOwn, {secret});
  server_.Has(kForeign, {secret});
  for (bool keys : {false, true}) {
    for (const char* ns : {"aws-system", "b"}) {
      Json json = *ParseJson(R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2","kind":"InfrastructureProvider",
        "metadata":{"namespace":"aws-system","uid":"u","resourceVersion":"1"},"spec":{"version":"v1.0.0"}})");
      const std::string name = std::string(keys ? "keys-" : "source-") + ns;
      json["metadata"]["name"] = name;
      const Json ref = {{"name", "s"}, {"namespace", ns}};
      json["spec"]["fetchConfig"] = keys ? Json{{"verify", {{"secretRef", ref}}}} : Json{{"secretRef", ref}};
      cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(json));
      auto observed = observer_.Observe(ctx_, "InfrastructureProvider/aws-system/" + name);
      ASSERT_TRUE(observed.ok()) << name << ": " << observed.error().message;
      const auto& found = keys ? (*observed)->keys_secret : (*observed)->source_secret;
      EXPECT_EQ(found ? found->stamp : "", std::string(ns) == "b" ? "" : "u/7") << name;
    }
  }
  EXPECT_EQ(server_.watched(kOwn), 1) << "one for both";
  EXPECT_EQ(server_.watched(kForeign) + server_.listed(kForeign), 0);
}

// D1: of a kind at two versions the watch that an object is read from has to show our write, and not another one.
TEST_F(ObserveTest, AWatchThatIsBehindMakesNoDrift) {
  constexpr const char *kGauges = "/apis/x.example/v1/gauges", *kOldGauges = "/apis/x.example/v1beta1/gauges";
  auto version = [](const char* name) {
    return Json{{"version", name},
                {"freshness", "Current"},
                {"resources", Json::array({{{"resource", "gauges"},
                                            {"responseKind", {{"group", ""}, {"version", ""}, {"kind", "Gauge"}}},
                                            {"scope", "Cluster"},
                                            {"verbs", Json::array({"list", "watch"})}}})}};
  };
  server_.Answer(
      "/apis",
      ToJsonText({{"kind", "APIGroupDiscoveryList"},
                  {"items", Json::array({{{"metadata", {{"name", "x.example"}}},
                                          {"versions", Json::array({version("v1"), version("v1beta1")})}}})}}));
  auto gauge = [](const char* name, const char* at, const char* resource_version) {
    return Json{{"apiVersion", std::string("x.example/") + at},
                {"kind", "Gauge"},
                {"metadata", {{"name", name}, {"uid", name}, {"resourceVersion", resource_version}}}};
  };
  server_.Has(kGauges, {gauge("g", "v1", "9"), gauge("h", "v1", "9")});
  server_.Has(kOldGauges, {gauge("g", "v1beta1", "9"), gauge("h", "v1beta1", "9")});
  const kube::ObjectId g{"x.example", "Gauge", "", "g"}, h{"x.example", "Gauge", "", "h"};
  kube::Inventory inventory;
  inventory.Put(g, {"v1beta1", "hash", "fields", false});
  inventory.Put(h, {"v1", "hash", "fields", false});
  auto fleet = observer_.ObserveFleet(ctx_, kKey, inventory);
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  ASSERT_FALSE(fleet->blind);
  EXPECT_EQ(fleet->drifts.size(), 2u);

  observer_.tracks().Expect(g, "200");
  server_.Send(kGauges, "MODIFIED", gauge("g", "v1", "200"));
  ASSERT_TRUE(WasShown("@200"));
  fleet = observer_.ObserveFleet(ctx_, kKey, inventory);
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  ASSERT_EQ(fleet->drifts.size(), 1u);
  EXPECT_EQ(fleet->drifts[0].id, h);
  EXPECT_EQ(fleet->awaited, kWatchLag);
}

// I19: until it is pruned, what a release no longer has is called, and its certificate is kept.
TEST_F(ObserveTest, CertificatesOfWhatIsToBePrunedAreSeen) {
  const kube::ObjectId hooks{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "hooks"};
  const kube::ObjectId former{"", "Secret", "aws-system", "former"}, current{"", "Secret", "aws-system", "now"};
  const kube::ObjectId role{"rbac.authorization.k8s.io", "ClusterRole", "", "gone"};
  auto secret = [](const kube::ObjectId& id, const char* certificate) {
    const std::string state = StateText({certificate, "ca", WallTime(Seconds(9)), WallTime(Seconds(99))});
    return Json{{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"metadata",
                 {{"name", id.name},
                  {"namespace", id.ns},
                  {"uid", id.name},
                  {"resourceVersion", "9"},
                  {"annotations", {{"operator.cluster.x-k8s.io/certificate-state", state}}}}}};
  };
  server_.Has("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
              {Json{{"apiVersion", "admissionregistration.k8s.io/v1"},
                    {"kind", hooks.kind},
                    {"metadata",
                     {{"name", hooks.name},
                      {"uid", "u"},
                      {"resourceVersion", "9"},
                      {"annotations", {{"cert-manager.io/inject-ca-from", "aws-system/serving"}}}}}}});
  server_.Has("/api/v1/secrets", {secret(former, "serving"), secret(current, "serving")});
  kube::Inventory inventory;
  for (const kube::ObjectId& id : {hooks, former, role}) inventory.Put(id, {"v1", "hash", "fields", true});
  auto fleet = observer_.ObserveFleet(ctx_, kKey, inventory);
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  EXPECT_TRUE(fleet->drifts.empty()) << "of what is stale there is no drift";
  EXPECT_FALSE(fleet->blind);
  ASSERT_EQ(fleet->certificates.size(), 1u);
  ASSERT_EQ(fleet->bundles.size(), 1u);
  EXPECT_EQ(fleet->bundles[0].id, hooks);

  inventory.Put(current, {"v1", "hash", "", false});
  fleet = observer_.ObserveFleet(ctx_, kKey, inventory);
  ASSERT_TRUE(fleet.ok()) << fleet.error().message;
  ASSERT_EQ(fleet->certificates.size(), 1u) << "bundles follow the one that has its place";
  EXPECT_EQ(fleet->certificates[0].id, current);
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

const Json kUsed = *ParseJson(R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1",
  "labels":{"cluster.x-k8s.io/cluster-name":"c"}}})");

// X2: as long as what was found is there, nothing is read again: its watch tells.
TEST_F(ObserveTest, WhatIsInUseIsReadOnceAndThenWatched) {
  auto crd = CrdOfAs();
  server_.Has("/apis/x/v1/as", {kUsed});
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

// X2: of many the first few are watched, each by its name, and not all of their kind. When one has gone, what is named
// then is there.
TEST_F(ObserveTest, OfManyThatAreInUseTheFirstFewAreWatched) {
  const std::string things = "/apis/x/v1/as";
  std::vector<Json> used;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    used.push_back({{"metadata",
                     {{"name", name},
                      {"uid", name},
                      {"resourceVersion", "1"},
                      {"labels", {{"cluster.x-k8s.io/cluster-name", "c"}}}}}});
  }
  server_.Has(things, used);
  auto find = [&] {
    auto users = use_.Find(ctx_, kKey, {CrdOfAs()});
    EXPECT_TRUE(users.ok()) << users.error().message;
    return users.ok() ? *users : std::vector<std::string>();
  };
  for (int i = 0; i < 2; ++i) EXPECT_THAT(find(), ElementsAre("A a", "A b", "A c", "A d", "A e", "A f"));
  EXPECT_EQ(server_.listed(things), 1);
  EXPECT_EQ(server_.watched(things), 6);

  server_.Has(things, {used.begin() + 1, used.end()});
  used.front()["metadata"]["resourceVersion"] = "2";
  server_.Send(things, "DELETED", used.front());
  ASSERT_TRUE(WasShown("@2"));
  EXPECT_THAT(find(), ElementsAre("A b", "A c", "A d", "A e", "A f", "A g"));
  EXPECT_EQ(server_.listed(things), 2);
  EXPECT_EQ(server_.watched(things), 7) << "the new one";
}

// X2: one that has lost its label is none, whoever owns it: a template is its ClusterClass's.
TEST_F(ObserveTest, WhatBelongsNoMoreIsNotNamed) {
  Json used = *ParseJson(R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1",
    "labels":{"cluster.x-k8s.io/cluster-name":"c"},"ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta2",
    "kind":"ClusterClass","name":"c","uid":"c"}]}})");
  server_.Has("/apis/x/v1/as", {used});
  auto users = use_.Find(ctx_, kKey, {CrdOfAs()});
  ASSERT_TRUE(users.ok()) << users.error().message;
  EXPECT_THAT(*users, ElementsAre("A a"));
  used["metadata"].erase("labels");
  used["metadata"]["resourceVersion"] = "2";
  server_.Has("/apis/x/v1/as", {used});
  server_.Send("/apis/x/v1/as", "MODIFIED", used);
  ASSERT_TRUE(WasShown("@2"));
  users = use_.Find(ctx_, kKey, {CrdOfAs()});
  ASSERT_TRUE(users.ok()) << users.error().message;
  EXPECT_TRUE(users->empty());
}

// X2, P3: a watch at a version that isn't served any more, or of a CRD that is gone, shows for ever what it showed
// last.
TEST_F(ObserveTest, WhatIsNotServedAnyMoreIsLookedForAnew) {
  server_.Has("/apis/x/v1/as", {kUsed});
  ASSERT_TRUE(use_.Find(ctx_, kKey, {CrdOfAs()}).ok());
  Json crd = CrdOfAs()->json();
  crd["spec"]["versions"][0]["name"] = "v2";
  crd["status"]["storedVersions"] = {"v2"};
  server_.Has("/apis/x/v2/as", {});
  const std::vector<kube::ObjectPtr> at_v2 = {std::make_shared<const kube::Object>(crd)}, gone;
  for (const auto& crds : {at_v2, gone}) {
    auto users = use_.Find(ctx_, kKey, crds);
    ASSERT_TRUE(users.ok()) << users.error().message;
    EXPECT_TRUE(users->empty());
    use_.Forget(kKey);
    ASSERT_TRUE(use_.Find(ctx_, kKey, {CrdOfAs()}).ok());
  }
}

// X2: the watch doesn't show a CRD that has lost its label. Its provider was removed in the very look that this led to.
TEST_F(ObserveTest, ACrdWithoutItsLabelIsInUseAllTheSame) {
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  Json json = *ParseJson(R"({"metadata":{"name":"aws","namespace":"aws-system","uid":"u","resourceVersion":"1",
    "deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["provider.cluster.x-k8s.io"]},
    "status":{"installedVersion":"v1.0.0","inventory":[
      {"group":"apiextensions.k8s.io","kind":"CustomResourceDefinition","name":"as.x","version":"v1"}]}})");
  cache_.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(std::move(json)));
  server_.Has("/api/v1/namespaces", {});
  server_.Has(crds, {});
  server_.Has("/apis/x/v1/as", {kUsed});
  auto look = [&] { return *observer_.Observe(ctx_, kKey).value(); };
  EXPECT_TRUE(look().users.empty() && !look().users_error) << "it is gone";
  server_.Answer(crds + "/as.x", "{");
  EXPECT_TRUE(look().users.empty() && look().users_error) << "nobody can tell";
  server_.Answer(crds + "/as.x", "404 page not found\n", 404);
  EXPECT_TRUE(look().users.empty() && look().users_error) << "a proxy's answer tells nothing of it";
  server_.Answer(crds + "/as.x", ToJsonText(CrdOfAs()->json()));
  EXPECT_THAT(look().users, ElementsAre("A a"));
}

// X2: what was found by its owner isn't kept in mind where that one has never been seen by its watch.
TEST_F(ObserveTest, WhatIsFoundByOneThatHasGoneIsLookedForAgain) {
  const std::string things = "/apis/x/v1/as";
  const Json root = *ParseJson(R"({"metadata":{"name":"b","uid":"b","resourceVersion":"1",
    "labels":{"cluster.x-k8s.io/cluster-name":"c"}}})");
  const Json owned = *ParseJson(R"({"metadata":{"name":"a","uid":"a","resourceVersion":"1",
    "ownerReferences":[{"apiVersion":"x/v1","kind":"A","name":"b","uid":"b"}]}})");
  auto list = [&](const Json& items) {
    server_.Answer(things, ToJsonText({{"metadata", Json::object()}, {"items", items}}));
  };
  server_.Has(things, {owned});
  list(Json::array({root, owned}));
  auto users = use_.Find(ctx_, kKey, {CrdOfAs()});
  ASSERT_TRUE(users.ok()) << users.error().message;
  EXPECT_THAT(*users, ElementsAre("A a"));
  list(Json::array({owned}));
  users = use_.Find(ctx_, kKey, {CrdOfAs()});
  ASSERT_TRUE(users.ok()) << users.error().message;
  EXPECT_TRUE(users->empty());
}

// X2: nothing would tell of the end of what has gone between the list and its watch.
TEST_F(ObserveTest, WhatGoesWhileItIsLookedForIsNoUser) {
  server_.Has("/apis/x/v1/as", {});
  server_.Answer("/apis/x/v1/as", ToJsonText({{"metadata", Json::object()}, {"items", Json::array({kUsed})}}));
  auto users = use_.Find(ctx_, kKey, {CrdOfAs()});
  ASSERT_FALSE(users.ok());
  EXPECT_EQ(users.code(), Code::kUnavailable) << "nor is there none: the list still says so";
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
