// api/testing/variables.h by the names that this folder's tests use.
#pragma once

#include "api/testing/variables.h"

namespace capi::e2e {

using api::AllVariablesOf;
using api::RequiredVariablesOf;
using api::VariablesOf;
using api::VariableValues;

}  // namespace capi::e2e
