// The choice among releases in ConfigMaps (docs/formats.md, "Release ConfigMap") of files.
#pragma once

#include <string>
#include <vector>

#include "api/types.h"
#include "base/context.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::cli {

// The one among `maps` that counts (behaviour.md I14) of those that fetchConfig.selector selects, which is there, and
// that have spec.version ("": the newest that fits one of `contracts`, I3). kNotFound names the versions that there
// are; kInvalidArgument for a selector that is none, and where there are versions, and none of them fits.
Result<const kube::Object*> SelectRelease(const Context& ctx, std::vector<const kube::Object*> maps,
                                          const api::Provider& provider, const std::vector<std::string>& contracts);

}  // namespace capi::cli
