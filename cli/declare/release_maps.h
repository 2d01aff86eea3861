// The choice among releases in ConfigMaps (docs/formats.md, "Release ConfigMap"), in files or in a cluster.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::cli {

// The ConfigMap among `maps` that `selector` selects and that has `version` ("": the newest stable one, else the
// newest). kNotFound names the versions that there are; kInvalidArgument for a selector that is none.
Result<const kube::Object*> SelectRelease(const std::vector<const kube::Object*>& maps, const Json& selector,
                                          const std::string& version);

}  // namespace capi::cli
