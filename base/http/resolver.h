// Host names to addresses, on a few threads of its own: a look-up can't be interrupted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"

namespace capi::http {

// Calls for one name share a look-up. A call that gives up leaves its look-up to end on its own; there are never more
// of them than `most_threads`, and what nobody waits for any more isn't begun. Thread-safe.
class Resolver {
 public:
  // The addresses of a host name, in the order in which to try them.
  using LookUp = std::function<Result<std::vector<std::string>>(const std::string& host)>;
  Resolver(LookUp look_up, size_t most_threads);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // The system's (getaddrinfo), which all connections share.
  static Resolver& System();

  // An IP address is its own answer. kUnavailable ("timed out") after `limit`, and with the look-up's own error;
  // kCancelled and kDeadlineExceeded from the context.
  Result<std::vector<std::string>> Resolve(const Context& ctx, const std::string& host, MonoTime limit);

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives this where a look-up hangs
};

}  // namespace capi::http
