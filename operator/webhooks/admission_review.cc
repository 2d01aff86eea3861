#include "operator/webhooks/admission_review.h"

#include "advice/warnings.h"
#include "api/reasons.h"
#include "api/reference_record.h"
#include "base/strings.h"

namespace capi::ops {
namespace {

using Errors = std::vector<api::FieldError>;
using References = std::vector<api::ForeignReference>;

// Where a spec has references, in the words of a JSON patch.
constexpr std::string_view kReferences[] = {"/spec/configSecret", "/spec/additionalManifests",
                                            "/spec/fetchConfig/secretRef", "/spec/fetchConfig/git/secretRef",
                                            "/spec/fetchConfig/verify/secretRef"};

void FillNamespaces(const AdmissionRequest& request, Json& patch) {
  for (std::string_view path : kReferences) {
    const Json* reference = &request.object.json();
    for (const std::string& step : Split(path.substr(1), '/')) {
      if (reference != nullptr) reference = Find(*reference, {step});
    }
    if (reference == nullptr || !reference->is_object()) continue;
    const Json* ns = Find(*reference, {"namespace"});
    const bool unsaid =
        ns == nullptr || ns->is_null() || (ns->is_string() && ns->get_ref<const std::string&>().empty());
    if (!unsaid) continue;
    patch.push_back({{"op", "add"}, {"path", std::string(path) + "/namespace"}, {"value", request.id.ns}});
  }
}

// `record` nullopt takes it away.
void SetRecord(const AdmissionRequest& request, const std::optional<std::string>& record, Json& patch) {
  const std::string path =
      "/metadata/annotations/" + ReplaceAll(std::string(api::kAnnotationAllowedReferences), "/", "~1");
  const bool there = request.object.has_annotation(api::kAnnotationAllowedReferences);
  if (!record) {
    if (there) patch.push_back({{"op", "remove"}, {"path", path}});
    return;
  }
  if (there && request.object.annotation(api::kAnnotationAllowedReferences) == *record) return;
  const Json* annotations = Find(request.object.json(), {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) {
    patch.push_back({{"op", "add"}, {"path", "/metadata/annotations"}, {"value", Json::object()}});
  }
  patch.push_back({{"op", "add"}, {"path", path}, {"value", *record}});
}

References ReferencesOf(const kube::Object& object) {
  auto provider = api::ParseProvider(object);
  return provider.ok() ? api::ForeignReferences(*provider) : References();
}

api::FieldError Nameless() {
  api::FieldError error;
  error.kind = api::FieldError::Kind::kForbidden;
  error.path = "metadata.generateName";
  error.detail = "a reference into another namespace is allowed to an object by its name: set metadata.name";
  return error;
}

// "spec.manager.syncPeriod: must be a duration", as the codec says it.
api::FieldError AsFieldError(const Error& error) {
  api::FieldError out;
  const size_t colon = error.message.find(": ");
  out.path = colon == std::string::npos ? "spec" : error.message.substr(0, colon);
  out.detail = colon == std::string::npos ? error.message : error.message.substr(colon + 2);
  out.reason = api::reason::kInvalidSpec;
  return out;
}

}  // namespace

Result<bool> Admission::OldRecordHolds(const Context& ctx, const AdmissionRequest& request,
                                       const References& references) const {
  if (!request.old.has_annotation(api::kAnnotationAllowedReferences)) return false;
  const std::string key = TRY(needs_.key(ctx));
  return api::RecordCovers(request.old.annotation(api::kAnnotationAllowedReferences), key, request.id, references);
}

// A record is for one name, which metadata.generateName makes only after this.
Result<Errors> Admission::RecordAllowed(const Context& ctx, const AdmissionRequest& request, const References& now,
                                        Json& patch) const {
  Errors refused = TRY(LackingRights(ctx, needs_.access, request.user, now));
  if (!refused.empty()) return refused;
  if (request.id.name.empty()) return Errors{Nameless()};
  const std::string user = GetString(request.user, {"username"});
  SetRecord(request, api::MakeReferenceRecord(TRY(needs_.key(ctx)), request.id, now, user), patch);
  return Errors();
}

// A spec that doesn't parse has no references that anybody follows, and validation refuses it.
Result<Errors> Admission::JudgeReferences(const Context& ctx, const AdmissionRequest& request, Json& patch) const {
  const References now = ReferencesOf(request.object);
  const References before = request.update ? ReferencesOf(request.old) : References();
  switch (StepOf(request, now, before)) {
    case RecordStep::kRemove: SetRecord(request, std::nullopt, patch); break;
    case RecordStep::kLeave: break;
    case RecordStep::kKeepOrAsk:
      if (!TRY(OldRecordHolds(ctx, request, now))) return RecordAllowed(ctx, request, now, patch);
      SetRecord(request, request.old.annotation(api::kAnnotationAllowedReferences), patch);
      break;
    case RecordStep::kAsk: return RecordAllowed(ctx, request, now, patch);
  }
  return Errors();
}

Result<Json> Admission::Mutate(const Context& ctx, Json review) const {
  const AdmissionRequest request = TRY(ParseAdmissionReview(std::move(review)));
  if (request.object.deleting()) return Allow(request);
  Json patch = Json::array();
  if (request.SpecChanged()) FillNamespaces(request, patch);
  auto refused = JudgeReferences(ctx, request, patch);
  if (!refused.ok()) return DenyForNow(request, refused.error().message);
  return refused->empty() ? AllowPatched(request, patch) : DenyForbidden(request, *refused);
}

Result<Json> Admission::Validate(Json review) const {
  const AdmissionRequest request = TRY(ParseAdmissionReview(std::move(review)));
  if (request.object.deleting()) return Allow(request);
  auto provider = api::ParseProvider(request.object), old = api::ParseProvider(request.old);
  const bool is_update = request.update && old.ok();
  if (request.SpecChanged()) {
    if (!provider.ok()) return DenyInvalid(request, {AsFieldError(provider.error())});
    Errors errors = api::Validate(*provider, needs_.known(provider->id));
    if (is_update) {
      for (auto& error : api::ValidateUpdate(*old, *provider)) errors.push_back(std::move(error));
    }
    if (!errors.empty()) return DenyInvalid(request, errors);
  } else if (!provider.ok() || !request.AnnotationsChanged()) {
    return Allow(request);
  }
  return Allow(request, advice::AdmissionWarnings(*provider, is_update ? &*old : nullptr));
}

}  // namespace capi::ops
