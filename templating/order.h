// Sixth step: the order in which clusterctl creates objects.
#pragma once

#include <vector>

#include "kube/meta/object.h"

namespace capi::templating {

// Namespaces first, then objects of group cert-manager.io in *reverse* order of the text (clusterctl's comparison isn't
// strict, and that is what its sort makes of it), then the rest as written.
void SortForCreation(std::vector<kube::Object>& objects);

}  // namespace capi::templating
