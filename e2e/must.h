// base/testing/must.h by the name that this folder's tests use.
#pragma once

#include "base/testing/must.h"

namespace capi::e2e {

using ::capi::Must;

}  // namespace capi::e2e
