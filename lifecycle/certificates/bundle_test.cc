// behaviour.md I19: whose a caBundle is, and what is to be in it.
#include "lifecycle/certificates/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/testing/value_or_abort.h"

namespace capi::certificates {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;

const WallTime kNow{Seconds(1'800'000'000)};

Request Wanted() {
  Request request;
  request.dns_names = {"a.ns.svc"};
  return request;
}

std::string For(const std::string& host, WallTime until = kNow + hours(1)) {
  http::CertificateContent content;
  content.dns_names = {host};
  content.validity = {kNow - hours(1), until};
  std::string key = ValueOrAbort(http::MakeKey({http::KeyKind::Algorithm::kEcdsa, 256, false}), "key");
  return ValueOrAbort(http::IssueCertificate(content, key, {}), "certificate");
}

TEST(Bundle, HasEachCertificateOnceUntilItEnds) {
  std::string one = For("a.ns.svc"), two = For("b.ns.svc"), ended = For("c.ns.svc", kNow);
  EXPECT_EQ(Combine({one + ended, "nonsense", two + one}, kNow), one + two);
  EXPECT_EQ(Combine({}, kNow), "");
  std::vector<std::string> many;
  for (size_t i = 0; i <= kMostTrusted; ++i) many.push_back(For("a.ns.svc"));
  auto combined = http::SplitCertificates(Combine(many, kNow));
  EXPECT_EQ(combined->size(), kMostTrusted);
  EXPECT_EQ(combined->front(), many.front());
}

TEST(Bundle, IncludesAnother) {
  std::string one = For("a.ns.svc"), two = For("b.ns.svc"), ended = For("c.ns.svc", kNow);
  EXPECT_TRUE(Includes(one + two, two + ended, kNow));
  EXPECT_FALSE(Includes(one, one + two, kNow));
  EXPECT_FALSE(Includes(one, "", kNow));
  EXPECT_FALSE(Includes(one, ended, kNow));
}

TEST(Bundle, IsOursOnlyAsAWhole) {
  std::string made = For("a.ns.svc"), held = For("b.ns.svc"), other = For("c.ns.svc"), ended = For("c.ns.svc", kNow);
  const std::pair<std::string, BundleOwner> cases[] = {
      {"", BundleOwner::kNobody},
      {"\n", BundleOwner::kNobody},
      {made, BundleOwner::kOurs},
      {held + made + ended, BundleOwner::kOurs},
      {other, BundleOwner::kOther},
      {made + other, BundleOwner::kOther},
      {made.substr(0, 200), BundleOwner::kOther},
  };
  const Request requests[] = {Wanted()};
  for (const auto& c : cases) EXPECT_EQ(OwnerOf(c.first, requests, held, kNow), c.second) << c.first;
  EXPECT_EQ(OwnerOf(held, requests, "", kNow), BundleOwner::kOther);
}

// Of 9999: taken for one that had ended, it was written over.
TEST(Bundle, OfOneThatNeverEndsIsWhoseItIs) {  // I19
  const std::string never =
      "-----BEGIN CERTIFICATE-----\n"
      "MIIBeTCCAR+gAwIBAgIUGhaqsi/d19vOVdrhTSl5qI2sbH0wCgYIKoZIzj0EAwIw\n"
      "ETEPMA0GA1UEAwwGb3RoZXJzMCAXDTI2MTEyNzA4MDQyMVoYDzk5OTkwOTEwMDgw\n"
      "NDIxWjARMQ8wDQYDVQQDDAZvdGhlcnMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC\n"
      "AATIpBP2YBgZc/CsNRB/Zk//SKFgLmJ3GmxDnGmnryrRpTfZ9PtaoxtMltxDddzi\n"
      "xyeCKBNm0Fm5RpkGGQcZ9S09o1MwUTAdBgNVHQ4EFgQUr15612IG+gOo1PjXHQ0V\n"
      "XdHkxiQwHwYDVR0jBBgwFoAUr15612IG+gOo1PjXHQ0VXdHkxiQwDwYDVR0TAQH/\n"
      "BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAq5ONpEsA1q8VIv6W/m0q43jfGc73\n"
      "PdbWtBIDONqcjwACIAxNTbF+Ltx3YrUJOQ2G3WR4n4pGin8qQCjAfSTAwyOi\n"
      "-----END CERTIFICATE-----\n";
  const Request requests[] = {Wanted()};
  EXPECT_EQ(OwnerOf(never, requests, "", kNow), BundleOwner::kOther);
  EXPECT_EQ(Combine({never}, kNow), never);
}

TEST(Bundle, IsForARequestWithTheSameNamesAndSubject) {
  std::string cert = For("a.ns.svc");
  EXPECT_TRUE(IsFor(Wanted(), cert));
  EXPECT_FALSE(IsFor(Wanted(), "nonsense"));
  for (auto change : {+[](Request& r) { r.dns_names.push_back("b"); }, +[](Request& r) { r.ip_addresses = {"::1"}; },
                      +[](Request& r) { r.common_name = "b"; }, +[](Request& r) { r.organizations = {"b"}; },
                      +[](Request& r) { r.authority = true; }}) {
    Request request = Wanted();
    change(request);
    EXPECT_FALSE(IsFor(request, cert));
  }
}

kube::Object Parsed(std::string_view json) { return kube::Object(ValueOrAbort(ParseJson(json), "json")); }

TEST(LiveBundles, AreOneForEachWebhook) {
  auto hooks = Parsed(R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "n", "uid": "u"}, "webhooks": [{"name": "one", "clientConfig": {"caBundle": "eA==", "url": "x"}},
    {"name": "two", "clientConfig": {}}]})");
  EXPECT_THAT(LiveBundles(hooks), ElementsAre("x", ""));

  auto crd = Parsed(R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata":
    {"name": "n", "uid": "u"}, "spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {}}}}})");
  EXPECT_THAT(LiveBundles(crd), ElementsAre(""));
  crd.json()["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "eQ==";
  EXPECT_THAT(LiveBundles(crd), ElementsAre("y"));
  crd.json()["spec"]["conversion"]["strategy"] = "None";
  EXPECT_TRUE(LiveBundles(crd).empty());

  auto service = Parsed(R"({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata":
    {"name": "n", "uid": "u"}, "spec": {"service": {}}})");
  EXPECT_THAT(LiveBundles(service), ElementsAre(""));
  service.json()["spec"] = Json::object();
  EXPECT_TRUE(LiveBundles(service).empty());
}

}  // namespace
}  // namespace capi::certificates
