// Where the real programs are that tests start.
#pragma once

#include <string>

#include "base/result.h"

namespace capi::kube {

// Path of "etcd", "kubectl", ...: in $CAPI_ASSETS_BIN, $KUBEBUILDER_ASSETS, else where tools/assets has it: its cache,
// or PATH for what any machine may have. Nothing is built inside a test; kNotFound names the command that does.
// Thread-safe.
Result<std::string> FindProgram(const std::string& name);

}  // namespace capi::kube
