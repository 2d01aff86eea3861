#include "base/http/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/client.h"
#include "base/http/server/server.h"
#include "base/testing/value_or_abort.h"

namespace capi::http {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const WallTime kNow{Seconds(1'800'000'000)};
const std::vector<std::string> kHosts = {"b.ns.svc", "127.0.0.1", "fd00::1"};

Certificate Authority(const std::string& name = "CA") {
  return ValueOrAbort(MakeAuthority(name, {kNow - hours(1), kNow + hours(1000)}), "CA");
}

Certificate Serving(const Certificate& authority, Validity validity = {kNow - hours(1), kNow + hours(100)}) {
  return ValueOrAbort(IssueServing(authority, kHosts, validity), "serving");
}

TEST(Certificate, SaysWhatItWasMadeFor) {
  auto ca = Authority();
  auto facts = ReadCertificate(Serving(ca).cert_pem + ca.cert_pem);
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->validity.not_before, kNow - hours(1));
  EXPECT_EQ(facts->validity.not_after, kNow + hours(100));
  EXPECT_THAT(facts->hosts, ElementsAre("127.0.0.1", "b.ns.svc", "fd00::1"));
  EXPECT_FALSE(facts->authority);
  EXPECT_TRUE(ReadCertificate(ca.cert_pem)->authority);
}

TEST(Certificate, IsTakenByWhoTrustsItsAuthorityForItsHostsInItsTime) {
  // Of one name: told apart by their keys.
  auto ca = Authority(), other = Authority();
  auto serving = Serving(ca), of_other = Serving(other);
  auto under_a_leaf = IssueServing(serving, kHosts, {kNow - hours(1), kNow + hours(1)});
  struct Case {
    std::string_view name;
    std::string cert, trusted, host;
    WallTime at;
    std::string why;  // "" where it is taken
  };
  const Case cases[] = {
      {"its CA", serving.cert_pem, ca.cert_pem, "b.ns.svc", kNow, ""},
      {"an address", serving.cert_pem, ca.cert_pem, "127.0.0.1", kNow, ""},
      {"an address of IPv6", serving.cert_pem, ca.cert_pem, "fd00::1", kNow, ""},
      {"both CAs, the old leaf", serving.cert_pem, other.cert_pem + ca.cert_pem, "b.ns.svc", kNow, ""},
      {"both CAs, the new leaf", of_other.cert_pem, other.cert_pem + ca.cert_pem, "b.ns.svc", kNow, ""},
      {"the other CA", serving.cert_pem, other.cert_pem, "b.ns.svc", kNow, "certificate for b.ns.svc: "},
      {"no CA", serving.cert_pem, "", "b.ns.svc", kNow, "unable to get"},
      {"another host", serving.cert_pem, ca.cert_pem, "a.ns.svc", kNow, "ostname mismatch"},
      {"another address", serving.cert_pem, ca.cert_pem, "127.0.0.2", kNow, "IP address mismatch"},
      {"too early", serving.cert_pem, ca.cert_pem, "b.ns.svc", kNow - hours(2), "not yet valid"},
      {"too late", serving.cert_pem, ca.cert_pem, "b.ns.svc", kNow + hours(101), "expired"},
      {"a leaf is no CA", under_a_leaf->cert_pem + serving.cert_pem, ca.cert_pem, "b.ns.svc", kNow, "CA"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto verified = VerifyServing(c.cert, c.trusted, c.host, c.at);
    EXPECT_EQ(verified.ok(), c.why.empty());
    if (verified.ok()) continue;
    EXPECT_EQ(verified.code(), Code::kFailedPrecondition);
    EXPECT_THAT(verified.error().message, HasSubstr(c.why));
  }
}

// Rule G1: by one the plane's own API server knows who asks; it serves nobody.
TEST(Certificate, OfAClientServesNobody) {
  auto ca = Authority();
  auto client = IssueClient(ca, "admin", "system:masters", {kNow - hours(1), kNow + hours(100)});
  ASSERT_TRUE(client.ok()) << client.error().message;
  EXPECT_TRUE(CheckKey(*client).ok());
  EXPECT_TRUE(ReadCertificate(client->cert_pem)->hosts.empty());
  auto verified = VerifyServing(client->cert_pem, ca.cert_pem, "admin", kNow);
  ASSERT_FALSE(verified.ok());
  EXPECT_EQ(verified.code(), Code::kFailedPrecondition);
  EXPECT_EQ(IssueClient(ca, "", "system:masters", {kNow, kNow + hours(1)}).code(), Code::kInvalidArgument);
}

TEST(Certificate, RefusesBadPem) {
  auto ca = Authority();
  auto serving = Serving(ca);
  for (const std::string& bad :
       {std::string(), std::string("nonsense"), serving.key_pem, serving.cert_pem.substr(0, 200),
        std::string("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")}) {
    EXPECT_EQ(ReadCertificate(bad).code(), Code::kInvalidArgument) << bad;
    EXPECT_EQ(CheckKey({bad, serving.key_pem}).code(), Code::kInvalidArgument) << bad;
    EXPECT_EQ(VerifyServing(bad, ca.cert_pem, "b.ns.svc", kNow).code(), Code::kInvalidArgument) << bad;
    EXPECT_EQ(IssueServing({bad, ca.key_pem}, kHosts, {}).code(), Code::kInvalidArgument) << bad;
  }
  EXPECT_EQ(VerifyServing(serving.cert_pem, ca.cert_pem.substr(0, 200), "b.ns.svc", kNow).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(CheckKey({serving.cert_pem, ca.key_pem}).code(), Code::kInvalidArgument);
  EXPECT_EQ(CheckKey({serving.cert_pem, "nonsense"}).code(), Code::kInvalidArgument);
  EXPECT_EQ(IssueServing({ca.cert_pem, serving.key_pem}, kHosts, {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(IssueServing(ca, {}, {}).code(), Code::kInvalidArgument);
  EXPECT_TRUE(CheckKey(serving).ok());
}

// A certificate that "never" ends, of somebody else's, counted as one that had ended long ago.
TEST(Certificate, EndsAsLateAsAClockGoes) {  // I19
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
  auto facts = ReadCertificate(never);
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_GT(facts->validity.not_after, kNow + hours(24 * 365 * 200));
  EXPECT_LT(facts->validity.not_before, kNow);
}

TEST(CanonicalHost, WritesAHostInOneWay) {
  EXPECT_EQ(*CanonicalHost("A.ns.SVC"), "a.ns.svc");
  EXPECT_EQ(*CanonicalHost("fd00:0:0::1"), "fd00::1");
  EXPECT_EQ(*CanonicalHost("127.0.0.1"), "127.0.0.1");
  for (std::string_view bad : {"", "a b", "a,b", "a_b", "https://a", "a:443", "*.a", "[::1]"}) {
    EXPECT_EQ(CanonicalHost(bad).code(), Code::kInvalidArgument) << bad;
  }
}

TEST(Certificate, SplitsABundle) {
  auto ca = Authority(), other = Authority();
  auto split = SplitCertificates("a comment\n" + ca.cert_pem + "\n" + other.cert_pem);
  ASSERT_TRUE(split.ok());
  EXPECT_THAT(*split, ElementsAre(ca.cert_pem, other.cert_pem));
  EXPECT_TRUE(SplitCertificates("")->empty());
  EXPECT_EQ(SplitCertificates(ca.cert_pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").code(),
            Code::kInvalidArgument);
}

TEST(Certificate, ServesAClient) {
  WallTime now = SystemClock().Now();
  auto ca = ValueOrAbort(MakeAuthority("CA", {now - hours(1), now + hours(1)}), "CA");
  auto serving = ValueOrAbort(IssueServing(ca, {"127.0.0.1"}, {now - hours(1), now + hours(1)}), "serving");
  ServerOptions options;
  options.cert_pem = serving.cert_pem;
  options.key_pem = serving.key_pem;
  auto server = *Server::Start(options, [](const ServerRequest&) { return Response{.status = 200}; });
  Options trusting;
  trusting.tls.ca_pem = ca.cert_pem;
  auto answer = (*Client::Create("https://" + server->address(), trusting))->Do(Context().WithTimeout(Seconds(20)), {});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
}

}  // namespace
}  // namespace capi::http
