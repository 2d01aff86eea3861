// What can be said about a Provider object by looking at it alone: used by every pass, and by admission to refuse
// early. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types.h"

namespace capi::api {

// One thing that is wrong with an object.
struct FieldError {
  enum class Kind { kInvalid, kRequired, kForbidden, kUnsupported, kDuplicate };
  Kind kind = Kind::kInvalid;
  std::string path;   // "spec.fetchConfig.digest"
  std::string value;  // as the user wrote it, for kInvalid and kUnsupported, or JSON for kDuplicate; "" to leave it out
  std::string detail;       // what is wrong; a full sentence where other tools know it by that text
  std::string_view reason;  // of condition PreflightCheckPassed; a constant of reasons.h

  // As the API server writes field errors: "spec.version: Invalid value: \"one\": could not parse ...".
  std::string ToString() const;
  std::string Body() const;  // the same without the path: of a cause in a Status
};

// In the order in which preflight reports them. Empty for an object that can be reconciled. `known`: a registry, the
// built-in one or that of the operator's configuration file, says where the provider's releases are (I2).
std::vector<FieldError> Validate(const Provider& provider, bool known);

// A reference to an object of another namespace than the provider's own (T1).
struct ForeignReference {
  std::string path;  // "spec.configSecret.namespace"
  std::string ns;
  std::string kind = {};  // "Secret" or "ConfigMap"
  std::string name = {};
  bool operator==(const ForeignReference&) const = default;
};
std::vector<ForeignReference> ForeignReferences(const Provider& provider);

// What admission adds for a change: with spec.manager.debug the other manager fields can't change (I9).
std::vector<FieldError> ValidateUpdate(const Provider& old, const Provider& provider);

}  // namespace capi::api
