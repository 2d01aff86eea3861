// The choice among releases in ConfigMaps (docs/formats.md, "Release ConfigMap") of files.
#pragma once

#include <vector>

#include "api/types.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::cli {

// The one among `maps` that counts (behaviour.md I14) of those that fetchConfig.selector selects, which is there, and
// that have spec.version ("": the newest stable one, else the newest). kNotFound names the versions that there are;
// kInvalidArgument for a selector that is none.
Result<const kube::Object*> SelectRelease(std::vector<const kube::Object*> maps, const api::Provider& provider);

}  // namespace capi::cli
