// I19: which certificates are due, and what holds their renewal.
#include "operator/decide/certificates/due.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/certificates/names.h"
#include "api/reasons.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Observed;
using testing::StepName;

const kube::ObjectId kSecret{"", "Secret", "aws-system", "webhook-cert"};
const kube::ObjectId kWebhooks{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "capa"};
const kube::ObjectId kCrd{"apiextensions.k8s.io", "CustomResourceDefinition", "", "awsclusters.x"};
const kube::ObjectId kRequest{"cert-manager.io", "Certificate", "aws-system", "serving"};

// A provider with one certificate, which two webhooks and a CRD trust. Everything is applied, and nothing is due.
Observation Kept() {
  Observation o = Observed();
  o.builtin_certificates = true;
  o.provider.status.applied = InputsDigest(o);
  o.fleet.certificates = {{kSecret, {"serving", "ca1", o.now + Seconds(100), o.now + Seconds(200)}, 3}};
  o.fleet.bundles = {{kWebhooks, "aws-system/serving", "ca1/2", 2}, {kCrd, "aws-system/serving", "ca1/1", 1}};
  return o;
}

std::vector<kube::ObjectId> Due(const Observation& o) {
  Step step = Decide(o);
  const auto* certify = std::get_if<Certify>(&step);
  return certify == nullptr ? std::vector<kube::ObjectId>() : certify->due;
}

TEST(Certificates, AreDueForWhatIsNotAsItIsToBe) {  // I19
  struct Case {
    std::string name;
    void (*change)(Observation&);
    std::vector<kube::ObjectId> due;
  };
  const Case cases[] = {
      {"nothing", [](Observation&) {}, {}},
      {"its time has come", [](Observation& o) { o.now += Seconds(100); }, {kSecret}},
      {"it has ended, whatever was written into its state",
       [](Observation& o) { o.now += Seconds(200), o.fleet.certificates[0].state.renew += Seconds(1000); },
       {kSecret}},
      {"not a moment before", [](Observation& o) { o.now += Seconds(99); }, {}},
      {"a value was changed, or taken away", [](Observation& o) { o.fleet.certificates[0].held = 2; }, {kSecret}},
      {"another CA", [](Observation& o) { o.fleet.certificates[0].state.bundle = "ca2"; }, {kWebhooks, kCrd}},
      {"a bundle was changed", [](Observation& o) { o.fleet.bundles[0].held = 1; }, {kWebhooks}},
      {"a bundle was never there",
       [](Observation& o) { o.fleet.bundles[1].mark = "", o.fleet.bundles[1].held = 0; },
       {kCrd}},
      {"a webhook came that nobody has filled in", [](Observation& o) { o.fleet.bundles[0].came = true; }, {kWebhooks}},
      {"some are somebody else's", [](Observation& o) { o.fleet.bundles[0].mark = "ca1/2/a.x,b.x"; }, {}},
      {"it calls nobody", [](Observation& o) { o.fleet.bundles[1].mark = "ca1/0", o.fleet.bundles[1].held = 0; }, {}},
      {"somebody else's CA",
       [](Observation& o) {
         o.fleet.bundles[1] = {kCrd, "other/serving", "", 0};
       },
       {}},
      {"a time that can't be read",
       [](Observation& o) { o.fleet.certificates[0].state.renew = WallTime(); },
       {kSecret}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Kept();
    c.change(o);
    EXPECT_EQ(Due(o), c.due);
  }
}

// Nothing but a pause holds a renewal, and what the provider doesn't own.
TEST(Certificates, AreRenewedWhateverHoldsAnInstallation) {  // I19
  struct Case {
    std::string name;
    void (*change)(Observation&);
    std::string step;
  };
  const Case cases[] = {
      {"ready", [](Observation&) {}, "Certify"},
      {"no core", [](Observation& o) { o.core = nullptr; }, "Certify"},
      {"another version is to be installed", [](Observation& o) { o.provider.spec.version = "v1.13.0"; }, "Certify"},
      {"its release is lost", [](Observation& o) { o.releases.clear(); }, "Certify"},
      {"a rollout that failed",
       [](Observation& o) {
         o.provider.status.history.emplace_back();
         o.provider.status.history[0].outcome = api::outcome::kFailed;
         o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kFailed)};
       },
       "Certify"},
      {"cert-manager is to make them, and hasn't taken over", [](Observation& o) { o.builtin_certificates = false; },
       "Certify"},
      {"it comes back from a pause",
       [](Observation& o) {
         o.provider.status.conditions = {{.type = "Paused", .status = "True", .reason = "Paused"}};
       },
       "Certify"},
      {"deleted, but needed", [](Observation& o) { o.provider.deleting = true, o.users = {"AWSMachine default/a"}; },
       "Certify"},
      {"being removed",
       [](Observation& o) {
         o.provider.deleting = true;
         o.provider.status.conditions = {{.type = "Ready", .status = "False", .reason = "Deleting"}};
       },
       "Remove"},
      {"hands off", [](Observation& o) { o.provider.annotations["cluster.x-k8s.io/paused"] = ""; }, "HandsOff"},
      {"paused", [](Observation& o) { o.provider.spec.paused = true; }, "Steady"},
      {"its namespace is going", [](Observation& o) { o.namespace_going = true; }, "Hold"},
      {"another tool's still",
       [](Observation& o) {
         o.former = FormerInstall{"clusterctl", "aws-system", "v1.12.0"};
       },
       "Adopt"},
      {"it failed just now",
       [](Observation& o) {
         o.certificate_trouble = {Error{Code::kUnavailable, "away", {}}, Seconds(1)};
       },
       "Hold"},
      {"it failed, and its time has come",
       [](Observation& o) {
         o.certificate_trouble = {Error{Code::kUnavailable, "away", {}}, Millis(0)};
       },
       "Certify"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Kept();
    o.now += Seconds(150);
    c.change(o);
    EXPECT_EQ(StepName(Decide(o)), c.step);
  }
}

