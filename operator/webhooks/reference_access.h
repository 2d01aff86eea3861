// Who may refer into other namespaces (behaviour.md T1): what a request means for the record of it, and the question
// to the API server.
#pragma once

#include <string>
#include <vector>

#include "api/validate/validate.h"
#include "operator/webhooks/access_review.h"
#include "operator/webhooks/admission_request.h"

namespace capi::ops {

// What becomes of the record that an object carries.
enum class RecordStep {
  kRemove,     // there is nothing to record
  kLeave,      // whatever the object carries: this request is no reason to make a record, and doesn't change it
  kKeepOrAsk,  // the old object's, where it is genuine; else the user of the request has to have the rights
  kAsk,        // the user of the request has to have the rights
};

// Who writes a reference has to have the right, and who changes the record, or a spec whose references nobody is on
// record for. Any other change of metadata, or a change of the spec by the operator, makes no record: garbage
// collectors and the operator may read everything, and didn't write the reference. Only kKeepOrAsk and kAsk need the
// installation's key: all else goes on while it can't be read. Pure.
RecordStep StepOf(const AdmissionRequest& request, const std::vector<api::ForeignReference>& now,
                  const std::vector<api::ForeignReference>& before);

// An error for each of `references` that the user of the request may not `get`. An error of the call: nobody could
// tell.
Result<std::vector<api::FieldError>> LackingRights(const Context& ctx, AccessReviews& reviews, const Json& user,
                                                   const std::vector<api::ForeignReference>& references);

}  // namespace capi::ops
