// Leader election by a Lease (coordination.k8s.io/v1), compatible with client-go's.
#pragma once

#include <functional>
#include <string>

#include "base/context.h"
#include "kube/client/client.h"

namespace capi::kube {

struct LeaderOptions {
  std::string ns, name;
  std::string identity;  // host name and a random part
  Seconds lease_duration{15}, renew_deadline{10}, retry_period{2};
};

// behaviour.md F4. Thread-safe.
class LeaderElector {
 public:
  LeaderElector(Client& client, LeaderOptions options);
  ~LeaderElector();

  // Blocks until this process leads (renewing in a thread of its own from then on), or the context stops (kCancelled).
  Status Acquire(const Context& ctx);
  // Stops when the lease is lost, not renewed within renew_deadline, or the context of Acquire stops: from
  // then on no write may start.
  std::stop_token lost() const;
  // Monotonic time after which the lease may be somebody else's.
  MonoTime valid_until() const;
  // Gives the lease back (empty holder, so that the next one need not wait). After all work has ended.
  void Release(const Context& ctx);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
