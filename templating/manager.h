// spec.manager, carried into the args and probes of a manager (behaviour.md I9, I9a).
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "api/types.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::templating {

// Each field becomes the flag that this manager has, as far as the release's own args tell, else the flag that
// kubernetes-sigs/cluster-api-operator would set. `given_args` are flags that spec.deployment gave to the manager's
// container: a concurrency flag among them wins over maxConcurrentReconciles.
Status CustomiseManager(kube::Object& deployment, const api::ManagerSpec& spec, std::string_view path,
                        const std::set<std::string>& given_args);

}  // namespace capi::templating
