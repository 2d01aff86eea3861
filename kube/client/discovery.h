// What an API server serves: discovery, aggregated (two requests) or not.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/json.h"
#include "kube/meta/resource.h"

namespace capi::kube {

// Performs a GET: path and Accept header to body.
using DiscoveryGetter =
    std::function<Result<std::string>(const Context&, std::string_view path, std::string_view accept)>;

struct Discovery {
  std::vector<Resource> resources;  // groups as the server orders them; within a group its preferred version first
  std::set<std::string> stale;      // groups whose answer is old or missing (an aggregated API that is down)
};

// Asks /api and /apis for aggregated discovery. A server that doesn't offer it is asked for each group and version; one
// of those that fails makes its group stale, and nothing else.
Result<Discovery> Discover(const Context& ctx, const DiscoveryGetter& get);

}  // namespace capi::kube
