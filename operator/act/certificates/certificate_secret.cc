#include "operator/act/certificates/certificate_secret.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/certificates/names.h"
#include "base/encoding.h"
#include "kube/meta/kind.h"
#include "lifecycle/certificates/requests.h"

namespace capi::ops {
namespace {

namespace key = certificates::data_key;
using certificates::Decision;
using certificates::Step;

constexpr size_t kHashLength = 16;
// Whatever is to be done at once can be done a moment later: nothing is written in a circle.
constexpr Seconds kSoonest{5};

std::map<std::string, std::string> LabelsOf(const kube::Object& object) {
  std::map<std::string, std::string> labels;
  const Json* found = Find(object.json(), {"metadata", "labels"});
  if (found == nullptr || !found->is_object()) return labels;
  for (const auto& [name, value] : found->items()) {
    if (value.is_string()) labels[name] = value.get<std::string>();
  }
  return labels;
}

// While a renewal is on its way, the injection decides when it goes on.
WallTime LookAgain(const Decision& decision, const certificates::SecretData& data, WallTime now) {
  if (decision.step == Step::kBlocked) return now + kSoonest;  // it was written all the same, and is told then
  WallTime at = decision.look_again;
  if (data.contains(key::kNext)) at = std::min<WallTime>(at, now + certificates::kBundleSettles + Seconds(2));
  return std::max<WallTime>(at, now + kSoonest);
}

kube::Object SecretFor(const certificates::Request& request, const kube::Object& certificate) {
  Json metadata = {{"name", request.secret_name}, {"namespace", certificate.ns()}};
  auto labels = LabelsOf(certificate);
  for (const auto& [name, value] : certificates::SecretLabels(request)) labels[name] = value;
  if (!labels.empty()) metadata["labels"] = labels;
  metadata["annotations"][std::string(api::kAnnotationCertificate)] = certificates::ToText(request);
  // With its type, and without data: nobody can make it but who has a certificate for it.
  return kube::Object(Json{{"apiVersion", "v1"},
                           {"kind", "Secret"},
                           {"metadata", std::move(metadata)},
                           {"type", certificates::kSecretType}});
}

}  // namespace

void CertificateSecret::Request(const std::string& text) {
  request_text_ = text;
  auto request = certificates::ParseRequest(text);
  if (request.ok()) {
    request_ = *std::move(request);
  } else {
    request_error_ = request.error().With(fmt::format("annotation {}", api::kAnnotationCertificate));
  }
}

void CertificateSecret::Wanted(const kube::Object& manifest) {
  ns_ = manifest.ns();
  name_ = manifest.name();
  labels_ = LabelsOf(manifest);
  wanted_ = true;
  Request(manifest.annotation(api::kAnnotationCertificate));
}

void CertificateSecret::Gone() {
  exists_ = false;
  is_new_ = true;
  live_ = {};
  type_ = uid_ = resource_version_ = "";
  held_ = 0;
}

void CertificateSecret::Live(const kube::Object& live) {
  live_ = {};
  exists_ = true;
  is_new_ = false;
  uid_ = live.uid();
  resource_version_ = live.resource_version();
  ns_ = live.ns();
  name_ = live.name();
  type_ = GetString(live.json(), {"type"});
  held_ = MarksIn(live).held;
  const Json* annotations = Find(live.json(), {"metadata", "annotations"});
  if (annotations != nullptr && annotations->is_object()) {
    for (const auto& [name, value] : annotations->items()) {
      if (value.is_string()) live_.annotations[name] = value.get<std::string>();
    }
  }
  if (request_text_.empty() && live.has_annotation(api::kAnnotationCertificate)) {
    Request(live.annotation(api::kAnnotationCertificate));
  }
  const Json* values = Find(live.json(), {"data"});
  if (values == nullptr || !values->is_object()) return;
  for (const auto& [name, value] : values->items()) {
    auto decoded = Base64Decode(value.is_string() ? value.get<std::string>() : "");
    if (decoded.ok()) live_.data[name] = *std::move(decoded);
  }
}

bool CertificateSecret::IsNamedBy(const std::string& ca_from) const {
  return request_ && (ca_from == request_->certificate.ToString() || ca_from == SecretMark(ns_ + "/" + name_));
}

std::string CertificateSecret::Bundle() const {
  auto found = live_.data.find(key::kTrusted);
  return found == live_.data.end() ? "" : found->second;
}

std::string CertificateSecret::BundleHash() const { return Sha256Hex(Bundle()).substr(0, kHashLength); }

bool CertificateSecret::TrustsWhatIsServed(WallTime now) const {
  return certificates::TrustsWhatIsServed(live_.data, now);
}

certificates::Inputs CertificateSecret::InputsOf(const All& all, const certificates::Injected& injected,
                                                 WallTime now) const {
  certificates::Inputs inputs{now, injected, nullptr};
  if (request_->issuer_secret.empty()) return inputs;
  auto issuer = all.find({"", "Secret", ns_, request_->issuer_secret});
  if (issuer != all.end() && issuer->second.exists_) inputs.issuer = &issuer->second.data();
  return inputs;
}

Result<Decision> CertificateSecret::Decide(const All& all, const certificates::Injected& injected, WallTime now) const {
  if (request_error_) return *request_error_;
  auto secret = exists_ ? std::optional(live_) : std::nullopt;
  return certificates::Decide(*request_, secret, InputsOf(all, injected, now));
}

Status CertificateSecret::Take(const Decision& decision, const All& all, const certificates::Injected& injected,
                               const std::vector<std::string>& live, WallTime now) {
  auto secret = exists_ ? std::optional(live_) : std::nullopt;
  live_.data = TRY(certificates::Make(decision.step, *request_, secret, InputsOf(all, injected, now), live));
  exists_ = true;
  if (certificates::ServesAnew(decision.step)) live_.annotations.clear();
  live_.annotations = TRY(certificates::SecretAnnotations(*request_, live_));
  return Ok();
}

bool CertificateSecret::IsMisstated(const Decision& decision, WallTime now) const {
  auto said = live_.annotations.find(std::string(api::kAnnotationCertificateState));
  auto state = said == live_.annotations.end() ? std::nullopt : ParseState(said->second);
  auto request = live_.annotations.find(certificates::kRequestAnnotation);
  if (request == live_.annotations.end() || request->second != request_text_) return true;
  if (!state || held_ < kCertificateKeys || state->bundle != BundleHash()) return true;
  if (state->certificate != request_->certificate.name) return true;
  // It is due by that time, too (DueCertificates), and would be for ever.
  if (state->ends != certificates::EndOf(live_.data).value_or(WallTime())) return true;
  return state->renew <= now || decision.look_again + kSoonest < state->renew;
}

bool CertificateSecret::HasState() const {
  return live_.annotations.contains(std::string(api::kAnnotationCertificateState));
}

bool CertificateSecret::IsAsStated() const {
  auto said = live_.annotations.find(std::string(api::kAnnotationCertificateState));
  auto state = said == live_.annotations.end() ? std::nullopt : ParseState(said->second);
  return state && state->bundle == BundleHash();
}

Result<kube::Object> CertificateSecret::ToApply(const Decision& decision, WallTime now) const {
  auto annotations = TRY(certificates::SecretAnnotations(*request_, live_));
  CertificateState state{request_->certificate.name, BundleHash(), LookAgain(decision, live_.data, now), {}};
  if (auto end = certificates::EndOf(live_.data)) state.ends = *end;
  annotations[std::string(api::kAnnotationCertificateState)] = StateText(state);
  Json values = Json::object();
  for (const auto& [name, value] : live_.data) values[name] = Base64Encode(value);
  Json metadata = {{"name", name_}, {"namespace", ns_}, {"annotations", annotations}};
  if (!uid_.empty()) metadata["uid"] = uid_;
  if (!resource_version_.empty()) metadata["resourceVersion"] = resource_version_;
  auto labels = labels_;
  for (const auto& [name, value] : certificates::SecretLabels(*request_)) labels[name] = value;
  if (!labels.empty()) metadata["labels"] = labels;
  return kube::Object(Json{{"apiVersion", "v1"},
                           {"kind", "Secret"},
                           {"metadata", std::move(metadata)},
                           {"type", certificates::kSecretType},
                           {"data", std::move(values)}});
}

// As ReadRequests has them: one that issues has an issuer that signs itself, or one that comes before.
std::vector<kube::ObjectId> InOrder(const CertificateSecret::All& all) {
  std::vector<kube::ObjectId> ids;
  auto is_in = [&](const kube::ObjectId& id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  for (size_t before = all.size() + 1; ids.size() < all.size() && before != ids.size();) {
    before = ids.size();
    for (const auto& [id, secret] : all) {
      const kube::ObjectId issuer{"", "Secret", id.ns, secret.issuer_secret()};
      const bool waits = !secret.issuer_secret().empty() && all.contains(issuer) && !is_in(issuer);
      if (!is_in(id) && !waits) ids.push_back(id);
    }
  }
  for (const auto& [id, secret] : all) {  // of a circle, whose members say that they are blocked
    if (!is_in(id)) ids.push_back(id);
  }
  return ids;
}

// A right of the release's own that says who certificates are kept by would be one of another spelling: JSON text has
// keys in quotes.
bool HoldsCertificate(const kube::Manifest& manifest) {
  return kube::Is(manifest.id, "", "Secret") &&
         manifest.text.find(fmt::format("\"{}\":", api::kAnnotationCertificate)) != std::string::npos;
}

Status SecretsForCertificates(std::vector<kube::Object>& objects) {
  const certificates::Requests requests = TRY(certificates::ReadRequests(objects));
  std::vector<kube::Object> out;
  for (kube::Object& object : objects) {
    if (!certificates::IsCertManagers(object.id())) {
      out.push_back(std::move(object));
      continue;
    }
    const certificates::Place place{object.ns(), object.name()};
    for (const certificates::Request& request : requests.certificates) {
      if (object.kind() == "Certificate" && request.certificate == place) out.push_back(SecretFor(request, object));
    }
  }
  objects = std::move(out);
  return Ok();
}

}  // namespace capi::ops
