// Seventh step: spec.deployment, spec.manager and spec.additionalDeployments find their Deployments.
#pragma once

#include <string>
#include <vector>

#include "api/types.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::templating {

// A release's only Deployment, or each one called ca*-controller-manager, gets spec.deployment and then spec.manager;
// any other gets what additionalDeployments has under its name. Entries that reach no Deployment become warnings.
Status Customise(std::vector<kube::Object>& objects, const api::ProviderSpec& spec, std::vector<std::string>& warnings);

}  // namespace capi::templating
