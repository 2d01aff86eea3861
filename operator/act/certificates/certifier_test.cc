// I19: what is written for certificates, in which order, and what a crash in between leaves.
#include "operator/act/certificates/certifier.h"

#include <gmock/gmock.h>

#include "api/certificates/names.h"
#include "base/strings.h"
#include "operator/act/certificates/certifier_testing.h"

namespace capi::ops {
namespace {

using ::testing::AllOf;
using testing::Certifying;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kHooks;
using testing::kHooksPath;
using testing::kHost;
using testing::kSecret;
using testing::kSecretPath;
using ::testing::Not;
using testing::Observed;
using testing::Release;

TEST_F(Certifying, AReleaseHasASecretInThePlaceOfACertificate) {  // I19
  ASSERT_EQ(manifests_.size(), 2u);
  EXPECT_EQ(manifests_[0].id, kSecret);
  EXPECT_EQ(manifests_[1].id, kHooks);
  EXPECT_THAT(manifests_[0].text, HasSubstr("certificate-request"));
  EXPECT_EQ(manifests_[0].text.find("\"data\""), std::string::npos) << "its key is no part of a render";
  std::vector<kube::Object> unknown = Release(R"(,"keystores":{"jks":{"create":true}})");
  auto refused = SecretsForCertificates(unknown);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("capa-system/serving"));
  EXPECT_THAT(refused.error().message, HasSubstr("keystores"));
  EXPECT_EQ(unknown.size(), 3u);
}

TEST_F(Certifying, WhatCallsTrustsFirstAndNothingIsWrittenTwice) {  // I19
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(server_.Written(), ElementsAre("hooks", "webhook-cert"));
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_TRUE(IsTrusted());
  EXPECT_EQ(Bundle(0), Bundle(1));
  EXPECT_EQ(GetString(server_.Live(kSecretPath).json(), {"type"}), "kubernetes.io/tls");
  EXPECT_EQ(server_.Live(kSecretPath).label("cluster.x-k8s.io/provider"), "infrastructure-aws");
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(server_.Written(), IsEmpty());
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
  ASSERT_TRUE(certifier_.Trust(ctx_, manifests_, inventory_).ended.ok());
  EXPECT_THAT(server_.Written(), IsEmpty()) << "what trusts it already";
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
}

TEST_F(Certifying, AFailedWriteTellsNoKeyAndIsDoneAgain) {  // I19, I7
  for (bool dry_runs : {true, false}) {
    SCOPED_TRACE(dry_runs);
    server_.Refuses("webhook-cert", dry_runs);
    auto failed = Prepare();
    ASSERT_FALSE(failed.ok());
    EXPECT_THAT(failed.error().message, AllOf(HasSubstr("webhook-cert"), HasSubstr("***")));
    for (const std::string& key : server_.Repeated()) {
      ASSERT_GT(key.size(), 100u);
      for (const std::string& line : Split(key, '\n')) {
        if (!line.empty()) EXPECT_THAT(failed.error().message, Not(HasSubstr(line)));
      }
    }
    if (dry_runs) EXPECT_THAT(server_.Written(), IsEmpty()) << "nobody trusts what can't be written";
  }
  server_.Refuses("");
  ASSERT_TRUE(Prepare().ok());
  EXPECT_TRUE(IsTrusted());
}

TEST_F(Certifying, ARenewalIsTrustedAtEveryMoment) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const std::string first = Value("tls.crt");
  server_.Written();
  for (int passes = 0; Value("tls.crt") == first; ++passes) {
    ASSERT_LT(passes, 12) << "it is never renewed";
    auto next = NextCertificate(Seen(), clock_.Now());
    ASSERT_TRUE(next);
    clock_.Advance(*next + Seconds(1));
    ASSERT_TRUE(Keep().ok());
    EXPECT_TRUE(IsTrusted());
    const std::string key = Value("tls.key");
    EXPECT_EQ(http::CheckKey({Value("tls.crt"), key}).ok(), true);
  }
  EXPECT_TRUE(http::VerifyServing(first, Bundle(), kHost, clock_.Now()).ok()) << "a process may still serve with it";
  EXPECT_EQ(Value("next.crt") + Value("next.key"), "");
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
}

