// Seventh step: spec.deployment, spec.manager and spec.additionalDeployments find their Deployments.
#pragma once

#include <string>
#include <vector>

#include "api/types.h"
#include "base/result.h"
#include "kube/meta/object.h"
#include "templating/customise/known_managers.h"

namespace capi::templating {

// A release's only Deployment, or each one called ca*-controller-manager, gets spec.deployment and then spec.manager;
// any other gets what additionalDeployments has under its name. Entries that reach no Deployment become warnings.
// `known` is what is known of the provider's own manager. kUnsupported for a field of spec.manager that it has no flag
// for.
Status Customise(std::vector<kube::Object>& objects, const api::ProviderSpec& spec, const KnownManager* known,
                 std::vector<std::string>& warnings);

// The part of the spec that reaches the Deployment of that name; null for none. `only_one`: the provider has no other.
const api::DeploymentSpec* DeploymentSpecOf(const api::ProviderSpec& spec, const std::string& name, bool only_one);

}  // namespace capi::templating
