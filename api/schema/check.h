// Checks a value against a schema of this folder, as the API server does with strict validation. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/validate/validate.h"
#include "base/json.h"

namespace capi::api {

// One thing that the API server would refuse. A value.
struct SchemaError {
  std::vector<std::string> steps;  // to the field: keys, and decimal indices of lists
  bool unknown_field = false;      // else the field has a value that it can't have
  FieldError error;                // of an unknown field its path alone

  std::string ToString() const;  // in the API server's words
};

// In the order of the value. `path`: what the value is, like "spec". Rules of change (oldSelf) aren't looked at.
std::vector<SchemaError> CheckSchema(const Json& value, const Json& schema, std::string_view path);

// Whether CheckSchema minds this keyword of a schema.
bool KnowsKeyword(std::string_view keyword);
// Whether CheckSchema carries out this rule of x-kubernetes-validations.
bool KnowsRule(std::string_view rule);

}  // namespace capi::api
