// behaviour.md I19: what is asked for, and what is refused.
#include "lifecycle/certificates/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::certificates {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Algorithm = http::KeyKind::Algorithm;

kube::Object Made(std::string_view kind, Json spec, std::string_view name = "", std::string_view ns = "ns") {
  Json json = {{"apiVersion", "cert-manager.io/v1"}, {"kind", kind}, {"metadata", {{"name", name}}}};
  if (!ns.empty()) json["metadata"]["namespace"] = ns;
  json["spec"] = std::move(spec);
  return kube::Object(std::move(json));
}

kube::Object SelfSigned(std::string_view name = "self") {
  return Made("Issuer", {{"selfSigned", Json::object()}}, name);
}

// As the releases of providers write it.
Json Spec() {
  return {{"dnsNames", {"a.ns.svc", "a.ns.svc.cluster.local"}},
          {"issuerRef", {{"kind", "Issuer"}, {"name", "self"}}},
          {"secretName", "a-cert"}};
}

kube::Object Certificate(Json spec = Spec(), std::string_view name = "serving") {
  return Made("Certificate", std::move(spec), name);
}

kube::Object Crd(Json annotations) {
  Json json = {{"apiVersion", "apiextensions.k8s.io/v1"}, {"kind", "CustomResourceDefinition"}};
  json["metadata"] = {{"name", "things.x"}, {"annotations", std::move(annotations)}};
  return kube::Object(std::move(json));
}

Result<Requests> ReadAll(std::vector<kube::Object> objects) { return ReadRequests(objects); }

TEST(Requests, ReadsWhatProvidersAskFor) {
  auto read = ReadAll({Crd({{"cert-manager.io/inject-ca-from", "ns/serving"}}), Certificate(), SelfSigned()});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->certificates.size(), 1u);
  Request wanted;
  wanted.certificate = {"ns", "serving"};
  wanted.secret_name = "a-cert";
  wanted.dns_names = {"a.ns.svc", "a.ns.svc.cluster.local"};
  wanted.usages = {"digital signature", "key encipherment"};
  wanted.issuer = {"self", "Issuer", "cert-manager.io"};
  EXPECT_EQ(read->certificates[0], wanted);
  ASSERT_EQ(read->injections.size(), 1u);
  EXPECT_EQ(read->injections[0].target.name, "things.x");
  EXPECT_EQ(read->injections[0].secret, (Place{"ns", "a-cert"}));
}

TEST(Requests, ReadsEveryFieldThatIsCarriedOut) {
  Json spec = Spec();
  spec["ipAddresses"] = {"fd00:0:0::1"};
  spec["commonName"] = "a name";
  spec["subject"] = {{"organizations", {"k8s-sig-cluster-lifecycle"}}};
  spec["duration"] = "48h";
  spec["renewBefore"] = "10m";
  spec["isCA"] = true;
  spec["usages"] = {"server auth", "cert sign", "client auth"};
  spec["privateKey"] = {{"algorithm", "ECDSA"}, {"size", 384}, {"encoding", "PKCS8"}, {"rotationPolicy", "Never"}};
  spec["secretTemplate"] = {{"labels", {{"l", "1"}}}, {"annotations", {{"a", "2"}}}};
  auto read = ReadAll({SelfSigned(), Certificate(spec)});
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Request& request = read->certificates.at(0);
  EXPECT_THAT(request.ip_addresses, ElementsAre("fd00::1"));
  EXPECT_EQ(request.common_name, "a name");
  EXPECT_THAT(request.organizations, ElementsAre("k8s-sig-cluster-lifecycle"));
  EXPECT_EQ(request.duration, hours(48));
  EXPECT_EQ(request.renew_before, std::optional<Seconds>(600));
  EXPECT_TRUE(request.authority && request.keep_key);
  EXPECT_THAT(request.usages, ElementsAre("client auth", "server auth"));
  EXPECT_EQ(request.key, (http::KeyKind{Algorithm::kEcdsa, 384, true}));
  EXPECT_EQ(request.secret_labels.at("l"), "1");
  EXPECT_EQ(request.secret_annotations.at("a"), "2");
  // As it is kept with the Secret.
  auto kept = ParseRequest(ToText(request));
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(*kept, request);
}

TEST(Requests, KeepsThatACaDoesNothingElse) {  // I19
  Json spec = Spec();
  spec["isCA"] = true;
  spec["usages"] = {"cert sign"};
  auto read = ReadAll({SelfSigned(), Certificate(spec)});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->certificates.at(0).usages.empty());
  auto kept = ParseRequest(ToText(read->certificates.at(0)));
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(*kept, read->certificates.at(0));
  EXPECT_EQ(ToText(*kept), ToText(read->certificates.at(0)));
}

TEST(Requests, PutsWhoIssuesFirst) {
  Json ca = Spec(), leaf = Spec();
  ca["isCA"] = true;
  ca["secretName"] = "ca";
  leaf["issuerRef"]["name"] = "by-ca";
  auto read = ReadAll({Certificate(leaf), Certificate(ca, "root"), SelfSigned(),
                       Made("Issuer", {{"ca", {{"secretName", "ca"}}}}, "by-ca")});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->certificates.size(), 2u);
  EXPECT_EQ(read->certificates[0].certificate.name, "root");
  EXPECT_EQ(read->certificates[1].issuer_secret, "ca");
  auto kept = ParseRequest(ToText(read->certificates[1]));
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->issuer_secret, "ca");
}

