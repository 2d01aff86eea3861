// What is read from the server beside the caches: Secrets, ConfigMaps, pods, and objects at a version that can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/reasons.h"
#include "api/reference_record.h"
#include "base/http/server/server.h"
#include "lifecycle/clusterctl_inventory.h"
#include "operator/act/install/installation.h"
#include "operator/act/inventory_key.h"
#include "operator/act/known_secrets.h"
#include "operator/act/rebuild.h"
#include "operator/decide/testing_fleet.h"
#include "operator/observe/in_use.h"
#include "operator/observe/pod_reasons.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// A server that has some paths, and a client of it.
class Reads : public ::testing::Test {
 protected:
  Reads() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      asked_.push_back(request.path);
      auto found = answers_.find(request.path);
      http::Response response{.status = 404, .headers = {}, .body = ""};
      if (found != answers_.end())
        response = {.status = found->second.first, .headers = {}, .body = found->second.second};
      return response;
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()},
                                        {.user_agent = "reads-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
  }

  void Has(const std::string& path, const std::string& body, int status = 200) {
    MutexLock lock(mu_);
    answers_[path] = {status, body};
  }
  size_t Asked(const std::string& path) {
    MutexLock lock(mu_);
    return static_cast<size_t>(std::count(asked_.begin(), asked_.end(), path));
  }

  Context ctx_ = Context{}.WithTimeout(Seconds(30));
  std::unique_ptr<kube::Client> client_;

 private:
  Mutex mu_;
  std::map<std::string, std::pair<int, std::string>> answers_;
  std::vector<std::string> asked_;
  std::unique_ptr<http::Server> server_;
};

constexpr const char* kSecret = "/api/v1/namespaces/n/secrets/s";
constexpr const char* kGone = R"({"kind":"Status","reason":"NotFound","message":"gone"})";

// What isn't text or not base64 never reaches a release.
TEST_F(Reads, SecretsAreDecoded) {
  Has(kSecret, R"({"kind":"Secret","data":{"A":"YQ==","B":"","C":1}})");
  auto secret = ReadSecret(ctx_, *client_, {"s", "n"});
  ASSERT_TRUE(secret.ok()) << secret.error().message;
  EXPECT_THAT(*secret, ElementsAre(Pair("A", "a"), Pair("B", "")));
  for (const char* none : {R"({"kind":"Secret"})", R"({"kind":"Secret","data":[]})"}) {
    Has(kSecret, none);
    secret = ReadSecret(ctx_, *client_, {"s", "n"});
    ASSERT_TRUE(secret.ok()) << secret.error().message;
    EXPECT_TRUE(secret->empty());
  }
  Has(kSecret, R"({"kind":"Secret","data":{"A":"%"}})");
  secret = ReadSecret(ctx_, *client_, {"s", "n"});
  ASSERT_FALSE(secret.ok());
  EXPECT_THAT(secret.error().message, HasSubstr("Secret n/s, key A"));
}

