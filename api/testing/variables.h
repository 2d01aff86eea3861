// Values for the variables of a release.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/testing/release_folder.h"

namespace capi::api {

using VariableValues = std::map<std::string, std::string>;

// Every "${NAME}" without a default gets a text that is base64, so that Secrets take it.
VariableValues RequiredVariablesOf(std::string_view components);
VariableValues VariablesOf(const ReleaseFolder& release);

// Every variable of the text, those with a default too, gets a value that isn't the default but could stand there.
VariableValues AllVariablesOf(std::string_view components);

}  // namespace capi::api
