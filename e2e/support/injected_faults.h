// Faults of a proxy for as long as what they use is there.
#pragma once

#include <functional>
#include <utility>

#include "kube/testing/fault_proxy.h"

namespace capi::e2e {

// Sets them, and takes them back at its end: a test that ends at an ASSERT leaves the proxy nothing that calls into its
// frame while the operator goes on. Declared after all that `faults` uses; the proxy outlives it. Thread-compatible.
class InjectedFaults {
 public:
  InjectedFaults(kube::FaultProxy& proxy, std::function<kube::Fault(const kube::ProxyRequest&)> faults)
      : proxy_(proxy) {
    proxy_.SetFaults(std::move(faults));
  }
  ~InjectedFaults() { Clear(); }
  InjectedFaults(const InjectedFaults&) = delete;
  InjectedFaults& operator=(const InjectedFaults&) = delete;
  void Clear() { proxy_.SetFaults(nullptr); }

 private:
  kube::FaultProxy& proxy_;
};

}  // namespace capi::e2e
