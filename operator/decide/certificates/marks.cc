#include "operator/decide/certificates/marks.h"

#include "api/certificates/names.h"
#include "operator/decide/certificates/bundles.h"

namespace capi::ops {
namespace {

// Leaves of fieldsV1 that are named `f:caBundle`, wherever they are.
int CountBundles(const Json& fields) {
  int count = 0;
  if (!fields.is_object()) return count;
  for (const auto& [name, below] : fields.items()) count += name == "f:caBundle" ? 1 : CountBundles(below);
  return count;
}

void SeeHeld(const kube::Object& object, CertificateMarks& marks) {
  const Json* entries = Find(object.json(), {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return;
  for (const Json& entry : *entries) {
    if (GetString(entry, {"manager"}) != api::kCertificateManager) continue;
    const Json* fields = Find(entry, {"fieldsV1"});
    if (fields == nullptr) continue;
    for (const char* key : {"f:ca.crt", "f:tls.crt", "f:tls.key"}) {
      marks.held += Find(*fields, {"f:data", key}) != nullptr ? 1 : 0;
    }
    marks.held += CountBundles(*fields);
    marks.next = Find(*fields, {"f:data", "f:next.crt"}) != nullptr;
    return;
  }
}

// Of a Secret that says what it is to hold, and not how it stands: that was lost, and so it is due at once.
std::string LostState(const kube::Object& object) {
  const std::string certificate = object.annotation("cert-manager.io/certificate-name");
  return StateText({certificate.empty() ? "unknown" : certificate, ""});
}

}  // namespace

std::string SecretMark(const std::string& secret) { return "secret:" + secret; }

CertificateMarks MarksIn(const kube::Object& object) {
  CertificateMarks marks;
  marks.state = object.annotation(api::kAnnotationCertificateState);
  if (object.has_annotation(api::kAnnotationCertificate) && !ParseState(marks.state)) marks.state = LostState(object);
  marks.ca_from = object.annotation(api::kAnnotationInjectCaFrom);
  if (marks.ca_from.empty() && object.has_annotation(api::kAnnotationInjectCaFromSecret)) {
    marks.ca_from = SecretMark(object.annotation(api::kAnnotationInjectCaFromSecret));
  }
  marks.bundle = object.annotation(api::kAnnotationCaBundle);
  if (!marks.state.empty() || !marks.bundle.empty()) SeeHeld(object, marks);
  marks.came = !marks.bundle.empty() && HasUnknown(marks.bundle, object);
  return marks;
}

Json AsJson(const CertificateMarks& marks) {
  if (marks == CertificateMarks{}) return Json();
  return {{"state", marks.state}, {"caFrom", marks.ca_from}, {"bundle", marks.bundle},
          {"held", marks.held},   {"next", marks.next},      {"came", marks.came}};
}

CertificateMarks MarksFrom(const Json& kept) {
  return {GetString(kept, {"state"}),  GetString(kept, {"caFrom"}),
          GetString(kept, {"bundle"}), static_cast<int>(GetInt(kept, {"held"})),
          GetBool(kept, {"next"}),     GetBool(kept, {"came"})};
}

std::string StateText(const CertificateState& state) {
  return ToJsonText(Json{{"certificate", state.certificate},
                         {"bundle", state.bundle},
                         {"renew", FormatTime(state.renew)},
                         {"expires", FormatTime(state.ends)}});
}

std::optional<CertificateState> ParseState(const std::string& text) {
  auto json = ParseJson(text);
  if (!json.ok()) return std::nullopt;
  auto renew = ParseTime(GetString(*json, {"renew"})), ends = ParseTime(GetString(*json, {"expires"}));
  CertificateState state{GetString(*json, {"certificate"}), GetString(*json, {"bundle"})};
  if (state.certificate.empty()) return std::nullopt;
  // Times that nobody can read are over.
  if (renew.ok()) state.renew = *renew;
  if (ends.ok()) state.ends = *ends;
  return state;
}

}  // namespace capi::ops
