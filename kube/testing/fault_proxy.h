// A proxy in front of the API server that makes the faults a real one won't make on demand, and counts requests.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/client/config/config.h"

namespace capi::kube {

struct ProxyRequest {
  std::string method, target, user_agent;
  int number = 0;  // 1 for the first
  bool watch = false;
};

struct Fault {
  Millis delay{0};
  bool drop = false;                // close the connection without an answer
  std::optional<size_t> cut_after;  // bytes of the answer's body, then close
  int status = 0;             // answer this (429, 409, 500, 410) with a metav1.Status instead of asking the server
  std::string retry_after;    // header of that answer
  bool after_server = false;  // drop or answer only after the server has done the request
  std::string message;        // of that answer; without quotes
};

// Listens on a free loopback port with TLS of its own. Thread-safe.
class FaultProxy {
 public:
  static Result<std::unique_ptr<FaultProxy>> Start(const Config& upstream);
  ~FaultProxy();
  Config config() const;                                         // as `upstream`, through the proxy
  std::string WriteKubeconfig(const std::string& folder) const;  // path
  // Null: none. When it returns, the former `faults` aren't called any more, so that what they use may go. Not to be
  // called by them.
  void SetFaults(std::function<Fault(const ProxyRequest&)> faults);
  void CutAllConnections();
  // As a server that is not there: connections are cut, and new ones reset before a byte.
  void SetAway(bool away);
  int refused() const;                         // connections that met that since the last Reset
  std::vector<ProxyRequest> requests() const;  // since the last Reset
  void Reset();

 private:
  class Impl;
  explicit FaultProxy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
