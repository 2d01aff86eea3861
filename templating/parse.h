// Second step: the text becomes objects.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/meta/object.h"
#include "templating/source.h"
#include "templating/substitute.h"

namespace capi::templating {

// Where an object begins. A value.
struct ObjectPlace {
  size_t offset = 0;  // of its line in the source
  std::string item;   // "2" for the second item of a List, "2.1" where that is a List too; "" for a document

  std::string In(const Source& source) const;  // "line 12", "line 3 of the additional manifests, item 2"
};

// What the text holds, in its order. A value.
struct ParsedObjects {
  std::vector<kube::Object> objects;
  std::vector<ObjectPlace> places;  // of each
};

// Lists give their items. kInvalidArgument, with a place in the file as fetched, for text that isn't YAML and for
// documents that are no objects (no map, no kind, no apiVersion, no name); also for no object at all: an empty file
// must never read as "remove everything" (F2), and for what is beyond the limits. Where `check_types`, also for a field
// that the value of a variable gives another type than Kubernetes has for it.
Result<ParsedObjects> ParseObjects(const Source& source, const Substituted& substituted,
                                   const RenderLimits& limits = {}, bool check_types = true);

}  // namespace capi::templating
