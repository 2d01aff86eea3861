// spec.deployment, carried into a Deployment (behaviour.md I9).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::templating {

// The container named "manager", else the first; null where there is none.
Json* ManagerContainer(kube::Object& deployment);

// A field that is given replaces what the release has; an empty list or map clears it. `path` is where the spec stands
// ("spec.deployment"), for errors (kInvalidArgument) and `warnings`.
Status CustomiseDeployment(kube::Object& deployment, const api::DeploymentSpec& spec, std::string_view path,
                           std::vector<std::string>& warnings);

}  // namespace capi::templating