TEST(Certificates, AFailureIsToldAndHoldsNothingUp) {  // I19
  Observation o = Kept();
  o.now += Seconds(150);
  o.certificate_trouble = {Error{Code::kPermissionDenied, "Secret: forbidden", {}}, Seconds(20)};
  const Hold hold = std::get<Hold>(Decide(o));
  EXPECT_EQ(hold.reason, api::reason::kCertificateNotKept);
  EXPECT_EQ(hold.condition, "Ready");
  EXPECT_EQ(hold.message, "Secret: forbidden");
  EXPECT_EQ(hold.after, Seconds(20));
  o.provider.status.applied = "";
  EXPECT_EQ(StepName(Decide(o)), "Install");
}

TEST(Certificates, GoOverToWhoIsToMakeThem) {  // I19
  Observation o = Kept();
  EXPECT_FALSE(ToHandOver(o));
  EXPECT_EQ(StepName(Decide(o)), "Steady");
  o.builtin_certificates = false;
  EXPECT_EQ(StepName(Decide(o)), "HandOver");
  o.core = nullptr;
  EXPECT_EQ(StepName(Decide(o)), "HandOver") << "whatever holds an installation";
  o.provider.spec.paused = true;
  EXPECT_EQ(StepName(Decide(o)), "Hold");
  o.provider.spec.paused = false;
  o.provider.status.history.emplace_back();
  o.provider.status.history[0].outcome = api::outcome::kRollingOut;
  o.provider.status.history[0].inputs = "new";
  EXPECT_NE(StepName(Decide(o)), "HandOver") << "the former version isn't all of what is applied";
  o.provider.status.history[0].inputs = o.provider.status.applied;
  EXPECT_EQ(StepName(Decide(o)), "HandOver");
  o.provider.status.history.clear();
  o.fleet.certificates.clear();
  EXPECT_EQ(StepName(Decide(o)), "HandOver") << "the Secret was lost, and what trusted it is there";
  o = Kept();
  o.fleet.certificates.clear();
  o.inventory.Put(kRequest, {"v1", "hash", "fields", false});
  EXPECT_EQ(StepName(Decide(o)), "HandOver");
  o.spec_digest = "another";
  EXPECT_EQ(StepName(Decide(o)), "Install") << "what was applied can't be rendered again: the change does it";
  o.builtin_certificates = false;
  o.provider.status.applied = InputsDigest(o);
  EXPECT_EQ(StepName(Decide(o)), "HandOver") << "what trusted them wasn't let go";
  for (BundleSeen& target : o.fleet.bundles) target.mark = "", target.held = 0;
  EXPECT_EQ(StepName(Decide(o)), "Steady") << "they are cert-manager's, and stay so";
  EXPECT_TRUE(IsCertificateRequest({"cert-manager.io", "ClusterIssuer", "", "i"}));
}