// After a crash between the Secret's write and the injection, and before the watch of webhooks is there again.
TEST_F(Certifying, WhatWatchesDoNotShowIsReadBeforeTheNextCertificateIsServed) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const std::string first = Value("tls.crt");
  const Json hooks = server_.Live(kHooksPath).json();
  clock_.Advance(*NextCertificate(Seen(), clock_.Now()) + Seconds(1));
  ASSERT_TRUE(Keep().ok());
  ASSERT_FALSE(Value("next.crt").empty());
  server_.Has(kHooksPath, hooks);
  Certifier restarted(*server_.client, tracks_);
  auto keep_blind = [&] {
    clock_.Advance(Seconds(70));
    Observation o = Observed();
    o.now = clock_.Now();
    o.inventory = inventory_;
    o.fleet = Seen();
    o.fleet.bundles.clear();
    o.fleet.blind = true;
    EXPECT_TRUE(restarted.Keep(ctx_, o, {kSecret}).ended.ok());
    EXPECT_TRUE(IsTrusted());
  };
  keep_blind();
  EXPECT_EQ(Value("tls.crt"), first) << "the webhooks trust it from now on only";
  EXPECT_TRUE(http::VerifyServing(Value("next.crt"), Bundle(), kHost, clock_.Now()).ok());
  keep_blind();
  EXPECT_NE(Value("tls.crt"), first);
}

// Whatever is in ca.crt went into all that calls the webhooks, and was taken for what they trust.
TEST_F(Certifying, WhatDoesNotTrustWhatIsServedIsBroughtToNobody) {  // I19
  auto others = http::MakeAuthority("others", {clock_.Now(), clock_.Now() + std::chrono::hours(24 * 999)});
  for (const std::string& bad : {std::string(), others->cert_pem}) {
    SCOPED_TRACE(bad);
    server_.Loses(kSecretPath);
    ASSERT_TRUE(Prepare().ok());
    const std::string first = Value("tls.crt");
    for (int passes = 0; Value("next.crt").empty(); ++passes) {
      ASSERT_LT(passes, 12) << "it is never renewed";
      clock_.Advance(*NextCertificate(Seen(), clock_.Now()) + Seconds(1));
      ASSERT_TRUE(Keep().ok());
    }
    Json secret = server_.Live(kSecretPath).json();
    secret["data"]["ca.crt"] = Base64Encode(bad);
    secret["metadata"]["managedFields"] = Json::array();
    server_.Has(kSecretPath, secret);
    EXPECT_FALSE(certifier_.Trust(ctx_, manifests_, inventory_).ended.ok());
    EXPECT_TRUE(IsTrusted());
    for (int passes = 0; Value("tls.crt") == first; ++passes) {
      ASSERT_LT(passes, 12) << "it is never renewed";
      ASSERT_TRUE(Keep().ok());
      EXPECT_TRUE(IsTrusted());
      clock_.Advance(Seconds(62));
    }
    EXPECT_TRUE(http::VerifyServing(first, Bundle(), kHost, clock_.Now()).ok()) << "a process may still serve with it";
  }
}

TEST_F(Certifying, ASecretOfAnotherTypeIsRefused) {  // I19
  EXPECT_THAT(manifests_[0].text, HasSubstr("kubernetes.io/tls")) << "none without data can be made of it";
  server_.Has(kSecretPath, {{"apiVersion", "v1"},
                            {"kind", "Secret"},
                            {"metadata", {{"name", "webhook-cert"}, {"namespace", "capa-system"}}},
                            {"type", "Opaque"}});
  auto refused = Prepare();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("Opaque"));
  EXPECT_THAT(server_.Written(), IsEmpty());
}

