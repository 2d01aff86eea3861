#include "operator/webhooks/admission_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/encoding.h"
#include "base/strings.h"

namespace capi::ops {
namespace {

constexpr std::string_view kVersion = "admission.k8s.io/v1";
constexpr std::string_view kKind = "AdmissionReview";

using FieldError = api::FieldError;

Error Invalid(std::string_view path, std::string_view problem) {
  return Error{Code::kInvalidArgument, fmt::format("{}: {}", path, problem), {}};
}

// The member as the API server sent it; null for none.
Json Take(Json& parent, const char* key) {
  auto found = parent.find(key);
  return found == parent.end() ? Json() : std::move(*found);
}

Result<const api::ProviderKind*> KindIn(const Json& request) {
  std::string group = GetString(request, {"kind", "group"}), version = GetString(request, {"kind", "version"}),
              name = GetString(request, {"kind", "kind"});
  const api::ProviderKind* kind = api::KindByName(name);
  if (group != api::kGroup || version != api::kVersion || kind == nullptr) {
    return Invalid("request.kind", fmt::format("{}/{}, {} isn't a provider kind of {}/{}", group, version, name,
                                               api::kGroup, api::kVersion));
  }
  return kind;
}

Result<kube::Object> ObjectIn(Json& request, const char* key, const AdmissionRequest& of) {
  Json object = Take(request, key);
  const std::string path = fmt::format("request.{}", key);
  if (!object.is_object()) return Invalid(path, "must be an object");
  if (GetString(object, {"apiVersion"}) != fmt::format("{}/{}", api::kGroup, api::kVersion) ||
      GetString(object, {"kind"}) != api::KindOf(of.id.type).kind) {
    return Invalid(path, "isn't of the request's kind and version");
  }
  kube::Object out(std::move(object));
  if (const Json* metadata = Find(out.json(), {"metadata"}); metadata != nullptr && !metadata->is_object()) {
    return Invalid(path + ".metadata", "must be an object");
  }
  out.set_ns(of.id.ns);
  return out;
}

Json Response(const AdmissionRequest& request, bool allowed, Json more = Json::object()) {
  more["uid"] = request.uid;
  more["allowed"] = allowed;
  return {{"apiVersion", kVersion}, {"kind", kKind}, {"response", std::move(more)}};
}

std::string_view CauseOf(FieldError::Kind kind) {
  switch (kind) {
    case FieldError::Kind::kInvalid: return "FieldValueInvalid";
    case FieldError::Kind::kRequired: return "FieldValueRequired";
    case FieldError::Kind::kForbidden: return "FieldValueForbidden";
    case FieldError::Kind::kUnsupported: return "FieldValueNotSupported";
    case FieldError::Kind::kDuplicate: return "FieldValueDuplicate";
  }
  return "";
}

// As Go's aggregates print: one as it is, several in brackets, none twice.
std::string TextOf(const std::vector<FieldError>& errors) {
  std::vector<std::string> texts;
  for (const FieldError& e : errors) {
    if (std::string text = e.ToString(); std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  return texts.size() == 1 ? texts.front() : "[" + Join(texts, ", ") + "]";
}

Json Denial(const AdmissionRequest& request, int code, std::string_view reason, std::string message, Json details) {
  Json status = {{"status", "Failure"}, {"code", code}, {"reason", reason}, {"message", std::move(message)}};
  details["group"] = api::kGroup;
  details["name"] = request.id.name;
  status["details"] = std::move(details);
  return Response(request, false, {{"status", std::move(status)}});
}

Json CausesOf(const std::vector<FieldError>& errors) {
  Json causes = Json::array();
  for (const FieldError& e : errors) {
    causes.push_back({{"reason", CauseOf(e.kind)}, {"message", e.Body()}, {"field", e.path}});
  }
  return causes;
}

bool Differs(const AdmissionRequest& request, JsonPath path) {
  const Json *is = Find(request.object.json(), path), *was = Find(request.old.json(), path);
  if (is == nullptr || was == nullptr) return is != was;
  return *is != *was;
}

}  // namespace

bool AdmissionRequest::SpecChanged() const { return !update || Differs(*this, {"spec"}); }

bool AdmissionRequest::AnnotationsChanged() const { return !update || Differs(*this, {"metadata", "annotations"}); }

Result<AdmissionRequest> ParseAdmissionReview(Json review) {
  Json* request = Find(review, {"request"});
  if (GetString(review, {"apiVersion"}) != kVersion || GetString(review, {"kind"}) != kKind || request == nullptr ||
      !request->is_object()) {
    return Error{
        Code::kInvalidArgument, fmt::format("the body must be a {} of {} with a request", kKind, kVersion), {}};
  }
  AdmissionRequest out;
  out.id.type = TRY(KindIn(*request))->type;
  out.uid = GetString(*request, {"uid"});
  if (out.uid.empty()) return Invalid("request.uid", "must be set");
  const std::string operation = GetString(*request, {"operation"});
  if (operation != "CREATE" && operation != "UPDATE") {
    return Invalid("request.operation", fmt::format("{} isn't one of CREATE and UPDATE", api::GoQuote(operation)));
  }
  out.update = operation == "UPDATE";
  out.user = Take(*request, "userInfo");
  if (GetString(out.user, {"username"}).empty()) return Invalid("request.userInfo.username", "must be set");
  out.field_manager = GetString(*request, {"options", "fieldManager"});
  out.id.ns = GetString(*request, {"namespace"});
  out.object = TRY(ObjectIn(*request, "object", out));
  if (out.update) out.old = TRY(ObjectIn(*request, "oldObject", out));
  out.id.name = out.object.name();
  return out;
}

Json Allow(const AdmissionRequest& request, const std::vector<std::string>& warnings) {
  return Response(request, true, warnings.empty() ? Json::object() : Json{{"warnings", warnings}});
}

Json AllowPatched(const AdmissionRequest& request, const Json& patch) {
  if (patch.empty()) return Allow(request);
  return Response(request, true, {{"patchType", "JSONPatch"}, {"patch", Base64Encode(ToJsonText(patch))}});
}

Json DenyInvalid(const AdmissionRequest& request, const std::vector<FieldError>& errors) {
  const std::string_view kind = api::KindOf(request.id.type).kind;
  std::string message =
      fmt::format("{}.{} {} is invalid: {}", kind, api::kGroup, api::GoQuote(request.id.name), TextOf(errors));
  return Denial(request, 422, "Invalid", std::move(message), {{"kind", kind}, {"causes", CausesOf(errors)}});
}

Json DenyForbidden(const AdmissionRequest& request, const std::vector<FieldError>& errors) {
  const std::string_view plural = api::KindOf(request.id.type).plural;
  std::string message =
      fmt::format("{}.{} {} is forbidden: {}", plural, api::kGroup, api::GoQuote(request.id.name), TextOf(errors));
  return Denial(request, 403, "Forbidden", std::move(message), {{"kind", plural}, {"causes", CausesOf(errors)}});
}

Json DenyForNow(const AdmissionRequest& request, const std::string& why) {
  const std::string_view plural = api::KindOf(request.id.type).plural;
  std::string message = fmt::format("{}.{} {} can't be judged now, try again: {}", plural, api::kGroup,
                                    api::GoQuote(request.id.name), why);
  return Denial(request, 503, "ServiceUnavailable", std::move(message), {{"kind", plural}});
}

}  // namespace capi::ops
