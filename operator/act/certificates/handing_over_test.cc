// I19: what goes over, and what stays while a part is refused.
#include "operator/act/certificates/handing_over.h"

#include <gmock/gmock.h>

#include "api/certificates/names.h"
#include "operator/act/certificates/certifier_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kSecret;
using testing::kSecretPath;

const std::string kCertificates = "/apis/cert-manager.io/v1/namespaces/capa-system/certificates/";
const std::string kIssuerPath = "/apis/cert-manager.io/v1/namespaces/capa-system/issuers/self";
const std::string kSecrets = "/api/v1/namespaces/capa-system/secrets/";
const std::string kStatusPath =
    "/apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/aws-system/infrastructureproviders/aws/status";
const kube::ObjectId kIssuer{"cert-manager.io", "Issuer", "capa-system", "self"};

kube::ObjectId CertificateId(const std::string& name) {
  return {"cert-manager.io", "Certificate", "capa-system", name};
}
kube::ObjectId SecretId(const std::string& name) { return {"", "Secret", "capa-system", name}; }

// The release of Certifying with more Certificates, `more`, whose Secrets are called NAME-cert.
std::vector<kube::Object> ReleaseWith(const std::vector<std::string>& more) {
  std::vector<kube::Object> objects = testing::Release();
  for (const std::string& name : more) {
    Json another = objects[1].json();
    another["metadata"]["name"] = name;
    another["spec"]["secretName"] = name + "-cert";
    objects.insert(objects.begin() + 2, kube::Object(std::move(another)));
  }
  return objects;
}

std::vector<kube::Manifest> ManifestsOf(const std::vector<kube::Object>& objects) {
  std::vector<kube::Manifest> manifests;
  for (const kube::Object& object : objects) manifests.push_back(kube::ToManifest(object));
  return manifests;
}

std::vector<kube::Manifest> WithSecrets(std::vector<kube::Object> objects) {
  EXPECT_TRUE(SecretsForCertificates(objects).ok());
  return ManifestsOf(objects);
}

class HandsOver : public testing::Certifying {
 protected:
  HandsOver() {
    server_.Has("/api", *ParseJson(R"({"kind":"APIGroupDiscoveryList","items":[]})"));
    server_.Has("/apis", *ParseJson(R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"cert-manager.io"},
        "versions":[{"version":"v1","resources":[
          {"resource":"certificates","responseKind":{"kind":"Certificate"},"scope":"Namespaced","verbs":["get"]},
          {"resource":"issuers","responseKind":{"kind":"Issuer"},"scope":"Namespaced","verbs":["get"]}]}]}]})"));
    const api::Provider& provider = o_.provider;
    server_.Has(kStatusPath, {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                              {"kind", "InfrastructureProvider"},
                              {"metadata", {{"name", "aws"}, {"namespace", "aws-system"}, {"uid", provider.uid}}}});
    o_.provider.status.applied = "inputs";
    watches_.emplace(*server_.client, [](const auto&...) {});
    use_.emplace(*server_.client, *watches_);
    observer_.emplace(Observer::Needs{*server_.client, providers_, *watches_, settings_, fights_, *use_, clock_,
                                      [](const std::string&) { return MigrationProgress{}; },
                                      [this](const std::string& key) { return rendered_.InputsOf(key); },
                                      [] { return std::vector<std::string>(); }, nullptr});
  }
  ~HandsOver() override { watches_->Stop(); }

  // What watches show of what the inventory has.
  void See() {
    o_.fleet = {};
    for (const auto& [id, entry] : o_.inventory.entries()) {
      if (kube::Is(id, "", "Secret")) SeeCertificates(id, MarksIn(server_.Live(kSecrets + id.name)), o_.fleet);
    }
    SeeCertificates(testing::kHooks, MarksIn(server_.Live(testing::kHooksPath)), o_.fleet);
  }
  // To those who make the certificates of `manifests`; what it ends with is what the next one begins with.
  Status Run(const std::vector<kube::Manifest>& manifests) {
    rendered_.Put(o_.provider.id.Key(), "inputs", manifests, {});
    o_.now = clock_.Now();
    See();
    HandingOver handing_over({*server_.client, *observer_, writer_, rendered_, certifier_});
    Status ended = handing_over.Run(ctx_, o_).ended;
    const kube::Object written = server_.Live(kStatusPath);
    o_.provider.resource_version = written.resource_version();
    if (const Json* inventory = Find(written.json(), {"status", "inventory"})) {
      o_.provider.status.inventory = *inventory;
      o_.inventory = *kube::Inventory::Parse(*inventory);
    }
    return ended;
  }
  bool Has(const std::string& path) { return server_.Live(path).json().is_object(); }
  bool IsOurs(const std::string& name) { return *certifier_.IsKept(ctx_, SecretId(name)); }

  ProviderCache providers_{[](const ProviderCache::Change&) {}};
  Settings settings_;
  Fights fights_{clock_};
  SecretMasks masks_;
  RenderedCache rendered_;
  StatusWriter writer_{*server_.client, providers_, masks_};
  std::optional<Watches> watches_;
  std::optional<UseFinder> use_;
  std::optional<Observer> observer_;
  Observation o_ = testing::Observed();
};

