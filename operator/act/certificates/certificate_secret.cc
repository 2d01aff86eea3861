#include "operator/act/certificates/certificate_secret.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "api/kinds.h"
#include "api/types.h"
#include "base/encoding.h"
#include "base/http/certificate.h"
#include "base/strings.h"
#include "kube/meta/kind.h"

namespace capi::ops {
namespace {

constexpr const char* kCert = "tls.crt";
constexpr const char* kKey = "tls.key";
constexpr const char* kCa = "ca.crt";
constexpr size_t kHashLength = 16;
// Clocks of those who look at a new certificate may be behind.
constexpr Seconds kBackdated{300};
constexpr size_t kMostCas = 4;  // that are trusted besides the one that counts
constexpr Millis kUsualDuration = std::chrono::hours(24 * 90);

// What a Certificate asks for. A value.
struct Facts {
  std::string certificate, issuer;
  std::vector<std::string> hosts;
  Millis duration = kUsualDuration, renew_before{0};
};

Error NotMade(const kube::Object& object, const std::string& field, const std::string& why) {
  return Error{Code::kUnsupported,
               fmt::format("{}: {}: the operator doesn't make {}", object.id().ToString(), field, why), {}};
}

// Whatever isn't named would be left undone without a word.
Status HasNoOthers(const kube::Object& object, const Json& spec, const std::set<std::string>& known) {
  for (const auto& [name, value] : spec.items()) {
    if (!known.contains(name)) return NotMade(object, "spec." + name, "certificates with that");
  }
  return Ok();
}

Result<Json> SpecOf(const kube::Object& object) {
  const Json* spec = Find(object.json(), {"spec"});
  if (spec == nullptr || !spec->is_object()) return NotMade(object, "spec", "anything without it");
  return *spec;
}

Status CheckIssuer(const kube::Object& issuer) {
  const Json spec = TRY(SpecOf(issuer));
  TRY(HasNoOthers(issuer, spec, {"selfSigned"}));
  const Json* self_signed = Find(spec, {"selfSigned"});
  if (self_signed == nullptr || !self_signed->is_object() || !self_signed->empty()) {
    return NotMade(issuer, "spec", "certificates of another issuer than selfSigned: {}");
  }
  return Ok();
}

Result<Millis> DurationIn(const kube::Object& object, const Json& spec, const char* field, Millis otherwise) {
  if (!spec.contains(field)) return otherwise;
  auto parsed = api::ParseDuration(GetString(spec, {field}));
  if (!parsed.ok() || *parsed <= Millis(0)) return NotMade(object, std::string("spec.") + field, "such a duration");
  return *parsed;
}

// The spec in the form in which it is kept: canonical names, times in seconds.
Result<Json> FactsOf(const kube::Object& object, const std::set<std::string>& issuers) {
  const Json spec = TRY(SpecOf(object));
  TRY(HasNoOthers(object, spec, {"dnsNames", "ipAddresses", "duration", "issuerRef", "renewBefore", "secretName",
                                 "subject"}));
  const std::string issuer = GetString(spec, {"issuerRef", "name"}), kind = GetString(spec, {"issuerRef", "kind"});
  const bool is_of_release = (kind.empty() || kind == "Issuer") && issuers.contains(object.ns() + "/" + issuer);
  if (!is_of_release) return NotMade(object, "spec.issuerRef", "certificates of an issuer that the release doesn't have");
  if (GetString(spec, {"secretName"}).empty()) return NotMade(object, "spec.secretName", "certificates without one");
  Json hosts = Json::array();
  for (const char* field : {"dnsNames", "ipAddresses"}) {
    const Json* names = Find(spec, {field});
    if (names == nullptr) continue;
    for (const Json& name : *names) {
      auto host = http::CanonicalHost(name.is_string() ? name.get<std::string>() : "");
      if (!host.ok()) return NotMade(object, std::string("spec.") + field, "certificates for " + ToJsonText(name));
      hosts.push_back(*host);
    }
  }
  if (hosts.empty()) return NotMade(object, "spec.dnsNames", "certificates without a name");
  const Millis duration = TRY(DurationIn(object, spec, "duration", kUsualDuration));
  const Millis before = TRY(DurationIn(object, spec, "renewBefore", duration / 3));
  if (before >= duration) return NotMade(object, "spec.renewBefore", "certificates that are due at once");
  return Json{{"certificate", object.name()},
              {"issuer", issuer},
              {"hosts", std::move(hosts)},
              {"duration", std::chrono::duration_cast<Seconds>(duration).count()},
              {"renewBefore", std::chrono::duration_cast<Seconds>(before).count()}};
}

Result<Facts> ParseFacts(const std::string& text) {
  const Json json = TRY_WITH(ParseJson(text), fmt::format("annotation {}", api::kAnnotationCertificate));
  Facts facts;
  facts.certificate = GetString(json, {"certificate"});
  facts.issuer = GetString(json, {"issuer"});
  facts.duration = Seconds(GetInt(json, {"duration"}));
  facts.renew_before = Seconds(GetInt(json, {"renewBefore"}));
  const Json* hosts = Find(json, {"hosts"});
  if (hosts != nullptr && hosts->is_array()) {
    for (const Json& host : *hosts) {
      if (host.is_string()) facts.hosts.push_back(host.get<std::string>());
    }
  }
  if (facts.certificate.empty() || facts.hosts.empty() || facts.renew_before <= Millis(0) ||
      facts.duration <= facts.renew_before) {
    return Error{Code::kInvalidArgument, fmt::format("annotation {} doesn't say what to make: remove it, it comes back",
                                                     api::kAnnotationCertificate),
                 {}};
  }
  return facts;
}

std::string ValueOf(const CertificateData& data, const char* name) {
  auto found = data.find(name);
  return found == data.end() ? "" : found->second;
}

// Why it isn't what is asked for; "" where it is. Whoever issued it.
std::string Fault(const Facts& facts, const CertificateData& data, WallTime now) {
  const std::string cert = ValueOf(data, kCert), ca = ValueOf(data, kCa);
  if (cert.empty() && ca.empty()) return "there was none";
  if (!http::CheckKey({cert, ValueOf(data, kKey)}).ok()) return "its key was another's, or none";
  for (const std::string& host : facts.hosts) {
    if (!http::VerifyServing(cert, ca, host, now).ok()) return "it couldn't be verified for " + host;
  }
  auto read = http::ReadCertificate(cert);
  if (!read.ok()) return "it couldn't be read";
  if (read->validity.not_after - facts.renew_before <= now) return "its time has come";
  return "";
}

// Those of a PEM text that somebody may still verify by, but for the first `known`.
std::string StillTrusted(const std::string& pem, WallTime now) {
  auto all = http::SplitCertificates(pem);
  if (!all.ok()) return "";
  std::string out;
  size_t count = 0;
  for (const std::string& one : *all) {
    auto read = http::ReadCertificate(one);
    if (read.ok() && read->validity.not_after > now && count++ < kMostCas) out += one;
  }
  return out;
}

// A CA that issues this one certificate, and whose key nobody keeps.
Result<CertificateData> Issue(const Facts& facts, const CertificateData& before, WallTime now) {
  const http::Validity validity{now - kBackdated, now + facts.duration};
  auto authority = TRY(http::MakeAuthority(facts.certificate, validity));
  auto serving = TRY(http::IssueServing(authority, facts.hosts, validity));
  return CertificateData{{kCert, serving.cert_pem},
                         {kKey, serving.key_pem},
                         {kCa, authority.cert_pem + StillTrusted(ValueOf(before, kCa), now)}};
}

// By these cert-manager sees that the Secret is what its Certificate asks for.
std::map<std::string, std::string> ForCertManager(const Facts& facts) {
  return {{"cert-manager.io/certificate-name", facts.certificate},
          {"cert-manager.io/issuer-name", facts.issuer},
          {"cert-manager.io/issuer-kind", "Issuer"},
          {"cert-manager.io/issuer-group", "cert-manager.io"}};
}

kube::Object SecretFor(const kube::Object& certificate, const Json& facts) {
  Json metadata = {{"name", GetString(certificate.json(), {"spec", "secretName"})}, {"namespace", certificate.ns()}};
  if (const Json* labels = Find(certificate.json(), {"metadata", "labels"})) metadata["labels"] = *labels;
  metadata["annotations"][std::string(api::kAnnotationCertificate)] = ToJsonText(facts);
  return kube::Object(Json{{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", std::move(metadata)}});
}

bool IsOfCertManager(const kube::Object& object) { return object.id().group == "cert-manager.io"; }

}  // namespace

void CertificateSecret::Wanted(kube::Object manifest) {
  facts_ = manifest.annotation(api::kAnnotationCertificate);
  ns_ = manifest.ns();
  name_ = manifest.name();
  if (const Json* labels = Find(manifest.json(), {"metadata", "labels"})) labels_ = *labels;
}

void CertificateSecret::Live(kube::Object live) {
  exists_ = true;
  ns_ = live.ns();
  name_ = live.name();
  state_ = live.annotation(api::kAnnotationCertificateState);
  held_ = MarksIn(live).held;
  if (facts_.empty()) facts_ = live.annotation(api::kAnnotationCertificate);
  const Json* values = Find(live.json(), {"data"});
  if (values == nullptr || !values->is_object()) return;
  for (const char* name : {kCert, kKey, kCa}) {
    auto value = Base64Decode(GetString(*values, {name}));
    if (value.ok() && !value->empty()) data_[name] = *std::move(value);
  }
}

std::string CertificateSecret::Name() const {
  auto facts = ParseFacts(facts_);
  return facts.ok() ? ns_ + "/" + facts->certificate : "";
}

std::string CertificateSecret::Bundle() const { return ValueOf(data_, kCa); }

std::string CertificateSecret::BundleHash() const { return Sha256Hex(Bundle()).substr(0, kHashLength); }

Result<CertificateSecret::Change> CertificateSecret::Next(const All&, WallTime now) {
  const Facts facts = TRY(ParseFacts(facts_));
  const std::string fault = Fault(facts, data_, now);
  Change change;
  change.what = fmt::format("Secret {}/{}: took over the certificate that was there", ns_, name_);
  if (!fault.empty()) {
    data_ = TRY(Issue(facts, data_, now));
    change.new_ca = exists_;
    change.what = fmt::format("Secret {}/{}: a new certificate was issued: {}", ns_, name_, fault);
  }
  auto read = TRY(http::ReadCertificate(ValueOf(data_, kCert)));
  const std::string state = StateText(
      {facts.certificate, BundleHash(), read.validity.not_after - facts.renew_before, read.validity.not_after});
  annotations_ = ForCertManager(facts);
  annotations_[std::string(api::kAnnotationCertificateState)] = state;
  // What is right is written as it is, where it isn't ours yet.
  change.writes = !fault.empty() || state != state_ || held_ < kCertificateKeys;
  return change;
}

kube::Object CertificateSecret::ToApply() const {
  Json values = Json::object();
  for (const auto& [name, value] : data_) values[name] = Base64Encode(value);
  return kube::Object(
      Json{{"apiVersion", "v1"},
           {"kind", "Secret"},
           {"metadata", {{"name", name_}, {"namespace", ns_}, {"labels", labels_}, {"annotations", annotations_}}},
           {"type", "kubernetes.io/tls"},
           {"data", std::move(values)}});
}

// A CA comes before what it issues. There are none yet that issue for others.
std::vector<kube::ObjectId> InOrder(const CertificateSecret::All& all) {
  std::vector<kube::ObjectId> ids;
  for (const auto& [id, secret] : all) ids.push_back(id);
  return ids;
}

Status SecretsForCertificates(std::vector<kube::Object>& objects) {
  std::set<std::string> issuers;
  for (const kube::Object& object : objects) {
    if (!IsOfCertManager(object) || object.kind() == "Certificate") continue;
    if (object.kind() != "Issuer") return NotMade(object, "kind", "what it asks for");
    TRY(CheckIssuer(object));
    issuers.insert(object.ns() + "/" + object.name());
  }
  std::vector<kube::Object> out;
  for (kube::Object& object : objects) {
    if (!IsOfCertManager(object)) {
      out.push_back(std::move(object));
    } else if (object.kind() == "Certificate") {
      const Json facts = TRY(FactsOf(object, issuers));
      out.push_back(SecretFor(object, facts));
    }
  }
  objects = std::move(out);
  return Ok();
}

}  // namespace capi::ops