// I7, U10: the key is the installation's: read where there is one, made where there is none; and asked for only where
// it is needed.
TEST_F(Reads, TheKeyOfInventoriesIsKept) {
  const std::string path = "/api/v1/namespaces/own/secrets/capi-operator-inventory-key";
  const std::string made = R"({"kind":"Secret","data":{"key":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}})";
  const kube::Object secret(*ParseJson(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}})"));
  const kube::Object account(*ParseJson(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"}})"));
  auto hashes = [&](InventoryKey& key, const std::vector<kube::Object>& objects) -> Result<std::vector<std::string>> {
    std::vector<kube::Manifest> manifests;
    for (const auto& object : objects) manifests.push_back(kube::ToManifest(object));
    TRY(key.HashSecrets(ctx_, manifests, {}));
    std::vector<std::string> out;
    for (const auto& manifest : manifests) out.push_back(manifest.hash);
    return out;
  };
  const std::string plain = kube::ToManifest(secret).hash, of_account = kube::ToManifest(account).hash;
  // Also a replica that doesn't lead makes it: for the records of T1.
  client_->GuardWrites([](const Context&) -> Status { return Error{Code::kFailedPrecondition, "doesn't lead", {}}; });
  InventoryKey unused(*client_, "own");
  EXPECT_THAT(*hashes(unused, {account}), ElementsAre(of_account));
  EXPECT_EQ(Asked(path), 0u);
  EXPECT_FALSE(hashes(unused, {secret}).ok()) << "it is not there, and can't be made";

  Has("/api/v1/namespaces/own/secrets", made, 201);
  InventoryKey first(*client_, "own");
  auto with_key = hashes(first, {secret, account});
  ASSERT_TRUE(with_key.ok()) << with_key.error().message;
  EXPECT_NE((*with_key)[0], plain);
  EXPECT_EQ((*with_key)[0].size(), plain.size());
  EXPECT_EQ((*with_key)[1], of_account);
  size_t asked = Asked(path);
  EXPECT_EQ(*hashes(first, {secret, account}), *with_key);
  EXPECT_EQ(Asked(path), asked) << "once is enough";

  Has(path, made);
  InventoryKey restarted(*client_, "own");
  EXPECT_EQ(*hashes(restarted, {secret, account}), *with_key);
  Has(path, R"({"kind":"Secret","data":{"key":"c2hvcnQ="}})");
  InventoryKey broken(*client_, "own");
  auto refused = hashes(broken, {secret});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("holds no key of 32 bytes"));
  EXPECT_THAT(refused.error().message, ::testing::Not(HasSubstr("short")));
}

// Image overrides and manifests come from what the spec names.
TEST_F(Reads, RenderInputsAreWhatTheSpecNames) {
  Observation o = testing::Observed();
  auto inputs = ReadRenderInputs(ctx_, *client_, o);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;

  o.config_secret = Referenced{{"s", "n"}, true, "1"};
  o.additional_manifests = Referenced{{"m", "n"}, true, "1"};
  Has("/api/v1/namespaces/n/configmaps/m", R"({"kind":"ConfigMap","data":{"manifests":"kind: A"}})");
  Has(kSecret, R"({"kind":"Secret","data":{"A":"YQ=="}})");
  inputs = ReadRenderInputs(ctx_, *client_, o);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  EXPECT_EQ(inputs->variables.at("A"), "a");
  EXPECT_EQ(inputs->additional_manifests, "kind: A");
  EXPECT_TRUE(inputs->images.empty());

  Has(kSecret, R"({"kind":"Secret","data":{"images":"YWxsOiB7dGFnOiB2Mn0="}})");  // all: {tag: v2}
  inputs = ReadRenderInputs(ctx_, *client_, o);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  EXPECT_EQ(inputs->images.at("all").tag, "v2");

  Has(kSecret, R"({"kind":"Secret","data":{"images":"YTogW2hpZGRlbg=="}})");  // a: [hidden
  inputs = ReadRenderInputs(ctx_, *client_, o);
  ASSERT_FALSE(inputs.ok());
  EXPECT_EQ(inputs.error().message, "Secret n/s, key images: not YAML") << "nothing of what it holds";
}

// U4: a ConfigMap without the key isn't one that asks for nothing: of an empty one everything is pruned.
TEST_F(Reads, AdditionalManifestsAreUnderTheirKey) {
  Observation o = testing::Observed();
  o.additional_manifests = Referenced{{"m", "n"}, true, "1"};
  const char* kMap = "/api/v1/namespaces/n/configmaps/m";
  for (const char* lacks : {R"({"kind":"ConfigMap"})", R"({"kind":"ConfigMap","data":{"manifest":"kind: A"}})",
                            R"({"kind":"ConfigMap","binaryData":{"manifests":"a2luZDogQQ=="}})"}) {
    Has(kMap, lacks);
    auto inputs = ReadRenderInputs(ctx_, *client_, o);
    ASSERT_FALSE(inputs.ok()) << lacks;
    Hold hold = InputsHold(inputs.error());
    EXPECT_EQ(hold.reason, api::reason::kAdditionalManifestsNotFound);
    EXPECT_EQ(hold.condition, api::condition::kPreflightCheckPassed);
    EXPECT_EQ(hold.retry, Retry::kWaiting);
    EXPECT_THAT(hold.message, HasSubstr("ConfigMap n/m (spec.additionalManifests) has no key manifests"));
  }
  Has(kMap, R"({"kind":"ConfigMap","data":{"manifests":""}})");
  auto inputs = ReadRenderInputs(ctx_, *client_, o);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  EXPECT_EQ(inputs->additional_manifests, "") << "an empty one is";

  Has(kMap, R"({"kind":"Status","reason":"Forbidden","message":"no"})", 403);
  inputs = ReadRenderInputs(ctx_, *client_, o);
  ASSERT_FALSE(inputs.ok());
  EXPECT_EQ(InputsHold(inputs.error()).retry, Retry::kRefused) << "F5: no event tells that it may be read";
}

