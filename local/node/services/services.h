// From the address of a Service to the processes behind it (behaviour.md G6). Pure.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/cache/store.h"
#include "local/node/pod_facts.h"

namespace capi::local {

// A Pod that runs here, as far as Services ask. A value.
struct Backend {
  std::string ns;
  Json labels;
  Json containers;           // of its spec
  bool ready = false;        // and it isn't told to end
  std::map<int, int> ports;  // of its containers -> of loopback
  // Of a port that isn't led elsewhere: one of its processes listens there. Unset: so it is.
  std::function<bool(int port)> listens{};
};

// The ports on loopback of all ready Pods of the Service at "IP:PORT" ("NAME.NAMESPACE.svc:PORT" too). kNotFound where
// no Service has that address or port, with what to do instead where a kubelet is asked for; kUnavailable where none of
// its Pods is ready, or listens.
Result<std::vector<int>> PortsOfService(const std::string& address, const std::vector<kube::ObjectPtr>& services,
                                        const std::vector<Backend>& pods);

}  // namespace capi::local