TEST(Requests, AreServedAtEveryVersionThatCertManagerHad) {
  for (std::string_view version : {"v1", "v1beta1", "v1alpha3", "v1alpha2"}) {
    auto certificate = Certificate(), issuer = SelfSigned();
    certificate.json()["apiVersion"] = issuer.json()["apiVersion"] = "cert-manager.io/" + std::string(version);
    EXPECT_TRUE(ReadAll({certificate, issuer}).ok()) << version;
  }
  auto certificate = Certificate();
  certificate.json()["apiVersion"] = "cert-manager.io/v2";
  EXPECT_THAT(ReadAll({certificate}).error().message,
              HasSubstr("Certificate.cert-manager.io/ns/serving: apiVersion: \"cert-manager.io/v2\" isn't supported"));
}

TEST(Requests, AreRefusedByNameForWhatCantBeDone) {
  struct Case {
    std::string_view set;  // a JSON merge patch of the spec
    std::string_view refused;
  };
  const Case cases[] = {
      {R"({"secretName": null})", "spec.secretName: must be"},
      {R"({"secretName": 1})", "spec.secretName: must be a string"},
      {R"({"dnsNames": null})", "spec: must have dnsNames"},
      {R"({"dnsNames": ["*.ns.svc"]})", "spec.dnsNames[0]: must be a DNS name"},
      {R"({"dnsNames": ["a.b", "10.0.0.1"]})", "spec.dnsNames[1]: is an IP address"},
      {R"({"ipAddresses": ["a.b"]})", "spec.ipAddresses[0]: must be an IP address"},
      {R"({"ipAddresses": ["10.0.0.1", "999.1.1.1"]})", "spec.ipAddresses[1]: must be an IP address"},
      {R"({"ipAddresses": ["1.2.3"]})", "spec.ipAddresses[0]: must be an IP address"},
      {R"({"uris": ["spiffe://a"]})", "spec.uris: isn't supported without cert-manager"},
      {R"({"keystores": {}})", "spec.keystores: isn't supported"},
      {R"({"literalSubject": "CN=a"})", "spec.literalSubject: isn't supported"},
      {R"({"subject": {"countries": ["X"]}})", "spec.subject.countries: isn't supported"},
      {R"({"subject": {"organizations": [""]}})", "spec.subject.organizations[0]: must have"},
      {R"({"issuerRef": {"group": "other.io"}})", "spec.issuerRef.group: isn't supported"},
      {R"({"issuerRef": {"kind": "Other"}})", "spec.issuerRef.kind: must be"},
      {R"({"issuerRef": {"name": "gone"}})", "spec.issuerRef: the release has no Issuer \"gone\" in namespace ns"},
      {R"({"issuerRef": {"kind": "ClusterIssuer"}})", "spec.issuerRef: the release has no ClusterIssuer"},
      {R"({"privateKey": {"algorithm": "Ed25519"}})", "spec.privateKey.algorithm: must be RSA or ECDSA"},
      {R"({"privateKey": {"size": 1024}})", "spec.privateKey.size: must be between"},
      {R"({"privateKey": {"algorithm": "ECDSA", "size": 2048}})", "spec.privateKey.size: must be 256"},
      {R"({"privateKey": {"encoding": "DER"}})", "spec.privateKey.encoding: must be"},
      {R"({"privateKey": {"rotationPolicy": "Maybe"}})", "spec.privateKey.rotationPolicy: must be"},
      {R"({"duration": "59m"})", "spec.duration: must be"},
      {R"({"duration": "90d"})", "spec.duration: "},
      {R"({"renewBefore": "4m"})", "spec.renewBefore: must be"},
      {R"({"renewBefore": "2160h"})", "spec.renewBefore: must be"},
      {R"({"renewBeforePercentage": 100})", "spec.renewBeforePercentage: must be"},
      {R"({"renewBeforePercentage": 30, "renewBefore": "10m"})", "spec.renewBeforePercentage: can't be set"},
      {R"({"usages": ["ipsec user"]})", "spec.usages[0]: isn't supported"},
      {R"({"usages": ["cert sign"]})", "spec.usages[0]: \"cert sign\" needs isCA"},
      {R"({"secretTemplate": {"annotations": {"cert-manager.io/x": ""}}})",
       "spec.secretTemplate.annotations[cert-manager.io/x]: belongs"},
  };
  for (const Case& c : cases) {
    Json spec = Spec();
    spec.merge_patch(*ParseJson(c.set));
    auto read = ReadAll({SelfSigned(), Certificate(spec)});
    ASSERT_FALSE(read.ok()) << c.set;
    EXPECT_EQ(read.code(), Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("Certificate.cert-manager.io/ns/serving: " + std::string(c.refused)));
  }
}

TEST(Requests, RefusesIssuersOfOtherSorts) {
  const std::pair<kube::Object, std::string_view> cases[] = {
      {Made("Issuer", {{"acme", Json::object()}}, "self"),
       "Issuer.cert-manager.io/ns/self: spec.acme: isn't supported"},
      {Made("Issuer", {{"selfSigned", "yes"}}, "self"), "spec.selfSigned: must be an object"},
      {Made("Issuer", {{"selfSigned", nullptr}}, "self"), "spec: must have one of"},
      {Made("Issuer", Json::object(), "self"), "spec: must have one of selfSigned and ca"},
      {Made("Issuer", {{"selfSigned", {{"crlDistributionPoints", Json::array()}}}}, "self"),
       "spec.selfSigned.crlDistributionPoints: isn't"},
      {Made("ClusterIssuer", {{"ca", {{"secretName", "a"}}}}, "self", ""), "spec.ca: isn't supported"},
      {Made("Issuer", {{"ca", {{"secretName", "other"}}}}, "self"),
       "no Certificate of the release with isCA makes Secret ns/other"},
      {Made("Issuer", {{"ca", {{"secretName", "a-cert"}}}}, "self"), "no Certificate of the release with isCA"},
      {Made("CertificateRequest", Json::object(), "x"), "CertificateRequest.cert-manager.io/ns/x: kind: isn't"},
  };
  for (const auto& c : cases) {
    auto read = ReadAll({c.first, Certificate()});
    ASSERT_FALSE(read.ok()) << c.second;
    EXPECT_THAT(read.error().message, HasSubstr(std::string(c.second)));
  }
  Json ca = Spec();
  ca["isCA"] = true;
  EXPECT_THAT(ReadAll({Made("Issuer", {{"ca", {{"secretName", "a-cert"}}}}, "self"), Certificate(ca)}).error().message,
              HasSubstr("issue each other"));
}

TEST(Requests, RefusesTwoMakersOfASecret) {
  EXPECT_THAT(ReadAll({SelfSigned(), Certificate(), Certificate(Spec(), "other")}).error().message,
              HasSubstr("another Certificate makes Secret ns/a-cert"));
  kube::Object secret = Made("Secret", nullptr, "a-cert");
  secret.json()["apiVersion"] = "v1";
  EXPECT_THAT(ReadAll({SelfSigned(), Certificate(), secret}).error().message, HasSubstr("the release has a Secret"));
}

TEST(Requests, RefusesInjectionsOfWhatNobodyMakes) {
  const std::pair<Json, std::string_view> cases[] = {
      // As infrastructure-tinkerbell v0.7.0 has it.
      {{{"cert-manager.io/inject-ca-from", "$(CERTIFICATE_NAMESPACE)/$(CERTIFICATE_NAME)"}},
       "CustomResourceDefinition.apiextensions.k8s.io/things.x: metadata.annotations[cert-manager.io/inject-ca-from]: "
       "must be a namespace and a name"},
      {{{"cert-manager.io/inject-ca-from", "serving"}}, "must be a namespace and a name"},
      {{{"cert-manager.io/inject-ca-from", "ns/other"}}, "no Certificate of the release is ns/other"},
      {{{"cert-manager.io/inject-ca-from-secret", "ns/other"}}, "makes Secret ns/other"},
      {{{"cert-manager.io/inject-ca-from-secret", "ns/a-cert"}}, "doesn't allow it"},
      {{{"cert-manager.io/inject-apiserver-ca", "true"}}, "inject-apiserver-ca]: isn't supported"},
      {{{"cert-manager.io/inject-ca-from", "ns/serving"}, {"cert-manager.io/inject-ca-from-secret", "ns/a-cert"}},
       "can't be set beside inject-ca-from"},
  };
  for (const auto& c : cases) {
    auto read = ReadAll({SelfSigned(), Certificate(), Crd(c.first)});
    ASSERT_FALSE(read.ok()) << c.second;
    EXPECT_THAT(read.error().message, HasSubstr(std::string(c.second)));
  }
  Json spec = Spec();
  spec["secretTemplate"] = {{"annotations", {{"cert-manager.io/allow-direct-injection", "true"}}}};
  EXPECT_TRUE(
      ReadAll({SelfSigned(), Certificate(spec), Crd({{"cert-manager.io/inject-ca-from-secret", "ns/a-cert"}})}).ok());
}

TEST(Requests, RefusesAnIngressThatCertManagerMakesACertificateFor) {
  kube::Object ingress = Made("Ingress", Json::object(), "i");
  ingress.json()["apiVersion"] = "networking.k8s.io/v1";
  EXPECT_TRUE(ReadAll({ingress}).ok());
  ingress.set_annotation("cert-manager.io/issuer", "self");
  EXPECT_THAT(ReadAll({ingress}).error().message, HasSubstr("metadata.annotations[cert-manager.io/issuer]: isn't"));
}

TEST(Requests, KeptAsTextAreReadStrictly) {
  for (std::string_view bad : {"", "{}", "[]", R"({"namespace":"ns","name":"a","spec":{"secretName":"a"}})"}) {
    EXPECT_FALSE(ParseRequest(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace capi::certificates