TEST(Certificates, GoOverOnceTheNextOneIsServed) {  // I19
  Observation o = Kept();
  o.builtin_certificates = false;
  o.fleet.certificates[0].next = true;
  EXPECT_EQ(StepName(Decide(o)), "Steady");
  o.certificate_trouble.error = Error{Code::kUnavailable, "away", {}};
  EXPECT_EQ(StepName(Decide(o)), "HandOver") << "it may never be";
  o.certificate_trouble.of_keeping = false;
  EXPECT_NE(StepName(Decide(o)), "HandOver") << "cert-manager isn't there: the next one is served meanwhile";
  o = Kept();
  o.fleet.bundles.clear();
  o.builtin_certificates = false;
  o.inventory.Put(kSecret, {"v1", "hash", "fields", true});
  EXPECT_FALSE(ToHandOver(o)) << "it goes with the rollout";
}

// What can't be kept is due for ever, and was tried for ever before it went over.
TEST(Certificates, ThatCantBeKeptGoOver) {  // I19
  Observation o = Kept();
  o.now += Seconds(150);
  o.builtin_certificates = false;
  EXPECT_EQ(StepName(Decide(o)), "Certify");
  o.certificate_trouble = {Error{Code::kPermissionDenied, "Secret: forbidden", {}}, Millis(0)};
  EXPECT_EQ(StepName(Decide(o)), "HandOver");
  o.certificate_trouble.of_keeping = false;
  EXPECT_EQ(StepName(Decide(o)), "Certify") << "cert-manager isn't there, and a renewal may go well by now";
  o.certificate_trouble.wait = Seconds(1);
  EXPECT_EQ(StepName(Decide(o)), "Hold");
  o.certificate_trouble = {Error{Code::kPermissionDenied, "Secret: forbidden", {}}, Millis(0)};
  o.provider.deleting = true;
  o.users = {"AWSMachine default/a"};
  EXPECT_EQ(StepName(Decide(o)), "Certify") << "nothing goes over that is to go";
  o = Kept();
  o.now += Seconds(150);
  o.certificate_trouble.error = Error{Code::kPermissionDenied, "Secret: forbidden", {}};
  EXPECT_EQ(StepName(Decide(o)), "Certify") << "nobody else is to make them";
}

TEST(Certificates, AreSeenOnWhatTheInventoryHas) {  // I19
  Fleet fleet;
  const CertificateState state{"serving", "ca1", WallTime(Seconds(1'800'000'000)), WallTime(Seconds(1'900'000'000))};
  SeeCertificates(kSecret, {.state = StateText(state), .held = 3}, fleet);
  SeeCertificates(kSecret, {.state = "broken"}, fleet);
  SeeCertificates(kWebhooks, {.ca_from = "aws-system/serving", .bundle = "ca1/2", .held = 2}, fleet);
  SeeCertificates(kCrd, {}, fleet);
  ASSERT_EQ(fleet.certificates.size(), 1u);
  EXPECT_EQ(fleet.certificates[0].state.certificate, "serving");
  EXPECT_EQ(fleet.certificates[0].state.bundle, "ca1");
  EXPECT_EQ(fleet.certificates[0].state.renew, state.renew);
  EXPECT_EQ(fleet.certificates[0].state.ends, state.ends);
  ASSERT_EQ(fleet.bundles.size(), 1u);
  EXPECT_THAT(DueCertificates(fleet, state.renew - Seconds(1)), IsEmpty());
  EXPECT_THAT(DueCertificates(fleet, state.renew), ElementsAre(kSecret));
  EXPECT_EQ(NextCertificate(fleet, state.renew - Seconds(60)), Seconds(60));
  EXPECT_EQ(NextCertificate(fleet, state.renew + Seconds(60)), Millis(0));
  EXPECT_EQ(NextCertificate({}, state.renew), std::nullopt);
}

// With cert-manager alone nothing of a provider was ever made here: its annotations are there all the same.
TEST(Certificates, OfCertManagerAreNotTheOperators) {  // I19
  Observation o = Kept();
  o.builtin_certificates = false;
  EXPECT_TRUE(ToHandOver(o));
  o.fleet.certificates.clear();
  EXPECT_TRUE(ToHandOver(o)) << "what trusted them says so";
  for (BundleSeen& target : o.fleet.bundles) target.mark = "", target.held = 0;
  EXPECT_FALSE(ToHandOver(o));
  o.inventory.Put(kRequest, {"v1", "hash", "fields", false});
  EXPECT_FALSE(ToHandOver(o));
  EXPECT_EQ(StepName(Decide(o)), "Steady");
}