// I7: after a restart, before anything is rendered, what others say of a provider is told without what its Secrets
// hold: that of its variables, and those of its inventory.
TEST_F(Reads, SecretsOfAProviderAreKnownAfterARestart) {
  auto provider = testing::Observed().provider;
  provider.spec.config_secret = api::ObjectRef{"s", "aws-system"};
  kube::Inventory inventory;
  inventory.Put({"", "Secret", "aws-system", "rendered"}, {"v1", "hash", "fields", false});
  inventory.Put({"", "Secret", "aws-system", "gone"}, {"v1", "hash", "fields", false});
  inventory.Put({"", "ConfigMap", "aws-system", "map"}, {"v1", "hash", "fields", false});
  provider.status.inventory = inventory.ToJson();
  auto read = [&](bool foreign) {
    CachedProvider cached;
    cached.provider = std::make_shared<const api::Provider>(provider);
    cached.packed = *ParseJson(R"({"spec":{"version":"known-to-all"}})");
    return ReadSecretValues(ctx_, *client_, cached, foreign);
  };
  const std::string variables = "/api/v1/namespaces/aws-system/secrets/s";
  Has(variables, R"({"kind":"Secret","data":{"A":"ZnJvbS12YXJpYWJsZXM=","B":"a25vd24tdG8tYWxs"}})");
  Has("/api/v1/namespaces/aws-system/secrets/rendered", R"({"kind":"Secret","data":{"A":"ZnJvbS1yZW5kZXI="}})");
  const std::string gone = "/api/v1/namespaces/aws-system/secrets/gone";
  Has(gone, "<html>no such page</html>", 404);
  EXPECT_EQ(read(false).code(), Code::kUnavailable) << "F3: a gateway says nothing of a Secret";
  Has(gone, kGone, 404);
  auto values = read(false);
  ASSERT_TRUE(values.ok()) << values.error().message;
  EXPECT_EQ(values->Hide("from-variables from-render known-to-all"), "*** *** known-to-all");
  EXPECT_EQ(Asked("/api/v1/namespaces/aws-system/configmaps/map"), 0u);

  Has(variables, R"({"kind":"Status","reason":"Forbidden","message":"no"})", 403);
  EXPECT_FALSE(read(false).ok()) << "then nothing that others say is shown";
  provider.spec.config_secret = api::ObjectRef{"s", "n"};
  Has(kSecret, R"({"kind":"Secret","data":{"A":"ZnJvbS1hbm90aGVy"}})");
  EXPECT_EQ(read(false)->Hide("from-another"), "from-another") << "T1: it isn't read";
  EXPECT_EQ(Asked(kSecret), 0u);
  EXPECT_EQ(read(true)->Hide("from-another"), "***");

  for (int i = 0; i < 200; ++i) {
    inventory.Put({"", "Secret", "aws-system", "many-" + std::to_string(i)}, {"v1", "hash", "fields", false});
  }
  provider.status.inventory = inventory.ToJson();
  EXPECT_TRUE(read(true)->hides_all());
  EXPECT_EQ(Asked("/api/v1/namespaces/aws-system/secrets/many-0"), 0u) << "not one request for each";
}