TEST_F(Certifying, LeavesWhatItKeptAsItIs) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const std::string bundle = Bundle();
  ASSERT_TRUE(certifier_.LeaveBundles(ctx_, kHooks).ok());
  EXPECT_EQ(Bundle(), bundle);
  EXPECT_EQ(MarksIn(server_.Live(kHooksPath)).bundle, "");
  Json secret = server_.Live(kSecretPath).json();
  secret["metadata"]["ownerReferences"] = {{{"apiVersion", "cert-manager.io/v1"}, {"kind", "Certificate"}},
                                           {{"apiVersion", "v1"}, {"kind", "ConfigMap"}}};
  server_.Has(kSecretPath, secret);
  EXPECT_TRUE(*certifier_.IsOwned(ctx_, kSecret));
  server_.Meanwhile("webhook-cert", kSecretPath, secret);
  ASSERT_TRUE(certifier_.Disown(ctx_, kSecret).ok()) << "somebody has written it since it was read";
  EXPECT_FALSE(*certifier_.IsOwned(ctx_, kSecret));
  const Json owners = server_.Live(kSecretPath).json().at("metadata").at("ownerReferences");
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(GetString(owners[0], {"kind"}), "ConfigMap");
  server_.Written();
  ASSERT_TRUE(certifier_.Disown(ctx_, kSecret).ok());
  EXPECT_THAT(server_.Written(), IsEmpty());
  server_.Loses(kSecretPath);
  EXPECT_FALSE(*certifier_.IsOwned(ctx_, kSecret));
  EXPECT_TRUE(certifier_.Disown(ctx_, kSecret).ok());
}

TEST_F(Certifying, WhatFailsHoldsUpNothingElse) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const kube::ObjectId other{kHooks.group, kHooks.kind, "", "aaa"};
  const std::string path = kHooksPath.substr(0, kHooksPath.rfind('/') + 1) + "aaa";
  Json hooks = *ParseJson(manifests_.back().text);
  server_.Has(kHooksPath, hooks);
  hooks["metadata"]["name"] = "aaa";
  server_.Has(path, hooks);
  server_.Refuses("aaa");
  Observation o = Observed();
  o.now = clock_.Now();
  SeeCertificates(kSecret, MarksIn(server_.Live(kSecretPath)), o.fleet);
  SeeCertificates(other, MarksIn(server_.Live(path)), o.fleet);
  SeeCertificates(kHooks, MarksIn(server_.Live(kHooksPath)), o.fleet);
  Certifier::Kept kept = certifier_.Keep(ctx_, o, DueCertificates(o.fleet, o.now));
  EXPECT_FALSE(kept.ended.ok());
  EXPECT_EQ(kept.failed, other);
  EXPECT_EQ(Bundle(), Value("ca.crt"));
}

TEST_F(Certifying, ALookAloneIsNoNews) {  // I19
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(told_.size(), 1u);
  Json secret = server_.Live(kSecretPath).json();
  secret["metadata"]["labels"]["x"] = "y";
  secret["metadata"]["managedFields"] = Json::array();  // somebody has written the same
  server_.Has(kSecretPath, secret);
  server_.Written();
  ASSERT_TRUE(Keep().ok());
  EXPECT_THAT(server_.Written(), ElementsAre("webhook-cert"));
  EXPECT_THAT(told_, IsEmpty());
}

// Of a release that was applied before: its pods serve until those of the new one do, and so it is called.
TEST_F(Certifying, WhatIsToBePrunedIsToldOfARenewal) {  // I19
  ASSERT_TRUE(Prepare().ok());
  Observation o = Observed();
  o.inventory = inventory_;
  o.inventory.Put(kHooks, {"v1", "hash", "fields", true});
  o.fleet.blind = true;
  SeeCertificates(kSecret, MarksIn(server_.Live(kSecretPath)), o.fleet);
  clock_.Advance(*NextCertificate(o.fleet, clock_.Now()) + Seconds(1));
  o.now = clock_.Now();
  ASSERT_TRUE(certifier_.Keep(ctx_, o, {kSecret}).ended.ok());
  EXPECT_NE(Value("next.crt"), "");
  EXPECT_EQ(Bundle(), Value("ca.crt"));
}

TEST_F(Certifying, ALostStateIsWrittenAgain) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const std::string served = Value("tls.crt");
  Json secret = server_.Live(kSecretPath).json();
  secret["metadata"]["annotations"].erase(std::string(api::kAnnotationCertificateState));
  server_.Has(kSecretPath, secret);
  for (int passes = 0; passes < 2; ++passes) ASSERT_TRUE(Keep().ok());
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
  EXPECT_EQ(Value("tls.crt"), served);
  EXPECT_GT(NextCertificate(Seen(), clock_.Now()), Seconds(3600));
}

