// The webhooks that fill in and judge provider objects as they are written (api.md, "Admission").
#pragma once

#include <functional>

#include "operator/webhooks/reference_access.h"

namespace capi::ops {

// Functions of an AdmissionReview of admission.k8s.io/v1 that is about one of the seven kinds at v1alpha2: they answer
// with the review that has the response. kInvalidArgument for any other review. An object that is being deleted, or
// whose spec is unchanged, is never refused for its spec: its finalizer must be removable. Thread-safe.
class Admission {
 public:
  struct Needs {
    std::function<bool(const api::ProviderId&)> known;       // a registry says where the provider's releases are (I2)
    std::function<Result<std::string>(const Context&)> key;  // of this installation, for records of references
    AccessReviews& access;
  };
  explicit Admission(Needs needs) : needs_(std::move(needs)) {}

  // Fills in the provider's namespace where a reference names none, and keeps the record of who may refer into other
  // namespaces (T1). Refuses the references that the user has no right to (403), and all of them while nobody can tell
  // (503). Stores nothing but the installation's key, once.
  Result<Json> Mutate(const Context& ctx, Json review) const;

  // Refuses what can't be reconciled (422), and warns of what is unwise.
  Result<Json> Validate(Json review) const;

 private:
  using References = std::vector<api::ForeignReference>;
  using Errors = std::vector<api::FieldError>;
  Result<bool> OldRecordHolds(const Context& ctx, const AdmissionRequest& request, const References& references) const;
  Result<Errors> RecordAllowed(const Context& ctx, const AdmissionRequest& request, const References& now,
                               Json& patch) const;
  Result<Errors> JudgeReferences(const Context& ctx, const AdmissionRequest& request, Json& patch) const;

  const Needs needs_;
};

}  // namespace capi::ops
