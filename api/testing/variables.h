// Values for the variables of a release.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/testing/release_folder.h"

namespace capi::api {

using VariableValues = std::map<std::string, std::string>;

// Where a variable stands in a text: "${NAME}", "${NAME:=15m}", or "${NAME/#arn/role: arn}". A value.
struct VariablePlace {
  size_t begin = 0, end = 0;  // one past the closing brace
  std::string name;
  bool required = false;  // "${NAME}": it has no default
  std::string fallback;   // its default: "15m"
  std::string replaces;   // at the beginning of a value: "arn"
};
// In order; what stands in the default of another follows that one.
std::vector<VariablePlace> VariablePlaces(std::string_view text);
// The text with these values, and with defaults where they lack one. None may begin with what would be replaced.
std::string FillVariables(std::string_view text, const VariableValues& values);

// Every "${NAME}" without a default gets a text that is base64, so that Secrets take it.
VariableValues RequiredVariablesOf(std::string_view components);
VariableValues VariablesOf(const ReleaseFolder& release);

// Every variable of the text, those with a default too, gets a value that isn't the default but could stand there.
VariableValues AllVariablesOf(std::string_view components);

}  // namespace capi::api
