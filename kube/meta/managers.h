// Who has written an object, by its metadata.managedFields.
#pragma once

#include <string_view>

#include "kube/meta/object.h"

namespace capi::kube {

// Whether `manager` has written a field of it; with an `operation` ("Apply", "Update") by that one.
bool HasManager(const Object& object, std::string_view manager, std::string_view operation = "");

// Whether `manager` has, and nobody else.
bool HasManagerAlone(const Object& object, std::string_view manager);

}  // namespace capi::kube
