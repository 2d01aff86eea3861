// A Service in small: one port of its own, and connections to it passed on to those who are ready.
#pragma once

#include <memory>
#include <vector>

namespace capi::e2e {

// Listens on loopback from its construction on. Each connection goes to one of the targets in turn and stays there,
// also when that is a target no longer; without any target it is reset. Thread-safe.
class Forwarder {
 public:
  Forwarder();
  ~Forwarder();  // cuts all connections
  int port() const;
  void SetTargets(std::vector<int> ports);  // on loopback

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::e2e
