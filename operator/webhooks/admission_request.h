// An AdmissionReview of admission.k8s.io/v1, taken apart, and the answers to it.
#pragma once

#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/validate/validate.h"
#include "kube/meta/object.h"

namespace capi::ops {

// What is asked about one provider object. A value.
struct AdmissionRequest {
  std::string uid;
  api::ProviderId id;
  bool update = false;        // else a creation
  Json user;                  // UserInfo of who asks: username, uid, groups, extra
  std::string field_manager;  // of the request's options; "" where there is none
  kube::Object object, old;   // `old` of an update

  bool SpecChanged() const;         // also for a creation
  bool AnnotationsChanged() const;  // the same
};

// kInvalidArgument with the field's path for what is no such review, or one for another group, version or kind than
// the seven of v1alpha2: the webhooks are registered for these, and the API server converts.
Result<AdmissionRequest> ParseAdmissionReview(Json review);

// Answers: an AdmissionReview each. `patch`: a JSON patch, empty for none.
Json Allow(const AdmissionRequest& request, const std::vector<std::string>& warnings = {});
Json AllowPatched(const AdmissionRequest& request, const Json& patch);
// 422, in the API server's own words, with a cause for each error.
Json DenyInvalid(const AdmissionRequest& request, const std::vector<api::FieldError>& errors);
// 403. `errors` say who lacks which right.
Json DenyForbidden(const AdmissionRequest& request, const std::vector<api::FieldError>& errors);
// 503: it can't be told now; `why` has no secret in it.
Json DenyForNow(const AdmissionRequest& request, const std::string& why);

}  // namespace capi::ops
