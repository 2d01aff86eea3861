// What a deletion of a provider's objects has to mind (behaviour.md U4, X1).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace capi::lifecycle {

// Why a live object has to stay; "" where it may go. It sees metadata only.
using Keep = std::function<std::string(const kube::Object& live)>;

// Why a live object isn't this provider's to delete; "" where it is (U4).
Keep KeepsOthers(const api::ProviderId& id);

// Aggregated ClusterRoles cease to be that, so that nobody makes them anew while they and their parts are deleted.
Status StopAggregation(const Context& ctx, kube::Client& client, const std::vector<kube::ObjectId>& ids,
                       const Keep& keep);

}  // namespace capi::lifecycle
