// I19: whose a caBundle is.
#include <gmock/gmock.h>

#include "api/certificates/names.h"
#include "lifecycle/certificates/issue.h"
#include "operator/act/certificates/certifier.h"
#include "operator/act/certificates/certifier_testing.h"

namespace capi::ops {
namespace {

using testing::Certifying;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kHooks;
using testing::kHooksPath;
using testing::kSecret;
using testing::kSecretPath;

TEST_F(Certifying, SomebodyElsesBundleIsLeftAlone) {  // I19
  Json hooks = *ParseJson(manifests_.back().text);
  auto others = http::MakeAuthority("others", {clock_.Now() - Seconds(60), clock_.Now() + Seconds(90000)});
  for (Json& one : hooks["webhooks"]) one["clientConfig"]["caBundle"] = Base64Encode(others->cert_pem);
  server_.Has(kHooksPath, hooks);
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(Bundle(), others->cert_pem);
  ASSERT_TRUE(certifier_.Trust(ctx_, manifests_, inventory_).ended.ok());
  EXPECT_EQ(Bundle(), others->cert_pem);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty()) << "nobody writes it again and again";
}

TEST_F(Certifying, WhatWasOursIsMended) {  // I19
  ASSERT_TRUE(Prepare().ok());
  Json hooks = server_.Live(kHooksPath).json();
  hooks["webhooks"][1]["clientConfig"].erase("caBundle");
  hooks["metadata"]["managedFields"][0]["fieldsV1"]["f:webhooks"].erase("k:{\"name\":\"b.x\"}");
  server_.Has(kHooksPath, hooks);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), ElementsAre(kHooks));
  server_.Written();
  ASSERT_TRUE(Keep().ok());
  EXPECT_THAT(server_.Written(), ElementsAre("hooks"));
  EXPECT_EQ(Bundle(0), Bundle(1));
}

// Of one webhook that is somebody else's all others of that object lost what they trust, and weren't extended.
TEST_F(Certifying, EachWebhookIsJudgedByItself) {  // I19
  ASSERT_TRUE(Prepare().ok());
  Json hooks = server_.Live(kHooksPath).json();
  auto others = http::MakeAuthority("others", {clock_.Now(), clock_.Now() + std::chrono::hours(24 * 999)});
  hooks["webhooks"][1]["clientConfig"]["caBundle"] = Base64Encode(others->cert_pem);
  hooks["metadata"]["managedFields"][0]["fieldsV1"]["f:webhooks"].erase("k:{\"name\":\"b.x\"}");
  hooks["metadata"]["annotations"].erase(std::string(api::kAnnotationCaBundle));  // "leave it as it is"
  server_.Has(kHooksPath, hooks);
  ASSERT_TRUE(Keep().ok());
  EXPECT_THAT(told_, ElementsAre(HasSubstr("1 of its 2 caBundles is somebody else's")));
  EXPECT_EQ(Bundle(0), Value("ca.crt"));
  EXPECT_EQ(Bundle(1), others->cert_pem);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
  const std::string first = Value("tls.crt");
  for (int passes = 0; Value("tls.crt") == first; ++passes) {
    ASSERT_LT(passes, 12) << "it is never renewed";
    clock_.Advance(*NextCertificate(Seen(), clock_.Now()) + Seconds(1));
    ASSERT_TRUE(Keep().ok());
    EXPECT_TRUE(IsTrusted());
  }
  EXPECT_EQ(Bundle(1), others->cert_pem);

  hooks = server_.Live(kHooksPath).json();  // as many as were filled in are left, and it isn't that one
  hooks["webhooks"].erase(0);
  hooks["metadata"]["managedFields"][0]["fieldsV1"].erase("f:webhooks");
  server_.Has(kHooksPath, hooks);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), ElementsAre(kHooks));
  ASSERT_TRUE(Keep().ok());
  EXPECT_EQ(Bundle(0), others->cert_pem);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
}

TEST_F(Certifying, AWebhookThatCameIsSeen) {  // I19
  ASSERT_TRUE(Prepare().ok());
  Json hooks = server_.Live(kHooksPath).json();
  hooks["webhooks"].push_back({{"name", "c.x"}});
  hooks["metadata"]["managedFields"].push_back(
      {{"manager", "capi-operator"}, {"fieldsV1", {{"f:webhooks", {{R"(k:{"name":"c.x"})", Json::object()}}}}}});
  server_.Has(kHooksPath, hooks);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), ElementsAre(kHooks));
  ASSERT_TRUE(Keep().ok());
  EXPECT_EQ(Bundle(2), Bundle(0));
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
}