// What a watch keeps of an object, and which values are still ours.
TEST(CertificateMarks, SurviveAWatch) {  // I19
  auto object = [](const std::string& manager, const std::string& fields) {
    return kube::Object(*ParseJson(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","annotations":{
        "operator.cluster.x-k8s.io/certificate-state":"x","cert-manager.io/inject-ca-from":"a/b",
        "operator.cluster.x-k8s.io/ca-bundle":"h/1/b.x,c.x"},"managedFields":[{"manager":"capi-operator","operation":"Apply",
        "fieldsV1":{"f:data":{"f:tls.crt":{}}}},{"manager":")" +
                                   manager + R"(","operation":"Apply","fieldsV1":)" + fields + "}]}}"));
  };
  struct Case {
    std::string manager, fields;
    int held;
    bool next = false, came = false;
  };
  const std::string ours(api::kCertificateManager);
  const Case cases[] = {
      {ours, R"({"f:data":{"f:ca.crt":{},"f:tls.crt":{},"f:tls.key":{}},"f:type":{}})", 3},
      {ours, R"({"f:data":{"f:tls.crt":{},"f:tls.key":{}}})", 2},
      {"kubectl", R"({"f:data":{"f:ca.crt":{},"f:tls.crt":{},"f:tls.key":{}}})", 0},
      {ours, R"({"f:spec":{"f:conversion":{"f:webhook":{"f:clientConfig":{"f:caBundle":{}}}}}})", 1},
      {ours,
       R"({"f:webhooks":{"k:{\"name\":\"a\"}":{"f:clientConfig":{"f:caBundle":{}}},
           "k:{\"name\":\"b\"}":{"f:clientConfig":{"f:caBundle":{}}}}})",
       2},
      {ours, R"({"f:data":{"f:ca.crt":{},"f:tls.crt":{},"f:tls.key":{},"f:next.crt":{},"f:next.key":{}}})", 3, true},
      {ours, R"({"f:data":{"f:ca.crt":{},"f:tls.crt":{},"f:next.crt":{},"f:next.key":{}}})", 2, true},
      {ours,
       R"({"f:webhooks":{"k:{\"name\":\"a\"}":{"f:clientConfig":{"f:caBundle":{}}},"k:{\"name\":\"b\"}":{},
           "k:{\"name\":\"c\"}":{}}})",
       1, false, true},
      {ours,
       R"({"f:webhooks":{"k:{\"name\":\"a\"}":{"f:clientConfig":{"f:caBundle":{}}},"k:{\"name\":\"b.x\"}":{},
           "k:{\"name\":\"c.x\"}":{}}})",
       1},
      // As many as before, and not the same.
      {ours,
       R"({"f:webhooks":{"k:{\"name\":\"a\"}":{"f:clientConfig":{"f:caBundle":{}}},"k:{\"name\":\"b.x\"}":{},
           "k:{\"name\":\"d\"}":{}}})",
       1, false, true},
      {ours, R"({"f:spec":{"f:caBundle":{}}})", 1},
      {"kubectl", R"({"f:spec":{"f:caBundle":{},"f:service":{}}})", 0, false, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.manager + c.fields);
    kube::Object slim = object(c.manager, c.fields);
    SlimToTrace(slim);
    EXPECT_EQ(TraceOf(slim).marks, (CertificateMarks{"x", "a/b", "h/1/b.x,c.x", c.held, c.next, c.came}));
  }
  kube::Object lost(*ParseJson(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n",
      "annotations":{"operator.cluster.x-k8s.io/certificate-request":"{}","cert-manager.io/certificate-name":"c"}}})"));
  SlimToTrace(lost);
  Fleet fleet;
  SeeCertificates({"", "Secret", "n", "s"}, TraceOf(lost).marks, fleet);
  EXPECT_EQ(DueCertificates(fleet, WallTime(Seconds(1))).size(), 1u) << "its state is lost, and mended at once";
  kube::Object none(*ParseJson(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}})"));
  SlimToTrace(none);
  EXPECT_EQ(TraceOf(none).marks, CertificateMarks{});
}

}  // namespace
}  // namespace capi::ops
