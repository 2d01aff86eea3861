// What lies in the cluster of a release's objects.
#pragma once

#include <map>
#include <vector>

#include "kube/client/client.h"

namespace capi::kube {

// Those of `objects` that are there, each read at the version that it has here; kinds that the server lacks are left
// out.
Result<std::map<ObjectId, Object>> ReadLive(const Context& ctx, Client& client, const std::vector<Object>& objects);

}  // namespace capi::kube
