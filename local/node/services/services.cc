#include "local/node/services/services.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/meta/label_selector.h"
#include "local/node/command/arguments.h"
#include "local/node/node.h"

namespace capi::local {
namespace {

bool HasAddress(const kube::Object& service, const std::string& host) {
  if (const Json* all = Find(service.json(), {"spec", "clusterIPs"}); all != nullptr && all->is_array()) {
    for (const Json& one : *all) {
      if (one == host || "[" + (one.is_string() ? one.get<std::string>() : "") + "]" == host) return true;
    }
  }
  std::string name = fmt::format("{}.{}.svc", service.name(), service.ns());
  return GetString(service.json(), {"spec", "clusterIP"}) == host || host == name || host.starts_with(name + ".");
}

const Json* ServicePort(const kube::Object& service, int port) {
  const Json* ports = Find(service.json(), {"spec", "ports"});
  if (ports == nullptr || !ports->is_array()) return nullptr;
  auto found =
      std::find_if(ports->begin(), ports->end(), [&](const Json& one) { return GetInt(one, {"port"}) == port; });
  return found == ports->end() ? nullptr : &*found;
}

// The container's port of that name; 0 where there is none.
int PortOfName(const Json& containers, const std::string& name) {
  if (!containers.is_array()) return 0;
  for (const Json& container : containers) {
    const Json* ports = Find(container, {"ports"});
    if (ports == nullptr || !ports->is_array()) continue;
    for (const Json& port : *ports) {
      if (GetString(port, {"name"}) == name) return static_cast<int>(GetInt(port, {"containerPort"}));
    }
  }
  return 0;
}

int TargetOf(const Json& port, const Backend& pod) {
  const Json* target = Find(port, {"targetPort"});
  int own = static_cast<int>(GetInt(port, {"port"}));
  if (target != nullptr && target->is_number_integer()) own = target->get<int>();
  if (target != nullptr && target->is_string()) own = PortOfName(pod.containers, target->get<std::string>());
  auto led = pod.ports.find(own);
  if (led != pod.ports.end()) return led->second;
  // Another plane's process, say, may be there instead.
  return pod.listens && !pod.listens(own) ? 0 : own;
}

}  // namespace

Result<std::vector<int>> PortsOfService(const std::string& address, const std::vector<kube::ObjectPtr>& services,
                                        const std::vector<Backend>& pods) {
  std::optional<Address> asked = AddressOf(address);
  if (!asked || asked->host.empty()) return Error{Code::kNotFound, address + " is no address of a Service", {}};
  if (asked->host == kNodeName)
    return Error{
        Code::kNotFound,
        "the local plane has no kubelet: `clusterctl local logs` prints what a process has printed, and there is "
        "no exec, attach or port-forward",
        {}};
  auto service = std::find_if(services.begin(), services.end(),
                              [&](const kube::ObjectPtr& one) { return HasAddress(*one, asked->host); });
  if (service == services.end()) return Error{Code::kNotFound, "no Service has the address " + asked->host, {}};
  const std::string name = fmt::format("Service {}/{}", (*service)->ns(), (*service)->name());
  const Json* port = ServicePort(**service, asked->port);
  if (port == nullptr) return Error{Code::kNotFound, fmt::format("{} has no port {}", name, asked->port), {}};
  const Json* labels = Find((*service)->json(), {"spec", "selector"});
  auto selector = kube::LabelSelector::FromJson({{"matchLabels", labels == nullptr ? Json::object() : *labels}});
  std::vector<int> ports;
  bool any = false, ready = false;
  for (const Backend& pod : pods) {
    bool belongs = labels != nullptr && !labels->empty() && selector.ok() && pod.ns == (*service)->ns() &&
                   selector->Matches(pod.labels);
    any = any || belongs;
    ready = ready || (belongs && pod.ready);
    int target = belongs && pod.ready ? TargetOf(*port, pod) : 0;
    if (target != 0) ports.push_back(target);
  }
  if (!ports.empty()) return ports;
  const char* what = ready ? "pod that listens on its port" : any ? "pod that is ready" : "pods";
  return Error{Code::kUnavailable, fmt::format("{} has no {}", name, what), {}};
}

}  // namespace capi::local
