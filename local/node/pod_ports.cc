#include "local/node/pod_ports.h"

#include <algorithm>
#include <vector>

#include "local/node/command/arguments.h"
#include "local/node/command/expand.h"
#include "local/node/probes.h"
#include "local/node/services/listeners.h"

namespace capi::local {
namespace {

// Of its variables those whose values are here, or are this machine's address.
Variables KnownOf(const Json& container) {
  Variables out;
  const Json* all = Find(container, {"env"});
  if (all == nullptr || !all->is_array()) return out;
  for (const Json& one : *all) {
    const std::string name = GetString(one, {"name"}), field = GetString(one, {"valueFrom", "fieldRef", "fieldPath"});
    if (Find(one, {"valueFrom"}) == nullptr) out[name] = Expand(GetString(one, {"value"}), out);
    if (field.starts_with("status.podIP") || field.starts_with("status.hostIP")) out[name] = "127.0.0.1";
  }
  return out;
}

std::vector<std::string> WordsOf(const Json& container) {
  const Variables known = KnownOf(container);
  std::vector<std::string> words;
  for (const char* field : {"command", "args"}) {
    const Json* list = Find(container, {field});
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& word : *list) words.push_back(Expand(word.is_string() ? word.get<std::string>() : "", known));
  }
  return words;
}

// Whatever its program knows beside them.
std::set<int> PortsThatArgumentsLead(const Json& container) {
  const std::vector<int> ports = PortsOf(container);
  ArgumentOptions options{.ports = std::set<int>(ports.begin(), ports.end())};
  options.port_of = [](int port) { return port; };
  std::set<int> led;
  for (const auto& [port, same] : ArgumentsOnLoopback(WordsOf(container), options).ports) led.insert(port);
  return led;
}

}  // namespace

std::set<int> PortsNamedInUrls(const Json& container) {
  std::set<int> out;
  for (const std::string& word : WordsOf(container)) out.merge(PortsInUrls(word));
  for (const auto& [name, value] : KnownOf(container)) out.merge(PortsInUrls(value));
  return out;
}

Result<PodPorts> PodPorts::Make(const kube::Object& pod) {
  PodPorts made;
  const Json* all = Find(pod.json(), {"spec", "containers"});
  if (all == nullptr || !all->is_array() || all->size() < 2) return made;
  for (const Json& container : *all) {
    const std::string name = GetString(container, {"name"});
    for (int port : PortsThatArgumentsLead(container)) {
      const bool named = std::any_of(all->begin(), all->end(), [&](const Json& other) {
        return GetString(other, {"name"}) != name && PortsNamedInUrls(other).contains(port);
      });
      if (named) made.ports_[name][port] = TRY(FreePort());
    }
  }
  return made;
}

std::optional<int> PodPorts::Of(const std::string& container, int port) const {
  auto own = ports_.find(container);
  if (own == ports_.end()) return std::nullopt;
  auto led = own->second.find(port);
  return led == own->second.end() ? std::nullopt : std::optional(led->second);
}

std::map<int, int> PodPorts::OfOthers(const std::string& container) const {
  std::map<int, int> out;
  for (const auto& [name, ports] : ports_) {
    if (name != container) out.insert(ports.begin(), ports.end());
  }
  return out;
}

}  // namespace capi::local