// One whose Secret is of another type can't be the operator's: it stays, and who issues for it.
TEST_F(HandsOver, ToTheOperatorWhatIsNotRefused) {  // I19
  auto objects = ReleaseWith({"metrics"});
  objects[0].set_label(api::kLabelProvider, "infrastructure-aws");
  for (const kube::Manifest& manifest : ManifestsOf(objects)) o_.inventory.Put(manifest.id, {"v1", "h", "f", false});
  server_.Has(kIssuerPath, objects[0].json());
  server_.Has(kCertificates + "serving", objects[1].json());
  server_.Has(kCertificates + "metrics", objects[2].json());
  server_.Has(kSecrets + "metrics-cert", {{"apiVersion", "v1"},
                                          {"kind", "Secret"},
                                          {"metadata", {{"name", "metrics-cert"}, {"namespace", "capa-system"}}},
                                          {"type", "Opaque"}});
  server_.Has(kSecretPath,
              {{"apiVersion", "v1"},
               {"kind", "Secret"},
               {"metadata",
                {{"name", "webhook-cert"},
                 {"namespace", "capa-system"},
                 {"ownerReferences", Json::array({{{"apiVersion", "cert-manager.io/v1"}, {"kind", "Certificate"}}})}}},
               {"type", "kubernetes.io/tls"}});
  o_.builtin_certificates = true;
  Status ended = Run(WithSecrets(objects));
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().message, HasSubstr("metrics-cert"));
  EXPECT_FALSE(Has(kCertificates + "serving"));
  std::vector<std::string> last = server_.Written();
  last.erase(last.begin(), last.size() < 3 ? last.end() : last.end() - 3);
  // Of a Certificate that isn't going cert-manager would be the owner again at once.
  EXPECT_THAT(last, ElementsAre("serving", "webhook-cert", "status"));
  EXPECT_EQ(GetString(server_.Deleted(), {"propagationPolicy"}), "Orphan") << "its Secret stays";
  EXPECT_FALSE(*certifier_.IsOwned(ctx_, kSecret));
  EXPECT_TRUE(Has(kCertificates + "metrics")) << "else nobody would keep it";
  EXPECT_TRUE(Has(kIssuerPath)) << "it issues for that one";
  EXPECT_TRUE(IsOurs("webhook-cert"));
  EXPECT_TRUE(IsTrusted());
  EXPECT_TRUE(o_.inventory.Contains(kSecret));
  EXPECT_FALSE(o_.inventory.Contains(CertificateId("serving")));
  EXPECT_TRUE(o_.inventory.Contains(CertificateId("metrics")));
  EXPECT_TRUE(o_.inventory.Contains(kIssuer));

  server_.Loses(kSecrets + "metrics-cert");
  ended = Run(WithSecrets(objects));
  EXPECT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_FALSE(Has(kCertificates + "metrics"));
  EXPECT_FALSE(Has(kIssuerPath));
  EXPECT_TRUE(IsOurs("metrics-cert"));
  EXPECT_FALSE(o_.inventory.Contains(kIssuer));
}

