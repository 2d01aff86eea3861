// Versions as a proxy of Go modules lists them: it counts no requests, and is asked where GOPROXY names one, as Cluster
// API's clusterctl does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/version.h"
#include "base/context.h"
#include "fetch/repository.h"

namespace capi::fetch {

// URL of the proxy that a value of GOPROXY begins with, a list between commas or bars; "" where that is none: "off",
// "direct", or nothing. https where it has no scheme. A user in it is dropped.
std::string ModuleProxyIn(std::string_view goproxy);

// Versions of module github.com/{owner}/{repository} and of those of its later major versions, until one isn't there.
// kNotFound for none at all.
Result<std::vector<api::Version>> ModuleVersions(const Context& ctx, const HttpOptions& options,
                                                 const std::string& proxy, std::string_view owner,
                                                 std::string_view repository);

}  // namespace capi::fetch
