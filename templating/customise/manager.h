// spec.manager, carried into the args and probes of a manager (behaviour.md I9, I9a).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/types.h"
#include "base/result.h"
#include "kube/meta/object.h"
#include "templating/customise/known_managers.h"

namespace capi::templating {

// Each field becomes the flag that this manager has: the release's own args tell, then what is known of the manager,
// and for an unknown one (`known` is null) it is the flag that kubernetes-sigs/cluster-api-operator would set.
// kUnsupported, naming every such field, where a known manager's sources have no flag for it; where they are those of
// another version, a warning says so. `given_args` are flags that
// spec.deployment gave to the manager's container: a concurrency flag among them wins over maxConcurrentReconciles.
Status CustomiseManager(kube::Object& deployment, const api::ManagerSpec& spec, const KnownManager* known,
                        std::string_view path, const std::set<std::string>& given_args,
                        std::vector<std::string>& warnings);

}  // namespace capi::templating
