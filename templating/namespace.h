// Fourth step: the release's namespace becomes the target namespace (behaviour.md I8), as clusterctl's
// --target-namespace does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/meta/object.h"
#include "templating/scope.h"

namespace capi::templating {

// Name of the one Namespace object; "" where there is none. kInvalidArgument where there are two: flattening them into
// one namespace would lose objects.
Result<std::string> OwnNamespace(const std::vector<kube::Object>& objects);

// Moves every object into `target`: metadata.namespace, the Namespace object's name, subjects of bindings, services of
// webhooks, conversions and APIServices, cert-manager's annotation and DNS names. Cluster-scoped objects have none
// afterwards.
Status FixNamespace(std::vector<kube::Object>& objects, std::string_view target, const ScopeLookup& lookup);

}  // namespace capi::templating