// I7: a pass asks for them more than once, and what nobody may read was asked for each time, by every pass.
TEST_F(Reads, SecretsThatCanNotBeReadAreAskedForSeldom) {
  ProviderCache cache([](const ProviderCache::Change&) {});
  cache.OnEvent(api::ProviderType::kInfrastructure, nullptr, std::make_shared<const kube::Object>(*ParseJson(R"({
    "apiVersion":"operator.cluster.x-k8s.io/v1alpha2","kind":"InfrastructureProvider",
    "metadata":{"name":"aws","namespace":"n","uid":"u","resourceVersion":"1"},
    "spec":{"configSecret":{"name":"s"}}})")));
  const std::string key = cache.All()[0]->provider->id.Key();
  const Settings settings;
  SecretMasks masks;
  KnownSecrets secrets(*client_, cache, masks, settings, nullptr);
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  struct Case {
    const char* reason;
    int status;
    Seconds again;
  };
  size_t asked = 0;
  for (const Case& c : {Case{"Forbidden", 403, Seconds(15)}, Case{"InternalError", 500, Seconds(1)}}) {
    SCOPED_TRACE(c.reason);
    Has(kSecret, std::string(R"({"kind":"Status","message":"no","reason":")") + c.reason + "\"}", c.status);
    secrets.Learn(ctx, key);
    clock.Advance(c.again - Millis(1));
    secrets.Learn(ctx, key);
    EXPECT_EQ(Asked(kSecret), ++asked);
    clock.Advance(Millis(1));
  }
  EXPECT_FALSE(masks.Knows(key));
  Has(kSecret, R"({"kind":"Secret","data":{}})");
  secrets.Learn(ctx, key);
  EXPECT_TRUE(masks.Knows(key));
}

// T1, I7: what a record lets a provider read is not shown either.
TEST_F(Reads, SecretsThatARecordAllowsAreKnown) {
  const api::ProviderId id{api::ProviderType::kInfrastructure, "aws-system", "aws"};
  const std::string secret(32, 'k');
  Has(kSecret, R"({"kind":"Secret","data":{"A":"ZnJvbS1hbm90aGVy"}})");
  auto shown = [&](const std::string& record) {
    ProviderCache cache([](const ProviderCache::Change&) {});
    cache.OnEvent(id.type, nullptr,
                  std::make_shared<const kube::Object>(
                      Json{{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                           {"kind", "InfrastructureProvider"},
                           {"metadata",
                            {{"name", id.name},
                             {"namespace", id.ns},
                             {"annotations", {{std::string(api::kAnnotationAllowedReferences), record}}}}},
                           {"spec", {{"configSecret", {{"name", "s"}, {"namespace", "n"}}}}}}));
    SecretMasks masks;
    Settings settings;
    KnownSecrets secrets(*client_, cache, masks, settings,
                         [&](const Context&) -> Result<std::string> { return secret; });
    secrets.Learn(ctx_, id.Key());
    EXPECT_TRUE(masks.Knows(id.Key()));
    return masks.Hide(id.Key(), "from-another");
  };
  EXPECT_EQ(shown("by hand"), "from-another");
  EXPECT_EQ(Asked(kSecret), 0u) << "it isn't read";
  EXPECT_EQ(shown(api::MakeReferenceRecord(secret, id, {{"spec.configSecret.namespace", "n", "Secret", "s"}}, "alice")),
            "***");
}

// P3: the storage version can't be read for a while; another one that objects are stored at can.
TEST_F(Reads, ObjectsAtAVersionThatAnswers) {
  kube::Object crd(*ParseJson(R"({"metadata":{"name":"as.x"},"spec":{"group":"x","scope":"Cluster",
    "names":{"kind":"A","plural":"as"},"versions":[{"name":"v1","served":true,"storage":false},
    {"name":"v2","served":true,"storage":true}]},"status":{"storedVersions":["v1","v2"]}})"));
  const std::string one = R"({"kind":"List","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}}]})";
  Has("/apis/x/v2/as", R"({"kind":"Status","reason":"InternalError","message":"first"})", 500);
  Has("/apis/x/v1/as", one);
  auto read = ListReadable(*client_, ctx_, crd);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->resource.version, "v1");
  EXPECT_EQ(read->items.size(), 1u);

  Has("/apis/x/v1/as", R"({"kind":"Status","reason":"InternalError","message":"second"})", 500);
  read = ListReadable(*client_, ctx_, crd);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("as.x at v2: ")) << "the preferred one says why";
  EXPECT_THAT(read.error().message, HasSubstr("first"));

  Has("/apis/x/v2/as", "404 page not found\n", 404);
  read = ListReadable(*client_, ctx_, crd);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("as.x at v1: ")) << "that it isn't served is no answer";
  EXPECT_THAT(read.error().message, HasSubstr("second"));
}