// Those behind one that couldn't be let go were nobody's to let go any more.
TEST_F(HandsOver, ToCertManagerEachSecretByItself) {  // I19
  const auto objects = ReleaseWith({"a", "x"});
  const auto secrets = WithSecrets(objects);
  for (const kube::Manifest& manifest : secrets) o_.inventory.Put(manifest.id, {"v1", manifest.hash, "f", false});
  ASSERT_TRUE(certifier_.Prepare(ctx_, secrets, o_.inventory).ended.ok());
  server_.Refuses("webhook-cert");
  o_.builtin_certificates = false;
  Status ended = Run(ManifestsOf(objects));
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().message, HasSubstr("webhook-cert"));
  EXPECT_TRUE(Has(kIssuerPath) && Has(kCertificates + "serving") && Has(kCertificates + "x"));
  EXPECT_FALSE(IsOurs("a-cert") || IsOurs("x-cert"));
  EXPECT_FALSE(o_.inventory.Contains(SecretId("a-cert")) || o_.inventory.Contains(SecretId("x-cert")));
  EXPECT_TRUE(o_.inventory.Contains(kSecret)) << "it is let go another time";
  EXPECT_NE(MarksIn(server_.Live(testing::kHooksPath)).bundle, "");

  server_.Refuses("");
  See();
  o_.fleet.bundles.clear();
  EXPECT_TRUE(ToHandOver(o_)) << "by that Secret alone, where nothing has a bundle";
  ended = Run(ManifestsOf(objects));
  EXPECT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_FALSE(IsOurs("webhook-cert"));
  EXPECT_FALSE(o_.inventory.Contains(kSecret));
  EXPECT_EQ(MarksIn(server_.Live(testing::kHooksPath)).bundle, "");
}

// One that was let go, and whose answer was lost, would have been the provider's again, and gone with it.
TEST_F(HandsOver, ToCertManagerWhoseAnswerIsLost) {  // I19
  const auto objects = ReleaseWith({});
  const auto secrets = WithSecrets(objects);
  for (const kube::Manifest& manifest : secrets) o_.inventory.Put(manifest.id, {"v1", manifest.hash, "f", false});
  ASSERT_TRUE(certifier_.Prepare(ctx_, secrets, o_.inventory).ended.ok());
  o_.builtin_certificates = false;
  server_.LosesAnswer("webhook-cert");
  EXPECT_FALSE(Run(ManifestsOf(objects)).ok());
  EXPECT_FALSE(IsOurs("webhook-cert"));
  EXPECT_FALSE(o_.inventory.Contains(kSecret));
  const Status ended = Run(ManifestsOf(objects));
  EXPECT_TRUE(ended.ok()) << ended.error().message;
}

// What another tool has asked cert-manager for goes over with what is adopted.
TEST_F(HandsOver, WhatIsLiveStillIsKnown) {  // I19, A1
  const auto objects = ReleaseWith({"metrics"});
  server_.Has(kIssuerPath, objects[0].json());
  server_.Has(kCertificates + "serving", objects[1].json());
  kube::Inventory inventory;
  ASSERT_TRUE(AddLiveRequests(ctx_, *server_.client, WithSecrets(objects), inventory).ok());
  EXPECT_EQ(inventory.entries().size(), 2u) << "the other one isn't there";
  for (const kube::ObjectId& id : {kIssuer, CertificateId("serving")}) {
    ASSERT_TRUE(inventory.Contains(id)) << id.ToString();
    EXPECT_TRUE(inventory.Find(id)->stale);
  }
  testing::Server without;
  without.Has("/api", *ParseJson(R"({"kind":"APIGroupDiscoveryList","items":[]})"));
  without.Has("/apis", *ParseJson(R"({"kind":"APIGroupDiscoveryList","items":[]})"));
  kube::Inventory none;
  EXPECT_TRUE(AddLiveRequests(ctx_, *without.client, WithSecrets(objects), none).ok()) << "there is no cert-manager";
  EXPECT_TRUE(none.entries().empty());
}

}  // namespace
}  // namespace capi::ops
