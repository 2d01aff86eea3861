// What others own of a live object, for when it has to be replaced as a whole (behaviour.md U9).
#pragma once

#include <string_view>

#include "kube/meta/object.h"

namespace capi::kube {

enum class ForeignFields {
  kAll,       // every field that another manager than ours owns
  kMetadata,  // labels, annotations, finalizers, owners; and CA bundles that an injector filled in
};

// Copies from `live` to `desired` what another manager than `manager` owns by live's managedFields and `desired` lacks.
// Nothing that `desired` has is changed. Status is nobody's concern here: the server ignores it in a replace.
void KeepForeignFields(const Object& live, std::string_view manager, ForeignFields which, Object& desired);

}  // namespace capi::kube