// X1, X2: of two API servers one hasn't heard of the new storage version yet. Its 404 was taken for "there are none",
// and with --delete-crds the CRD went with all of its objects.
TEST_F(Reads, APathThatIsNotServedSaysNothingOfObjects) {
  const std::string path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/as.x";
  auto with = [](std::string_view established) {
    return R"({"metadata":{"name":"as.x"},"spec":{"group":"x","scope":"Cluster","names":{"kind":"A","plural":"as"},
      "versions":[{"name":"v1","served":true,"storage":false},{"name":"v2","served":true,"storage":true}]},
      "status":{"storedVersions":["v1","v2"],"conditions":[{"type":"Established","status":")" +
           std::string(established) + "\"}]}}";
  };
  const kube::Object crd(*ParseJson(with("True")));
  Has("/apis/x/v1/as", R"({"kind":"List","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}}]})");
  auto read = ListReadable(*client_, ctx_, crd);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->resource.version, "v1");
  EXPECT_EQ(read->items.size(), 1u);
  EXPECT_EQ(Asked(path), 0u);

  Has("/apis/x/v1/as", "404 page not found\n", 404);
  Has(path, with("True"));
  read = ListReadable(*client_, ctx_, crd);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.code(), Code::kUnavailable);
  EXPECT_THAT(read.error().message, HasSubstr("as.x: "));

  Has(path, with("False"));
  read = ListReadable(*client_, ctx_, crd);
  ASSERT_TRUE(read.ok()) << "nobody has ever served it: " << read.error().message;
  EXPECT_TRUE(read->items.empty());
  Has(path, "404 page not found\n", 404);
  EXPECT_FALSE(ListReadable(*client_, ctx_, crd).ok()) << "a proxy's answer";
  Has(path, kGone, 404);
  read = ListReadable(*client_, ctx_, crd);
  ASSERT_TRUE(read.ok()) << "a deletion goes on: " << read.error().message;
  EXPECT_TRUE(read->items.empty());
  EXPECT_EQ(read->resource.version, "");
  Has(path, R"({"kind":"Status","reason":"InternalError","message":"etcd"})", 500);
  EXPECT_FALSE(ListReadable(*client_, ctx_, crd).ok());
}

// The CRD of clusterctl's inventory is made anew where somebody has deleted it, though its kind was there before.
TEST_F(Reads, TheCrdOfTheInventoryIsLookedForEachTime) {
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string crd = crds + "/providers.clusterctl.cluster.x-k8s.io";
  Has(crds, R"({"metadata":{"name":"providers.clusterctl.cluster.x-k8s.io"}})", 201);
  for (size_t made : {1u, 2u}) {
    ASSERT_TRUE(lifecycle::EnsureEntryCrd(ctx_, *client_).ok());
    EXPECT_EQ(Asked(crds), made);
  }
  EXPECT_TRUE(client_->mapper().For(ctx_, {"clusterctl.cluster.x-k8s.io", "Provider"}).ok());
  EXPECT_EQ(Asked("/apis"), 0u) << "discovery may not have it yet";
  Has(crd, R"({"metadata":{"name":"providers.clusterctl.cluster.x-k8s.io"}})");
  ASSERT_TRUE(lifecycle::EnsureEntryCrd(ctx_, *client_).ok());
  EXPECT_EQ(Asked(crds), 2u);
  Has(crd, R"({"kind":"Status","reason":"Forbidden","message":"no"})", 403);
  EXPECT_FALSE(lifecycle::EnsureEntryCrd(ctx_, *client_).ok());
}

