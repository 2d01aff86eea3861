// Eighth step: spec.patches and spec.manifestPatches (behaviour.md I9).
#pragma once

#include <string>
#include <vector>

#include "api/types.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::templating {

// manifestPatches are merge patches (merge.h) for the objects that match what each has of apiVersion, kind,
// metadata.name and metadata.namespace. patches have a target (every field that is given has to be equal, labels by
// selector; none is every object), and are a list of RFC 6902 operations or a merge patch. A patch that matches nothing
// becomes a warning. kInvalidArgument, naming patch and object, where one can't be applied, where all together take too
// much (budget.h), or where `objects` would take more than `memory` bytes, about; `objects` are then undefined.
Status ApplyPatches(std::vector<kube::Object>& objects, const api::ProviderSpec& spec, size_t memory,
                    std::vector<std::string>& warnings);

}  // namespace capi::templating
