#include "lifecycle/certificates/read_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "api/field_reader.h"
#include "api/types.h"
#include "base/strings.h"
#include "lifecycle/certificates/usages.h"

namespace capi::certificates {
namespace {

using api::FieldReader;
using Algorithm = http::KeyKind::Algorithm;
using std::chrono::hours;
using std::chrono::minutes;

// cert-manager's pkg/apis/certmanager/v1/const.go.
constexpr Seconds kLeastDuration = hours(1), kLeastRenewBefore = minutes(5);
// Nobody renews what ends after his time, and no clock overflows.
constexpr Seconds kMostDuration = hours(24 * 366 * 100);
constexpr size_t kMostHosts = 100;
constexpr size_t kLongestCommonName = 64;
constexpr const char* kGroup = "cert-manager.io";
constexpr const char* kDefaultUsages[] = {"digital signature", "key encipherment"};

struct Reading {
  std::optional<Error> error;

  // Members other than these, and null ones, are refused.
  void Only(const Json* value, const std::string& path, std::initializer_list<std::string_view> known) {
    if (value == nullptr || !value->is_object()) return;
    for (const auto& [key, member] : value->items()) {
      if (member.is_null() || std::find(known.begin(), known.end(), key) != known.end()) continue;
      Fail(path + "." + key, kUnsupported);
    }
  }
  void Fail(const std::string& path, std::string_view problem) {
    if (!error) error = Error{Code::kInvalidArgument, fmt::format("{}: {}", path, problem), {}};
  }
};

void ReadIssuerRef(const FieldReader& spec, const Json& json, Reading& reading, IssuerRef& out) {
  reading.Only(Find(json, {"spec", "issuerRef"}), "spec.issuerRef", {"name", "kind", "group"});
  spec.Object("issuerRef", [&](const FieldReader& ref) {
    ref.Read("name", out.name);
    ref.Read("kind", out.kind);
    ref.Read("group", out.group);
  });
  if (out.kind.empty()) out.kind = "Issuer";
  if (out.group.empty()) out.group = kGroup;
  if (out.name.empty()) reading.Fail("spec.issuerRef.name", "must be set");
  if (out.group != kGroup) reading.Fail("spec.issuerRef.group", kUnsupported);
  if (out.kind != "Issuer" && out.kind != "ClusterIssuer") {
    reading.Fail("spec.issuerRef.kind", "must be Issuer or ClusterIssuer");
  }
}

void ReadAlgorithm(const std::string& algorithm, Reading& reading, http::KeyKind& out) {
  if (algorithm == "ECDSA") {
    out.algorithm = Algorithm::kEcdsa;
    out.bits = 256;
  } else if (!algorithm.empty() && algorithm != "RSA") {
    reading.Fail("spec.privateKey.algorithm", "must be RSA or ECDSA; another " + std::string(kUnsupported));
  }
}

void CheckBits(const http::KeyKind& key, Reading& reading) {
  constexpr const char* kPath = "spec.privateKey.size";
  if (key.algorithm == Algorithm::kRsa) {
    if (key.bits < 2048 || key.bits > 8192) reading.Fail(kPath, "must be between 2048 and 8192 for RSA");
  } else if (key.bits != 256 && key.bits != 384 && key.bits != 521) {
    reading.Fail(kPath, "must be 256, 384 or 521 for ECDSA");
  }
}

void ReadKey(const FieldReader& spec, const Json& json, Reading& reading, Request& out) {
  reading.Only(Find(json, {"spec", "privateKey"}), "spec.privateKey",
               {"algorithm", "size", "encoding", "rotationPolicy"});
  std::string algorithm, encoding, rotation;
  int bits = 0;
  spec.Object("privateKey", [&](const FieldReader& key) {
    key.Read("algorithm", algorithm);
    key.Read("size", bits);
    key.Read("encoding", encoding);
    key.Read("rotationPolicy", rotation);
  });
  ReadAlgorithm(algorithm, reading, out.key);
  if (bits != 0) out.key.bits = bits;
  CheckBits(out.key, reading);
  out.key.pkcs8 = encoding == "PKCS8";
  if (!encoding.empty() && encoding != "PKCS1" && encoding != "PKCS8") {
    reading.Fail("spec.privateKey.encoding", "must be PKCS1 or PKCS8");
  }
  out.keep_key = rotation == "Never";
  if (!rotation.empty() && rotation != "Never" && rotation != "Always") {
    reading.Fail("spec.privateKey.rotationPolicy", "must be Always or Never");
  }
}

void ReadHosts(const FieldReader& spec, Reading& reading, Request& out) {
  spec.Read("dnsNames", out.dns_names);
  spec.Read("ipAddresses", out.ip_addresses);
  for (size_t i = 0; i < out.dns_names.size(); ++i) {
    const std::string path = fmt::format("spec.dnsNames[{}]", i);
    if (!IsDns1123Subdomain(ToLower(out.dns_names[i]))) reading.Fail(path, "must be a DNS name without wildcards");
    if (http::IsAddress(out.dns_names[i])) reading.Fail(path, "is an IP address, which belongs in ipAddresses");
  }
  for (size_t i = 0; i < out.ip_addresses.size(); ++i) {
    std::string& address = out.ip_addresses[i];
    if (http::IsAddress(address)) {
      address = *http::CanonicalHost(address);
    } else {
      reading.Fail(fmt::format("spec.ipAddresses[{}]", i), "must be an IP address");
    }
  }
  if (out.dns_names.size() + out.ip_addresses.size() > kMostHosts) {
    reading.Fail("spec.dnsNames", fmt::format("has too many names: {} at most, with addresses", kMostHosts));
  }
}

void ReadSubject(const FieldReader& spec, const Json& json, Reading& reading, Request& out) {
  spec.Read("commonName", out.common_name);
  if (out.common_name.size() > kLongestCommonName) {
    reading.Fail("spec.commonName", fmt::format("must have {} bytes at most", kLongestCommonName));
  }
  reading.Only(Find(json, {"spec", "subject"}), "spec.subject", {"organizations"});
  spec.Object("subject", [&](const FieldReader& subject) { subject.Read("organizations", out.organizations); });
  for (size_t i = 0; i < out.organizations.size(); ++i) {
    const std::string& name = out.organizations[i];
    if (!name.empty() && name.size() <= kLongestCommonName) continue;
    reading.Fail(fmt::format("spec.subject.organizations[{}]", i), "must have 1 to 64 bytes");
  }
}

std::optional<Seconds> ReadSeconds(const FieldReader& spec, std::string_view key) {
  std::optional<Millis> value;
  spec.Read(key, value);
  if (!value) return std::nullopt;
  return std::chrono::duration_cast<Seconds>(*value);
}

void ReadTimes(const FieldReader& spec, Reading& reading, Request& out) {
  out.duration = ReadSeconds(spec, "duration").value_or(out.duration);
  out.renew_before = ReadSeconds(spec, "renewBefore");
  spec.Read("renewBeforePercentage", out.renew_before_percentage);
  if (out.duration < kLeastDuration || out.duration > kMostDuration) {
    reading.Fail("spec.duration", "must be an hour at least, and a hundred years at most");
  }
  if (out.renew_before && (*out.renew_before < kLeastRenewBefore || *out.renew_before >= out.duration)) {
    reading.Fail("spec.renewBefore", "must be five minutes at least, and less than the duration");
  }
  if (!out.renew_before_percentage) return;
  const int percent = *out.renew_before_percentage;
  constexpr const char* kPath = "spec.renewBeforePercentage";
  if (out.renew_before) reading.Fail(kPath, "can't be set beside renewBefore");
  if (percent < 1 || percent > 99 || out.duration * percent / 100 < kLeastRenewBefore) {
    reading.Fail(kPath, "must be between 1 and 99, and make five minutes at least");
  }
}

void ReadUsages(const FieldReader& spec, Reading& reading, Request& out) {
  spec.Read("isCA", out.authority);
  std::vector<std::string> usages;
  spec.Read("usages", usages);
  for (size_t i = 0; i < usages.size(); ++i) {
    std::string path = fmt::format("spec.usages[{}]", i);
    if (FindUsage(usages[i]) == nullptr) reading.Fail(path, kUnsupported);
    if (usages[i] == kCertSign && !out.authority) reading.Fail(path, "\"cert sign\" needs isCA");
  }
  if (usages.empty()) usages.assign(std::begin(kDefaultUsages), std::end(kDefaultUsages));
  std::set<std::string> sorted(usages.begin(), usages.end());
  sorted.erase(std::string(kCertSign));
  out.usages.assign(sorted.begin(), sorted.end());
}

void ReadTemplate(const FieldReader& spec, const Json& json, Reading& reading, Request& out) {
  constexpr std::string_view kOwnPrefix = "cert-manager.io/", kAllowed = "cert-manager.io/allow-direct-injection";
  reading.Only(Find(json, {"spec", "secretTemplate"}), "spec.secretTemplate", {"labels", "annotations"});
  spec.Object("secretTemplate", [&](const FieldReader& part) {
    part.Read("labels", out.secret_labels);
    part.Read("annotations", out.secret_annotations);
  });
  for (const auto& [name, value] : out.secret_annotations) {
    if (!name.starts_with(kOwnPrefix) || name == kAllowed) continue;
    reading.Fail(fmt::format("spec.secretTemplate.annotations[{}]", name), "belongs to cert-manager");
  }
}

const Json* ObjectAt(const Json* spec, const std::string& key, Reading& reading) {
  const Json* found = spec == nullptr ? nullptr : Find(*spec, {key});
  if (found == nullptr || found->is_null()) return nullptr;
  if (!found->is_object()) reading.Fail("spec." + key, "must be an object");
  return found;
}

// None at all would be the default ones.
std::vector<std::string> UsagesOf(const Request& request) {
  if (request.usages.empty() && request.authority) return {std::string(kCertSign)};
  return request.usages;
}

Json KeySpec(const Request& request) {
  const bool rsa = request.key.algorithm == Algorithm::kRsa;
  return {{"algorithm", rsa ? "RSA" : "ECDSA"},
          {"size", request.key.bits},
          {"encoding", request.key.pkcs8 ? "PKCS8" : "PKCS1"},
          {"rotationPolicy", request.keep_key ? "Never" : "Always"}};
}

}  // namespace

Status CheckForm(const kube::Object& object) {
  const std::string version = object.group_version().version;
  if (version != "v1" && version != "v1beta1" && version != "v1alpha3" && version != "v1alpha2") {
    return Error{Code::kInvalidArgument, fmt::format("apiVersion: \"{}\" {}", object.api_version(), kUnsupported), {}};
  }
  if (object.kind() != "ClusterIssuer" && object.ns().empty()) {
    return Error{Code::kInvalidArgument, "metadata.namespace: must be set", {}};
  }
  return Ok();
}

Result<Request> RequestOf(const kube::Object& certificate) {
  TRY(CheckForm(certificate));
  const Json& json = certificate.json();
  const Json* spec_json = Find(json, {"spec"});
  if (spec_json == nullptr) return Error{Code::kInvalidArgument, "spec: must be set", {}};
  Reading reading;
  FieldReader spec(*spec_json, "spec", &reading.error);
  reading.Only(spec_json, "spec",
               {"secretName", "secretTemplate", "dnsNames", "ipAddresses", "commonName", "subject", "duration",
                "renewBefore", "renewBeforePercentage", "issuerRef", "isCA", "usages", "privateKey"});
  Request out;
  out.certificate = {certificate.ns(), certificate.name()};
  spec.Read("secretName", out.secret_name);
  if (!IsDns1123Subdomain(out.secret_name)) reading.Fail("spec.secretName", "must be the name of a Secret");
  ReadIssuerRef(spec, json, reading, out.issuer);
  ReadHosts(spec, reading, out);
  ReadSubject(spec, json, reading, out);
  if (out.dns_names.empty() && out.ip_addresses.empty() && out.common_name.empty()) {
    reading.Fail("spec", "must have dnsNames, ipAddresses or a commonName");
  }
  ReadTimes(spec, reading, out);
  ReadKey(spec, json, reading, out);
  ReadUsages(spec, reading, out);
  ReadTemplate(spec, json, reading, out);
  if (reading.error) return *reading.error;
  return out;
}

Json SpecOf(const Request& request) {
  Json spec = {
      {"secretName", request.secret_name},
      {"dnsNames", request.dns_names},
      {"ipAddresses", request.ip_addresses},
      {"commonName", request.common_name},
      {"subject", {{"organizations", request.organizations}}},
      {"duration", api::FormatDuration(request.duration)},
      {"issuerRef", {{"name", request.issuer.name}, {"kind", request.issuer.kind}, {"group", request.issuer.group}}},
      {"isCA", request.authority},
      {"usages", UsagesOf(request)},
      {"privateKey", KeySpec(request)},
      {"secretTemplate", {{"labels", request.secret_labels}, {"annotations", request.secret_annotations}}}};
  if (request.renew_before) spec["renewBefore"] = api::FormatDuration(*request.renew_before);
  if (request.renew_before_percentage) spec["renewBeforePercentage"] = *request.renew_before_percentage;
  return spec;
}

Result<std::string> CaSecretOf(const kube::Object& issuer) {
  TRY(CheckForm(issuer));
  const Json* spec = Find(issuer.json(), {"spec"});
  Reading reading;
  reading.Only(spec, "spec", {"selfSigned", "ca"});
  const Json* self_signed = ObjectAt(spec, "selfSigned", reading);
  const Json* ca = ObjectAt(spec, "ca", reading);
  reading.Only(self_signed, "spec.selfSigned", {});
  reading.Only(ca, "spec.ca", {"secretName"});
  if ((self_signed == nullptr) == (ca == nullptr)) reading.Fail("spec", "must have one of selfSigned and ca");
  std::string secret;
  if (ca != nullptr) {
    FieldReader(*ca, "spec.ca", &reading.error).Read("secretName", secret);
    if (!IsDns1123Subdomain(secret)) reading.Fail("spec.ca.secretName", "must be the name of a Secret");
    // cert-manager looks for it in a namespace of its own.
    if (issuer.kind() == "ClusterIssuer") reading.Fail("spec.ca", kUnsupported);
  }
  if (reading.error) return *reading.error;
  return secret;
}

}  // namespace capi::certificates