// U11: the server of an aggregated API is away. It is one whose APIService names a service; what this server has itself
// and can't list is an error.
TEST_F(Reads, AnAggregatedApiThatIsAwayHoldsUpNoRebuild) {
  Has("/api", R"({"kind":"APIGroupDiscoveryList","items":[]})");
  Has("/apis", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.example"},"versions":[{"version":"v1",
    "resources":[{"resource":"gauges","responseKind":{"kind":"Gauge"},"scope":"Cluster","verbs":["list"]}]}]},
    {"metadata":{"name":"z.example"},"versions":[{"version":"v1",
    "resources":[{"resource":"views","responseKind":{"kind":"View"},"scope":"Cluster","verbs":["create"]}]}]}]})");
  Has("/apis/x.example/v1/gauges", R"({"kind":"Status","reason":"ServiceUnavailable","message":"nobody there"})", 503);
  const std::string service = "/apis/apiregistration.k8s.io/v1/apiservices/v1.x.example";
  Has("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gauges.x.example", kGone, 404);
  auto rebuilt = RebuildInventory(ctx_, *client_, testing::Observed());
  EXPECT_FALSE(rebuilt.ok()) << "nobody says that it is another server's";
  EXPECT_EQ(Asked(service), 1u);

  Has(service, R"({"kind":"APIService","spec":{"service":{"namespace":"n","name":"gauges"}}})");
  rebuilt = RebuildInventory(ctx_, *client_, testing::Observed());
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
  EXPECT_EQ(rebuilt->inventory.size(), 0u);
  EXPECT_THAT(rebuilt->unread, ElementsAre("gauges.x.example (nobody there)"));

  Has("/apis", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.example"},
    "versions":[{"version":"v1","freshness":"Stale"}]},{"metadata":{"name":"y.example"},
    "versions":[{"version":"v1","freshness":"Stale"}]},{"metadata":{"name":"z.example"},
    "versions":[{"version":"v1","freshness":"Stale"}]}]})");
  rebuilt = RebuildInventory(ctx_, *client_, testing::Observed());
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
  EXPECT_THAT(rebuilt->unread, ElementsAre("y.example (its server doesn't answer)", "gauges.x.example (nobody there)"))
      << "nobody knows the kinds of one that was away from the beginning; those of z.example have no objects";
}

// I19: it has our labels and fields still, and stays when the provider goes.
TEST_F(Reads, ASecretThatWasLeftToCertManagerIsNotOfARebuiltInventory) {
  Has("/api", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":""},"versions":[{"version":"v1",
    "resources":[{"resource":"secrets","responseKind":{"kind":"Secret"},"scope":"Namespaced","verbs":["list"]}]}]}]})");
  Has("/apis", R"({"kind":"APIGroupDiscoveryList","items":[]})");
  auto secret = [](const std::string& name, const std::string& more) {
    return R"({"metadata":{"name":")" + name + R"(","namespace":"n","annotations":{)" + more +
           R"("x":"y"},"managedFields":[{"manager":"capi-operator","operation":"Apply","apiVersion":"v1",
           "fieldsType":"FieldsV1","fieldsV1":{"f:type":{}}}]}})";
  };
  const std::string named = R"("cert-manager.io/certificate-name":"serving",)";
  Has("/api/v1/secrets", R"({"kind":"List","metadata":{"resourceVersion":"5"},"items":[)" + secret("left", named) +
                             "," + secret("kept", named + R"("operator.cluster.x-k8s.io/certificate-request":"{}",)") +
                             "," + secret("a", "") + "]}");
  auto rebuilt = RebuildInventory(ctx_, *client_, testing::Observed());
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.error().message;
  EXPECT_EQ(rebuilt->inventory.size(), 2u);
  EXPECT_EQ(rebuilt->inventory.Find({"", "Secret", "n", "left"}), nullptr);
}

