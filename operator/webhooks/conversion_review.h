// The webhook that converts provider objects between v1alpha1 and v1alpha2.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace capi::ops {

// Answers a ConversionReview of apiextensions.k8s.io/v1: with all objects, or with why one of them can't be converted,
// and which. kInvalidArgument for what is no such review. Pure and thread-safe.
Result<Json> ReviewConversion(Json review);

}  // namespace capi::ops