// Where one of somebody else's is there, another one that takes its place.
TEST_F(Certifying, AWebhookThatCameForOneOfSomebodyElsesIsSeen) {  // I19
  Json hooks = *ParseJson(manifests_.back().text);
  auto others = http::MakeAuthority("others", {clock_.Now(), clock_.Now() + std::chrono::hours(24 * 999)});
  hooks["webhooks"][1]["clientConfig"]["caBundle"] = Base64Encode(others->cert_pem);
  const auto entry = [](const char* name) {
    return Json{{"manager", "capi-operator"}, {"fieldsV1", {{"f:webhooks", {{name, Json::object()}}}}}};
  };
  hooks["metadata"]["managedFields"] = Json::array({entry(R"(k:{"name":"b.x"})")});
  server_.Has(kHooksPath, hooks);
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(MarksIn(server_.Live(kHooksPath)).bundle, ::testing::EndsWith("/1/b.x"));
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
  hooks = server_.Live(kHooksPath).json();
  hooks["webhooks"][1] = {{"name", "c.x"}};
  hooks["metadata"]["managedFields"][0] = entry(R"(k:{"name":"c.x"})");
  server_.Has(kHooksPath, hooks);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), ElementsAre(kHooks));
  ASSERT_TRUE(Keep().ok());
  EXPECT_EQ(Bundle(1), Bundle(0));
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
}

// A mark that counts less than all doesn't say which of them are the operator's.
TEST_F(Certifying, BesideAnothersWhatSomebodyChangesIsHis) {  // I19
  Json hooks = *ParseJson(manifests_.back().text);
  auto others = http::MakeAuthority("others", {clock_.Now(), clock_.Now() + std::chrono::hours(24 * 999)});
  hooks["webhooks"][1]["clientConfig"]["caBundle"] = Base64Encode(others->cert_pem);
  server_.Has(kHooksPath, hooks);
  ASSERT_TRUE(Prepare().ok());
  ASSERT_EQ(Bundle(0), Value("ca.crt"));
  hooks = server_.Live(kHooksPath).json();
  hooks["webhooks"][0]["clientConfig"]["caBundle"] = Base64Encode(others->cert_pem);
  for (Json& entry : hooks["metadata"]["managedFields"]) entry["fieldsV1"].erase("f:webhooks");
  server_.Has(kHooksPath, hooks);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), ElementsAre(kHooks));
  ASSERT_TRUE(Keep().ok());
  EXPECT_EQ(Bundle(0), others->cert_pem);
  EXPECT_EQ(Bundle(1), others->cert_pem);
}

// A release has a Secret of its own, which no certificate is for: what is as that says is no bundle of the operator's.
TEST_F(Certifying, ASecretOfTheReleaseIsNoCertificate) {  // I19
  auto others = http::MakeAuthority("others", {clock_.Now(), clock_.Now() + std::chrono::hours(24 * 999)});
  server_.Has("/api/v1/namespaces/capa-system/secrets/own",
              {{"apiVersion", "v1"},
               {"kind", "Secret"},
               {"metadata", {{"name", "own"}, {"namespace", "capa-system"}}},
               {"data", {{"ca.crt", Base64Encode(others->cert_pem)}}}});
  inventory_.Put({"", "Secret", "capa-system", "own"}, {"v1", "hash", "fields", false});
  ASSERT_TRUE(Prepare().ok());
  Json hooks = *ParseJson(manifests_.back().text);
  for (Json& one : hooks["webhooks"]) one["clientConfig"]["caBundle"] = Base64Encode(others->cert_pem);
  server_.Has(kHooksPath, hooks);
  ASSERT_TRUE(certifier_.Trust(ctx_, manifests_, inventory_).ended.ok());
  EXPECT_EQ(Bundle(), others->cert_pem);
}

// It is served from then on, and that another one was written meanwhile has what calls it trust the former alone.
TEST_F(Certifying, WhatMayHaveBeenWrittenIsTrusted) {  // I19
  const std::string path = "/api/v1/namespaces/capa-system/secrets/z-cert";
  const kube::ObjectId other{"", "Secret", "capa-system", "z-cert"};
  ASSERT_TRUE(Prepare().ok());
  Json second = server_.Live(kSecretPath).json(), first = second;
  auto request = certificates::ParseRequest(kube::Object(second).annotation(api::kAnnotationCertificate));
  ASSERT_TRUE(request.ok());
  request->certificate.name = "second";
  request->secret_name = "z-cert";
  second["metadata"]["name"] = "z-cert";
  second["metadata"]["annotations"][std::string(api::kAnnotationCertificate)] = certificates::ToText(*request);
  for (Json* secret : {&first, &second}) (*secret)["data"]["tls.key"] = Base64Encode("nonsense");
  server_.Has(kSecretPath, first);
  server_.Has(path, second);
  server_.LosesAnswer("webhook-cert");
  Observation o = testing::Observed();
  o.now = clock_.Now();
  o.fleet = Seen();
  SeeCertificates(other, MarksIn(server_.Live(path)), o.fleet);
  server_.Written();
  EXPECT_FALSE(certifier_.Keep(ctx_, o, {kSecret, other}).ended.ok());
  EXPECT_THAT(server_.Written(), ElementsAre("hooks", "webhook-cert", "z-cert"));
  EXPECT_TRUE(IsTrusted());
}

}  // namespace
}  // namespace capi::ops
