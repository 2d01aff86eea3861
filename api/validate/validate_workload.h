// The part of Validate that reads spec.manager and spec.deployment, and those of spec.additionalDeployments: what a
// manager or the API server would refuse later. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/validate/validate.h"

namespace capi::api {

// `path`: of the manager, "spec.manager".
void CheckManager(const std::optional<ManagerSpec>& manager, const std::string& path, std::vector<FieldError>& out);
// `path`: of the deployment, "spec.deployment".
void CheckDeployment(const std::optional<DeploymentSpec>& deployment, const std::string& path,
                     std::vector<FieldError>& out);

}  // namespace capi::api
