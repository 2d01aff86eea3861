// behaviour.md I19: what the Secret of a Certificate is to hold, with a clock that is passed in.
#include "lifecycle/certificates/issue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lifecycle/certificates/issue_testing.h"

namespace capi::certificates {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

TEST(Certificates, AreIssuedWithTheKeysThatCertManagerWrites) {
  World world;
  EXPECT_EQ(world.Look().step, Step::kIssue);
  world.Do(Step::kIssue);
  EXPECT_THAT(world.secret->data, UnorderedElementsAre(Key("tls.crt"), Key("tls.key"), Key("ca.crt")));
  EXPECT_EQ(world.At("tls.crt"), world.At("ca.crt"));
  EXPECT_TRUE(http::CheckKey({world.At("tls.crt"), world.At("tls.key")}).ok());
  EXPECT_TRUE(world.Trusts(world.At("ca.crt")));
  auto decision = world.Look();
  EXPECT_EQ(decision.step, Step::kKeep);
  EXPECT_EQ(EndOf(world.secret->data), kStart + 90 * kDay);
  // A third of its life before its end, with the minutes that clocks may differ by.
  EXPECT_EQ(decision.look_again, kStart + 60 * kDay - Seconds(100));
  EXPECT_EQ(SecretLabels(world.request).at("controller.cert-manager.io/fao"), "true");
  EXPECT_EQ(world.secret->annotations.at("cert-manager.io/alt-names"), "a.ns.svc,a.ns.svc.cluster.local");
  EXPECT_EQ(world.secret->annotations.at("cert-manager.io/certificate-name"), "serving");
  EXPECT_EQ(world.secret->annotations.at("cert-manager.io/issuer-kind"), "Issuer");
  EXPECT_EQ(*ParseRequest(world.secret->annotations.at(kRequestAnnotation)), world.request);
}

// Each next one was due before it was trusted, and followed by another: none was ever served.
TEST(Certificates, AreServedThoughTheNextIsDueItself_I19) {
  Request request = Wanted();
  request.duration = std::chrono::hours(1);
  request.renew_before = request.duration - Seconds(10);
  World world = Issued(request);
  world.inputs.injected = {.targets = true, .since = kStart};
  world.inputs.now = kStart + Seconds(30);
  ASSERT_EQ(world.Look().step, Step::kTrustNext);
  world.Do(Step::kTrustNext);
  const std::string next = world.At("next.crt");
  world.inputs.injected.since = world.inputs.now;
  world.inputs.now += kBundleSettles;
  ASSERT_EQ(world.Look().step, Step::kServeNext);
  world.Do(Step::kServeNext);
  EXPECT_EQ(world.At("tls.crt"), next);
}

TEST(Certificates, AreRenewedWithBothTrustedAtEveryStep) {
  World world = Issued();
  const std::string first = world.At("tls.crt");
  world.inputs.injected = {.targets = true, .since = kStart};
  world.inputs.now = kStart + 61 * kDay;
  auto due = world.Look();
  ASSERT_EQ(due.step, Step::kTrustNext);
  EXPECT_THAT(due.why, HasSubstr("it ends at 2027-04-15"));
  world.Do(due.step);
  EXPECT_EQ(world.At("tls.crt"), first);
  EXPECT_EQ(world.Trusted(), 2u);
  EXPECT_TRUE(world.At("ca.crt").starts_with(first));

  world.inputs.injected.since = std::nullopt;  // the new ca.crt isn't everywhere
  EXPECT_EQ(world.Look().step, Step::kKeep);
  world.inputs.injected.since = world.inputs.now;
  EXPECT_EQ(world.Look().step, Step::kKeep);
  EXPECT_EQ(world.Look().look_again, world.inputs.now + kBundleSettles);
  const std::string injected = world.At("ca.crt");
  world.inputs.now += kBundleSettles;
  ASSERT_EQ(world.Look().step, Step::kServeNext);
  world.Do(Step::kServeNext);
  EXPECT_NE(world.At("tls.crt"), first);
  EXPECT_THAT(world.secret->data, UnorderedElementsAre(Key("tls.crt"), Key("tls.key"), Key("ca.crt")));
  // What was injected before, and what is to be now, trusts both.
  for (const std::string& bundle : {injected, world.At("ca.crt")}) {
    EXPECT_TRUE(world.Trusts(bundle));
    EXPECT_TRUE(http::VerifyServing(first, bundle, kHost, world.inputs.now).ok());
  }
  EXPECT_TRUE(world.At("ca.crt").starts_with(world.At("tls.crt")));

  auto kept = world.Look();
  EXPECT_EQ(kept.step, Step::kKeep);
  EXPECT_EQ(kept.look_again, kStart + 90 * kDay);  // the end of the former one
  world.inputs.now = kept.look_again;
  ASSERT_EQ(world.Look().step, Step::kTidyTrusted);
  world.Do(Step::kTidyTrusted);
  EXPECT_EQ(world.At("ca.crt"), world.At("tls.crt"));
  EXPECT_EQ(world.Look().step, Step::kKeep);
}

TEST(Certificates, WithoutWhatIsInjectedWaitForNobody) {
  World world = Issued();
  world.inputs.now = kStart + 61 * kDay;
  world.Do(world.Look().step);
  EXPECT_EQ(world.Look().step, Step::kServeNext);
}

TEST(Certificates, ThatEndBeforeTheNextIsTrustedAreFollowedAtOnce) {
  World world = Issued();
  world.inputs.injected.targets = true;
  world.inputs.now = kStart + 90 * kDay - Seconds(1);
  world.Do(Step::kTrustNext);
  EXPECT_EQ(world.Look().step, Step::kKeep);
  EXPECT_EQ(world.Look().look_again, kStart + 90 * kDay);
  world.inputs.now = kStart + 90 * kDay;
  EXPECT_EQ(world.Look().step, Step::kServeNext);
}

TEST(Certificates, OfCertManagerAreKeptWhileTheyCount) {
  World world = Issued();
  // It writes no request, and its clock may be ahead.
  world.secret->annotations.erase(kRequestAnnotation);
  world.inputs.now = kStart - Seconds(500);
  EXPECT_EQ(world.Look().step, Step::kKeep);
  world.inputs.now = kStart;
  world.secret->annotations.clear();  // nor need there be any
  EXPECT_EQ(world.Look().step, Step::kKeep);
  // A subject isn't compared, and names may stand there.
  world.request.organizations = {"others"};
  EXPECT_EQ(world.Look().step, Step::kKeep);
  world.request.common_name = kHost;
  EXPECT_EQ(world.Look().step, Step::kKeep);
}

TEST(Certificates, ThatAreNotWhatIsAskedForAreFollowed) {
  struct Case {
    std::string_view why;
    void (*change)(World&);
  };
  const Case cases[] = {
      {"other names", [](World& w) { w.request.dns_names.push_back("b.ns.svc"); }},
      {"other names", [](World& w) { w.request.ip_addresses = {"127.0.0.1"}; }},
      {"another algorithm or size", [](World& w) { w.request.key.bits = 384; }},
      {"another algorithm or size", [](World& w) { w.request.key = {}; }},
      {"may not issue others", [](World& w) { w.request.authority = true; }},
      {"may issue others",
       [](World& w) {
         w.request.authority = true;
         w.Do(Step::kIssue);
         w.request.authority = false;
       }},
      {"other usages", [](World& w) { w.request.usages.push_back("client auth"); }},
      {"other usages", [](World& w) { w.request.usages = {"digital signature"}; }},
      {"its subject", [](World& w) { w.request.organizations = {"an organization"}; }},
      {"its subject", [](World& w) { w.request.common_name = kHost; }},
      {"another issuer", [](World& w) { w.request.issuer.name = "other"; }},
      {"another issuer", [](World& w) { w.request.issuer.kind = "ClusterIssuer"; }},
      {"another Certificate", [](World& w) { w.request.certificate.name = "other"; }},
  };
  for (const Case& c : cases) {
    World world = Issued();
    c.change(world);
    EXPECT_EQ(world.Look().step, Step::kTrustNext) << c.why;
    EXPECT_THAT(world.Look().why, HasSubstr(std::string(c.why)));
  }
}

// What was written with the next one said that its issuer had issued what is served: the change was taken back.
TEST(Certificates, OfAnotherIssuerAreFollowedToTheEnd_I19) {
  World ca = Issued(TheAuthority()), world = Issued();
  world.inputs.injected = {.targets = true, .since = kStart};
  world.inputs.issuer = &ca.secret->data;
  world.request = OfAuthority();
  ASSERT_EQ(world.Look().step, Step::kTrustNext);
  world.Do(Step::kTrustNext);
  EXPECT_EQ(world.secret->annotations.at("cert-manager.io/issuer-name"), "self") << "of what is served";
  const std::string next = world.At("next.crt");
  EXPECT_EQ(world.Look().step, Step::kKeep);
  EXPECT_THAT(world.Look().why, HasSubstr("waits"));
  world.inputs.now += kBundleSettles;
  // Back to the former issuer meanwhile: a next one of the other isn't served for it.
  World back = world;
  back.request = Wanted();
  EXPECT_EQ(back.Look().step, Step::kTidyTrusted);
  back.request.issuer.name = "another";
  EXPECT_EQ(back.Look().step, Step::kTrustNext);
  ASSERT_EQ(world.Look().step, Step::kServeNext);
  world.Do(Step::kServeNext);
  EXPECT_EQ(world.At("tls.crt"), next);
  EXPECT_EQ(world.secret->annotations.at("cert-manager.io/issuer-name"), "by-ca");
  EXPECT_EQ(world.Look().step, Step::kKeep);
  world.request.certificate.name = "other";
  ASSERT_EQ(world.Look().step, Step::kRenew);
  world.Do(Step::kRenew);
  EXPECT_EQ(world.secret->annotations.at("cert-manager.io/certificate-name"), "other");
}

// One that is never as asked for would be followed by others for ever.
TEST(Certificates, AreWhatWasAskedForWhateverTheUsages_I19) {
  for (const char* usage :
       {"signing", "digital signature", "content commitment", "key encipherment", "key agreement", "data encipherment",
        "crl sign", "encipher only", "decipher only", "any", "server auth", "client auth", "code signing",
        "email protection", "s/mime", "timestamping", "ocsp signing"}) {
    for (bool authority : {false, true}) {
      Request request = Wanted();
      request.usages = {usage, "s/mime", "signing"};
      request.authority = authority;
      request.organizations = {"a, b", "\xc3\xa9"};
      request.common_name = "a name";
      World world = Issued(request);
      EXPECT_EQ(world.Look().step, Step::kKeep) << usage << ": " << world.Look().why;
      world.request.usages = {"any"};
      EXPECT_EQ(world.Look().step, Step::kTrustNext) << usage;
    }
  }
}

TEST(Certificates, ThatCantBeServedAreIssuedAtOnce) {
  struct Case {
    std::string_view why;
    void (*change)(World&);
  };
  const Case cases[] = {
      {"the Secret isn't there", [](World& w) { w.secret.reset(); }},
      {"no PEM certificate", [](World& w) { w.secret->data.erase("tls.crt"); }},
      {"private key", [](World& w) { w.secret->data["tls.key"] = "nonsense"; }},
      {"doesn't fit", [](World& w) { w.secret->data["tls.key"] = Issued().At("tls.key"); }},
      {"ended at", [](World& w) { w.inputs.now = kStart + 90 * kDay; }},
      {"counts from", [](World& w) { w.inputs.now = kStart - hours(1); }},
  };
  for (const Case& c : cases) {
    World world = Issued();
    c.change(world);
    auto decision = world.Look();
    EXPECT_EQ(decision.step, Step::kIssue) << c.why;
    EXPECT_THAT(decision.why, HasSubstr(std::string(c.why)));
  }
}

TEST(Certificates, OfALostSecretStayTrustedWhereTheyWere) {
  World world = Issued(), other = Issued();
  other.request.dns_names = {"other.svc"};
  other.Do(Step::kIssue);
  auto made = Make(Step::kIssue, world.request, std::nullopt, world.inputs, {world.At("ca.crt") + other.At("ca.crt")});
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(Includes(made->at("ca.crt"), world.At("ca.crt"), kStart));
  EXPECT_FALSE(Includes(made->at("ca.crt"), other.At("ca.crt"), kStart));
  EXPECT_TRUE(made->at("ca.crt").starts_with(made->at("tls.crt")));
}

TEST(Certificates, OfManyTheOldestStayTrusted) {
  World world = Issued();
  std::vector<std::string> by_age;
  std::string bundle;  // the newest first
  for (size_t i = 0; i < kMostTrusted + 2; ++i) {
    world.inputs.now += hours(1);
    auto made = Make(Step::kIssue, world.request, std::nullopt, world.inputs, {});
    ASSERT_TRUE(made.ok());
    by_age.push_back(made->at("ca.crt"));
    bundle = by_age.back() + bundle;
  }
  auto made = Make(Step::kIssue, world.request, std::nullopt, world.inputs, {bundle});
  ASSERT_TRUE(made.ok());
  std::string expected = made->at("tls.crt");
  for (size_t i = 0; i + 1 < kMostTrusted; ++i) expected += by_age[i];
  EXPECT_EQ(made->at("ca.crt"), expected);
}

TEST(Certificates, WhoseTrustIsLostGetItBack) {
  World world = Issued();
  const std::string own = world.At("ca.crt");
  for (const std::string& bad : {std::string(), std::string("nonsense"), Issued().At("ca.crt") + own}) {
    world.secret->data["ca.crt"] = bad;
    ASSERT_EQ(world.Look().step, Step::kTidyTrusted) << bad;
    world.Do(Step::kTidyTrusted);
    EXPECT_TRUE(world.At("ca.crt").starts_with(own));
    EXPECT_EQ(world.Look().step, Step::kKeep);
  }
}

TEST(Certificates, ForgetANextOneThatIsntWanted) {
  World world = Issued();
  const std::string before = world.At("ca.crt");
  world.inputs.now = kStart + 60 * kDay;
  world.Do(Step::kTrustNext);
  const std::string next = world.At("next.crt");
  // Asked for anew meanwhile: another next one takes its place.
  World changed = world;
  changed.request.dns_names = {"b.ns.svc"};
  ASSERT_EQ(changed.Look().step, Step::kTrustNext);
  changed.Do(Step::kTrustNext);
  EXPECT_NE(changed.At("next.crt"), next);
  EXPECT_FALSE(Includes(changed.At("ca.crt"), next, world.inputs.now));
  // cert-manager has renewed it meanwhile; here the clock goes back a little, or for so long that the next one doesn't
  // count yet.
  world.inputs.now = kStart + 60 * kDay - Seconds(200);
  EXPECT_EQ(world.Look().step, Step::kTidyTrusted);
  World early = world;
  early.inputs.now = kStart;
  ASSERT_EQ(early.Look().step, Step::kTidyTrusted);
  early.Do(Step::kTidyTrusted);
  EXPECT_EQ(early.At("ca.crt"), before);
  ASSERT_EQ(world.Look().step, Step::kTidyTrusted);
  world.Do(Step::kTidyTrusted);
  EXPECT_EQ(world.At("ca.crt"), before);
  EXPECT_FALSE(world.secret->data.contains("next.key"));
}

// Whatever somebody makes of ca.crt meanwhile: the next one was served though nobody trusted it.
TEST(Certificates, BeginTheirRenewalAnewWhereTrustWasLost_I19) {
  World due = Issued();
  due.inputs.injected = {.targets = true, .since = kStart};
  due.inputs.now = kStart + 61 * kDay;
  const std::string own = due.At("tls.crt");
  due.Do(Step::kTrustNext);
  const std::string next = due.At("next.crt"), other = Issued().At("ca.crt");
  EXPECT_TRUE(TrustsWhatIsServed(due.secret->data, due.inputs.now));
  due.inputs.now += kBundleSettles;
  EXPECT_EQ(due.Look().step, Step::kServeNext);
  for (const std::string& bad : {std::string(), other, own, next + other}) {
    World world = due;
    world.secret->data["ca.crt"] = bad;
    EXPECT_EQ(TrustsWhatIsServed(world.secret->data, world.inputs.now), bad == own) << bad;
    ASSERT_EQ(world.Look().step, Step::kTrustNext) << bad;
    world.Do(Step::kTrustNext);
    EXPECT_TRUE(world.At("ca.crt").starts_with(own)) << bad;
    EXPECT_TRUE(Includes(world.At("ca.crt"), world.At("next.crt"), world.inputs.now)) << bad;
    EXPECT_TRUE(TrustsWhatIsServed(world.secret->data, world.inputs.now)) << bad;
    world.inputs.injected.since = world.inputs.now;
    EXPECT_EQ(world.Look().step, Step::kKeep) << "it settles: " << bad;
  }
  EXPECT_FALSE(TrustsWhatIsServed({}, kStart));
}

TEST(Certificates, KeepTheirKeyWhereItIsToStay) {
  World world = Issued();
  const std::string key = world.At("tls.key");
  world.request.keep_key = true;
  world.inputs.now = kStart + 61 * kDay;
  world.Do(Step::kTrustNext);
  EXPECT_EQ(world.At("next.key"), key);
  world.request.key.bits = 384;
  EXPECT_EQ(world.Look().step, Step::kBlocked);
  EXPECT_THAT(world.Look().why, HasSubstr("rotationPolicy Never"));
  // That hid what somebody has made of ca.crt.
  world.secret->data["ca.crt"] = Issued().At("ca.crt");
  ASSERT_EQ(world.Look().step, Step::kTidyTrusted);
  world.Do(Step::kTidyTrusted);
  EXPECT_TRUE(TrustsWhatIsServed(world.secret->data, world.inputs.now));
  EXPECT_EQ(world.Look().step, Step::kBlocked);
}

TEST(Certificates, AreMadeForNoStepThatIsntDecided) {
  World world = Issued();
  for (Step step : {Step::kBlocked, Step::kServeNext}) {
    EXPECT_EQ(Make(step, world.request, world.secret, world.inputs, {}).code(), Code::kInvalidArgument);
  }
  for (Step step : {Step::kTrustNext, Step::kTidyTrusted}) {
    EXPECT_EQ(Make(step, world.request, std::nullopt, world.inputs, {}).code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(*Make(Step::kKeep, world.request, world.secret, world.inputs, {}), world.secret->data);
}

// cert-manager's pkg/util/pki/renewaltime.go.
TEST(RenewalTime, IsCertManagers) {
  const http::Validity validity{kStart, kStart + 90 * kDay};
  Request request = Wanted();
  EXPECT_EQ(RenewalTime(request, validity), kStart + 60 * kDay);
  request.renew_before = kDay;
  EXPECT_EQ(RenewalTime(request, validity), kStart + 89 * kDay);
  request.renew_before = 90 * kDay;  // no shorter than its life: as if it weren't there
  EXPECT_EQ(RenewalTime(request, validity), kStart + 60 * kDay);
  request.renew_before.reset();
  request.renew_before_percentage = 10;
  EXPECT_EQ(RenewalTime(request, validity), kStart + 81 * kDay);
}

}  // namespace
}  // namespace capi::certificates
