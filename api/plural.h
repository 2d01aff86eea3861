// The plural that clusterctl wants to see in a CRD's name.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// "clusterclasses" for "ClusterClass": English, as the Go tools that generate CRDs have it.
std::string Plural(std::string_view kind);

// clusterctl installs a CRD only if it is called "<plural of its kind>.<group>" or carries the annotation
// clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check. kInvalidArgument, naming both names, for any other.
Status CheckCrdName(const Json& crd);

}  // namespace capi::api
