// Ports for servers of a test.
#pragma once

#include <cstddef>
#include <vector>

namespace capi::kube {

// Ports that were free a moment ago, on all interfaces.
std::vector<int> FreePorts(size_t count);

// A socket that listens on loopback, and its port; -1 for none.
int ListenOnLoopback(int& port);

// When it is closed, its other end sees an error and not an end: as if nobody had listened.
void ResetWhenClosed(int fd);

}  // namespace capi::kube
