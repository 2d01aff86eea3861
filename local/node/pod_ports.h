// Ports at which the containers of a Pod reach each other (behaviour.md G5).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "kube/meta/object.h"

namespace capi::local {

// A port that an argument of one container leads elsewhere, and another container of the Pod names in a URL on this
// machine (a proxy its manager's metrics, say), has one place for as long as the Pod is there: both are led to it.
// Thread-safe.
class PodPorts {
 public:
  PodPorts() = default;  // of a Pod without such a port
  // kUnavailable where there is no free port.
  static Result<PodPorts> Make(const kube::Object& pod);

  // Where `port` of `container` is on loopback; nullopt where nobody else names it.
  std::optional<int> Of(const std::string& container, int port) const;
  // Those of the others, as the URLs of `container` name them -> of loopback.
  std::map<int, int> OfOthers(const std::string& container) const;

 private:
  std::map<std::string, std::map<int, int>> ports_;  // by container
};

// The ports that URLs on this machine name in the container's command, arguments, and variables with a `value`.
std::set<int> PortsNamedInUrls(const Json& container);

}  // namespace capi::local
