// Values for the variables that a real release leaves without a default.
#pragma once

#include <map>
#include <string>

#include "e2e/cluster.h"

namespace capi::e2e {

// Every "${NAME}" without a default in the components gets a text that is base64, so that Secrets take it.
std::map<std::string, std::string> VariablesOf(const ReleaseFolder& release);

}  // namespace capi::e2e
