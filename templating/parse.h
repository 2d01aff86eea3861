// Second step: text to objects.
#pragma once

#include <vector>

#include "base/result.h"
#include "kube/meta/object.h"
#include "templating/source.h"
#include "templating/substitute.h"

namespace capi::templating {

// The objects in the order of the text. kInvalidArgument, with a place in the file as fetched, for text that isn't YAML
// and for documents that are no objects (no map, no kind, no apiVersion, no name); also for no object at all: an empty
// file must never read as "remove everything" (F2).
Result<std::vector<kube::Object>> ParseObjects(const Source& source, const Substituted& substituted);

}  // namespace capi::templating
