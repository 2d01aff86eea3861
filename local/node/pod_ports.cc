#include "local/node/pod_ports.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "local/node/command/arguments.h"
#include "local/node/probes.h"
#include "local/node/services/listeners.h"

namespace capi::local {
namespace {

std::vector<std::string> WordsOf(const Json& container) {
  std::vector<std::string> words;
  for (const char* field : {"command", "args"}) {
    const Json* list = Find(container, {field});
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& word : *list) words.push_back(word.is_string() ? word.get<std::string>() : "");
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

bool NamesInUrl(const Json& container, int port) {
  const std::vector<std::string> words = WordsOf(container);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return PortInUrl(word, port); });
}

}  // namespace

Result<PodPorts> PodPorts::Make(const kube::Object& pod) {
  PodPorts made;
  const Json* all = Find(pod.json(), {"spec", "containers"});
  if (all == nullptr || !all->is_array() || all->size() < 2) return made;
  for (const Json& container : *all) {
    const std::string name = GetString(container, {"name"});
    for (int port : PortsThatArgumentsLead(container)) {
      const bool named = std::any_of(all->begin(), all->end(), [&](const Json& other) {
        return GetString(other, {"name"}) != name && NamesInUrl(other, port);
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
