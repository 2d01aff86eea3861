// Holds calls back while the API server is away, so that all of a client's callers together ask twice a second at most.
#pragma once

#include <optional>
#include <string>

#include "base/context.h"
#include "base/mutex.h"

namespace capi::kube {

// Open while calls get answers. After a lost connection one call may pass at once, then one each half second, until
// one gets an answer. docs/behaviour.md F3. Thread-safe.
class OutageGate {
 public:
  // Waits for this call's turn. kUnavailable with the last failure where its deadline comes before its turn;
  // kCancelled.
  Status Enter(const Context& ctx) CAPI_EXCLUDES(mu_);
  void Answered(const Context& ctx) CAPI_EXCLUDES(mu_);
  // A call that began at `started` met a transport error. Ignored where another has been answered since.
  void Lost(const Context& ctx, MonoTime started, const Error& error) CAPI_EXCLUDES(mu_);

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  std::optional<std::string> failure_ CAPI_GUARDED_BY(mu_);  // set while away
  MonoTime next_turn_ CAPI_GUARDED_BY(mu_){};
  MonoTime last_answer_ CAPI_GUARDED_BY(mu_){};
};

}  // namespace capi::kube
