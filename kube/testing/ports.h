// Ports for servers of a test.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace capi::kube {

// Ports that were free a moment ago, on all interfaces.
std::vector<int> FreePorts(size_t count);

// An address of loopback that no other process on this machine gets by this call: for what listens on a fixed port.
std::string OwnAddress();

// A socket that listens on loopback, and its port; -1 for none.
int ListenOnLoopback(int& port);

// When it is closed, its other end sees an error and not an end: as if nobody had listened.
void ResetWhenClosed(int fd);

}  // namespace capi::kube