// U11: a kind that discovery has just listed, and whose path isn't there, was left out: a deletion went on, and left
// its objects behind. With a CRD another version tells; what has gone meanwhile has none.
TEST_F(Reads, AKindWhosePathIsNotServedIsUnread) {
  const std::string kinds = R"({"kind":"APIGroupDiscoveryList","items":[)";
  const std::string group = R"({"metadata":{"name":"x.example"},"versions":[{"version":"v2","resources":[
    {"resource":"gauges","responseKind":{"kind":"Gauge"},"scope":"Cluster","verbs":["list"]}]}]})";
  const std::string crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gauges.x.example";
  Has("/api", kinds + "]}");
  Has("/apis", kinds + group + "]}");
  auto unread = [&] {
    auto rebuilt = RebuildInventory(ctx_, *client_, testing::Observed());
    EXPECT_TRUE(rebuilt.ok()) << rebuilt.error().message;
    return rebuilt.ok() ? rebuilt->unread : std::vector<std::string>();
  };
  EXPECT_FALSE(RebuildInventory(ctx_, *client_, testing::Observed()).ok()) << "a proxy says that there is no CRD";
  Has(crd, kGone, 404);
  EXPECT_THAT(unread(), ElementsAre(HasSubstr("gauges.x.example ("))) << "discovery still has it";
  Has(crd, R"({"metadata":{"name":"gauges.x.example"},"spec":{"group":"x.example","scope":"Cluster",
    "names":{"kind":"Gauge","plural":"gauges"},"versions":[{"name":"v1","served":true},
    {"name":"v2","served":true,"storage":true}]},"status":{"storedVersions":["v1","v2"]}})");
  EXPECT_THAT(unread(), ElementsAre(HasSubstr("gauges.x.example ("))) << "so is its CRD";
  Has("/apis/x.example/v1/gauges", R"({"kind":"List","metadata":{"resourceVersion":"5"},"items":[]})");
  EXPECT_THAT(unread(), ElementsAre());

  Has(crd, kGone, 404);
  Has("/apis", kinds + "]}");
  EXPECT_THAT(unread(), ElementsAre());
  Has(crd, R"({"kind":"Status","reason":"InternalError","message":"etcd"})", 500);
  Has("/apis", kinds + group + "]}");
  EXPECT_FALSE(RebuildInventory(ctx_, *client_, testing::Observed()).ok());
}

// U5: pods are asked for what doesn't come up, and seldom.
TEST_F(Reads, PodsSayWhyAWorkloadDoesNotComeUp) {
  const std::string pods = "/api/v1/namespaces/aws-system/pods";
  Has(pods, R"({"kind":"PodList","metadata":{},"items":[{"metadata":{"name":"p"},"status":{"phase":"Pending",
    "containerStatuses":[{"name":"m","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}}]})");
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  PodReasons reasons(*client_);
  auto explain = [&](kube::HealthState state, const std::string& selector) {
    Fleet fleet;
    fleet.workloads = {testing::NewWorkload(state, "0 of 1 replicas are available")};
    fleet.workloads[0].pods = selector;
    reasons.Explain(ctx, "aws", fleet);
    return fleet.workloads[0].health.message;
  };
  const auto sick = kube::HealthState::kInProgress;
  EXPECT_EQ(explain(kube::HealthState::kCurrent, "a=b"), "0 of 1 replicas are available");
  EXPECT_EQ(Asked(pods), 0u) << "it is healthy";
  reasons.Forget("aws");
  EXPECT_EQ(explain(sick, ""), "0 of 1 replicas are available");
  EXPECT_EQ(Asked(pods), 0u) << "nobody knows which pods are its own";
  reasons.Forget("aws");
  const char* why = "0 of 1 replicas are available; pod p: container m: ImagePullBackOff";
  EXPECT_EQ(explain(sick, "a=b"), why);
  clock.Advance(kPodsEvery - Millis(1));
  EXPECT_EQ(explain(sick, "a=b"), why) << "what they said last";
  EXPECT_EQ(Asked(pods), 1u);
  clock.Advance(Millis(1));
  EXPECT_EQ(explain(sick, "a=b"), why);
  EXPECT_EQ(Asked(pods), 2u);
  reasons.Forget("aws");
  Has(pods, R"({"kind":"Status","reason":"Forbidden","message":"no"})", 403);
  EXPECT_EQ(explain(sick, "a=b"), "0 of 1 replicas are available") << "an error is no trouble of the pods";
  EXPECT_EQ(Asked(pods), 3u);
}

}  // namespace
}  // namespace capi::ops
