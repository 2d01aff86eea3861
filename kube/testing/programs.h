// Where the real programs are that tests start.
#pragma once

#include <string>

#include "base/result.h"

namespace capi::kube {

// Path of "etcd", "kubectl", ...: in $CAPI_ASSETS_BIN, $KUBEBUILDER_ASSETS, PATH, else what tools/assets says, which
// may build it first. Thread-safe.
Result<std::string> FindProgram(const std::string& name);

}  // namespace capi::kube