// What is in it is as we wrote it, and so nobody looked at the Secret: its bundles were written again and again.
TEST_F(Certifying, AStateOfAnotherBundleIsPutRight) {  // I19
  ASSERT_TRUE(Prepare().ok());
  Json secret = server_.Live(kSecretPath).json();
  Json& annotations = secret["metadata"]["annotations"];
  auto state = ParseState(GetString(annotations, {std::string(api::kAnnotationCertificateState)}));
  ASSERT_TRUE(state);
  state->bundle = "0123456789abcdef";
  annotations[std::string(api::kAnnotationCertificateState)] = StateText(*state);
  server_.Has(kSecretPath, secret);
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), ElementsAre(kHooks));
  for (int passes = 0; passes < 2; ++passes) ASSERT_TRUE(Keep().ok());
  EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
  EXPECT_EQ(Bundle(), Value("ca.crt"));
}

// Of an older text: it was due at once, each time anew, and others waited for it.
TEST_F(Certifying, AnEndThatIsNotTheCertificatesIsPutRight) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const std::string name(api::kAnnotationCertificateState), served = Value("tls.crt");
  const std::string said = server_.Live(kSecretPath).annotation(name);
  for (WallTime ends : {clock_.Now() - Seconds(60), WallTime(), clock_.Now() + std::chrono::hours(24 * 999)}) {
    SCOPED_TRACE(FormatTime(ends));
    Json secret = server_.Live(kSecretPath).json();
    auto state = ParseState(said);
    ASSERT_TRUE(state);
    state->ends = ends;
    secret["metadata"]["annotations"][name] = StateText(*state);
    server_.Has(kSecretPath, secret);
    ASSERT_TRUE(Prepare().ok());
    EXPECT_EQ(ParseState(server_.Live(kSecretPath).annotation(name))->ends, ParseState(said)->ends);
    EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
    EXPECT_EQ(Value("tls.crt"), served);
  }
}

// A backup, or cert-manager: the key that it has put there was lost.
TEST_F(Certifying, WhatComesMeanwhileIsNotWrittenOver) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const Json whole = server_.Live(kSecretPath).json();
  const std::string key = Value("tls.key");
  Json broken = whole;
  broken["data"]["tls.key"] = Base64Encode("nonsense");
  broken["metadata"]["managedFields"] = Json::array();
  const std::pair<const char*, bool> cases[] = {{"webhook-cert", false}, {"hooks", false}, {"hooks", true}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.first);
    SCOPED_TRACE(c.second);
    server_.Has(kSecretPath, broken);
    if (c.second) server_.Loses(kSecretPath);
    server_.Meanwhile(c.first, kSecretPath, whole);
    ASSERT_TRUE(Prepare().ok());
    EXPECT_EQ(Value("tls.key"), key);
    EXPECT_TRUE(IsTrusted());
    for (int passes = 0; passes < 2; ++passes) ASSERT_TRUE(Keep().ok());
    EXPECT_THAT(DueCertificates(Seen(), clock_.Now()), IsEmpty());
  }
  server_.Has(kSecretPath, broken);
  Json gone = broken;
  gone["metadata"]["uid"] = "another";
  server_.Meanwhile("webhook-cert", kSecretPath, gone);
  ASSERT_TRUE(Keep().ok());
  EXPECT_TRUE(http::CheckKey({Value("tls.crt"), Value("tls.key")}).ok()) << "it is mended all the same";
}

TEST_F(Certifying, OneTargetThatIsRefusedKeepsNoSecretFromBeingMade) {  // I19
  ASSERT_TRUE(Prepare().ok());
  server_.Loses(kSecretPath);
  server_.Refuses("hooks");
  server_.Written();
  EXPECT_FALSE(Prepare().ok());
  EXPECT_THAT(server_.Written(), ElementsAre("webhook-cert"));
}

