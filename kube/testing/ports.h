// Ports for servers of a test.
#pragma once

#include <cstddef>
#include <vector>

namespace capi::kube {

// Ports that were free a moment ago, on all interfaces.
std::vector<int> FreePorts(size_t count);

}  // namespace capi::kube
