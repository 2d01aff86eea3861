#include "operator/webhooks/reference_access.h"

#include <fmt/format.h>

#include "api/text.h"

namespace capi::ops {
namespace {

std::string_view ResourceOf(const api::ForeignReference& reference) {
  return reference.kind == "ConfigMap" ? "configmaps" : "secrets";
}

api::FieldError Lacking(const Json& user, const api::ForeignReference& reference) {
  api::FieldError error;
  error.kind = api::FieldError::Kind::kForbidden;
  error.path = reference.path;
  error.detail = fmt::format(
      "user {} cannot get resource \"{}\" in API group \"\" in the namespace {}, named {}: a reference into another "
      "namespace needs that right",
      api::GoQuote(GetString(user, {"username"})), ResourceOf(reference), api::GoQuote(reference.ns),
      api::GoQuote(reference.name));
  return error;
}

}  // namespace

// The field manager is whatever a client calls itself: it excuses no change of the record, which the operator leaves
// alone.
RecordStep StepOf(const AdmissionRequest& request, const std::vector<api::ForeignReference>& now,
                  const std::vector<api::ForeignReference>& before) {
  if (now.empty()) return RecordStep::kRemove;
  if (!request.update || now != before) return RecordStep::kAsk;
  const std::string_view record = api::kAnnotationAllowedReferences;
  const bool record_changed = request.object.has_annotation(record) != request.old.has_annotation(record) ||
                              request.object.annotation(record) != request.old.annotation(record);
  const bool others_changed_spec = request.SpecChanged() && request.field_manager != api::kFieldManager;
  return record_changed || others_changed_spec ? RecordStep::kKeepOrAsk : RecordStep::kLeave;
}

Result<std::vector<api::FieldError>> LackingRights(const Context& ctx, AccessReviews& reviews, const Json& user,
                                                   const std::vector<api::ForeignReference>& references) {
  std::vector<api::FieldError> refused;
  for (const api::ForeignReference& reference : references) {
    const Json attributes = {{"verb", "get"},
                             {"group", ""},
                             {"version", "v1"},
                             {"resource", ResourceOf(reference)},
                             {"namespace", reference.ns},
                             {"name", reference.name}};
    if (!TRY(reviews.Allowed(ctx, user, {{"resourceAttributes", attributes}}))) {
      refused.push_back(Lacking(user, reference));
    }
  }
  return refused;
}

}  // namespace capi::ops