// A drifted configuration is sent as if it never had been.
TEST_F(Certifying, WhatIsSentAnewTrustsFirstToo) {  // I19
  ASSERT_TRUE(Prepare().ok());
  const std::string before = Value("tls.crt");
  server_.Loses(kSecretPath);
  inventory_.Put(kHooks, {"v1", "", "", false});
  server_.Written();
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(server_.Written(), ElementsAre("hooks", "webhook-cert"));
  EXPECT_TRUE(http::VerifyServing(before, Bundle(), kHost, clock_.Now()).ok()) << "pods may serve with it still";
}

TEST_F(Certifying, WhatIsLetGoHasNoNextKey) {  // I19
  ASSERT_TRUE(Prepare().ok());
  clock_.Advance(*NextCertificate(Seen(), clock_.Now()) + Seconds(1));
  ASSERT_TRUE(Keep().ok());
  ASSERT_NE(Value("next.key"), "");
  const std::string key = Value("tls.key");
  ASSERT_TRUE(certifier_.Leave(ctx_, kSecret).ok());
  EXPECT_EQ(Value("next.key") + Value("next.crt"), "");
  EXPECT_EQ(Value("tls.key"), key);
  EXPECT_FALSE(server_.Live(kSecretPath).has_annotation(api::kAnnotationCertificate));
}

// While one certificate stays with cert-manager, so do those who issue: what calls others was left without a CA.
TEST_F(Certifying, WhatIsCertManagersIsNotInjectedInto) {  // I19
  ASSERT_TRUE(Prepare().ok());
  server_.Has(kHooksPath, *ParseJson(manifests_.back().text));
  server_.Written();
  inventory_.Put({"cert-manager.io", "Issuer", "capa-system", "self"}, {"v1", "h", "f", false});
  ASSERT_TRUE(certifier_.Trust(ctx_, manifests_, inventory_).ended.ok());
  EXPECT_THAT(server_.Written(), ElementsAre("hooks"));
  EXPECT_TRUE(IsTrusted());
  ASSERT_TRUE(certifier_.Leave(ctx_, kSecret).ok());
  server_.Has(kHooksPath, *ParseJson(manifests_.back().text));
  server_.Written();
  ASSERT_TRUE(certifier_.Trust(ctx_, manifests_, inventory_).ended.ok());
  EXPECT_THAT(server_.Written(), IsEmpty());
}

TEST_F(Certifying, TriesAgainLaterAndLater) {  // I19
  auto ended = [&](Status how) {
    Certifier::Kept kept;
    kept.ended = std::move(how);
    certifier_.Ended(ctx_, "p", kept);
    return certifier_.TroubleOf(clock_, "p");
  };
  const Error away{Code::kUnavailable, "away", {}};
  EXPECT_FALSE(certifier_.TroubleOf(clock_, "p").error);
  EXPECT_EQ(ended(away).wait, Seconds(10));
  clock_.Advance(Seconds(10));
  EXPECT_EQ(certifier_.TroubleOf(clock_, "p").wait, Millis(0));
  EXPECT_EQ(ended(away).wait, Seconds(20));
  clock_.Advance(std::chrono::minutes(2));
  EXPECT_FALSE(ended(Ok()).error);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(ended(Ok()).error);
  EXPECT_TRUE(ended(Ok()).error) << "somebody undoes it";
  EXPECT_TRUE(certifier_.TroubleOf(clock_, "p").of_keeping);
  Certifier::Kept waits;
  waits.ended = away;
  waits.waits = waits.hands_over = true;
  for (int i = 0; i < 8; ++i) certifier_.Ended(ctx_, "q", waits);
  EXPECT_EQ(certifier_.TroubleOf(clock_, "q").wait, Seconds(30)) << "cert-manager may be there any moment";
  EXPECT_FALSE(certifier_.TroubleOf(clock_, "q").of_keeping);
  Certifier::Kept failed;
  failed.ended = away;
  for (Seconds wait : {Seconds(10), Seconds(20), Seconds(40)}) {
    certifier_.Ended(ctx_, "q", failed);
    EXPECT_EQ(certifier_.TroubleOf(clock_, "q").wait, wait) << "each in its turn, and later and later";
    certifier_.Ended(ctx_, "q", waits);
  }
}

}  // namespace
}  // namespace capi::ops
