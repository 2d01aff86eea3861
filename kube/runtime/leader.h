// Leader election by a Lease (coordination.k8s.io/v1), compatible with client-go's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "kube/client/client.h"

namespace capi::kube {

struct LeaderOptions {
  std::string ns, name;
  std::string identity;  // host name and a random part
  Seconds lease_duration{15}, renew_deadline{10}, retry_period{2};
};

// The requests of an elector: Get, Create, Update and Watch of its Lease.
struct LeaseApi {
  std::function<Result<Object>(const Context&)> get;
  std::function<Result<Object>(const Context&, const Object&)> create, update;
  // What becomes of the Lease after the version that is given, until `on_change` or the context ends it, or the server
  // does (Ok). May be left empty: then the Lease is read again and again.
  std::function<Status(const Context&, const Object&, const std::function<Status(WatchEvent)>& on_change)> watch = {};
};

// behaviour.md F4. What others wrote is timed from when it was seen, on the monotonic clock: no clock of another
// machine counts. Thread-safe.
class LeaderElector {
 public:
  LeaderElector(Client& client, LeaderOptions options);
  LeaderElector(LeaseApi api, LeaderOptions options);  // of another source than a client
  ~LeaderElector();

  // Blocks until this process leads (renewing in a thread of its own from then on), or the context stops (kCancelled).
  // A Lease that is given back, or that its holder leaves to run out, is taken at once; where it can't be watched,
  // within a retry period. One that is deleted counts as its holder's for as long as it would have lasted. Once; an
  // elector that has lost doesn't come back. Its clock and log are those of `ctx`.
  Status Acquire(const Context& ctx);
  // Stops when the lease is lost, not renewed within renew_deadline, given back, or the context of Acquire stops: from
  // then on no write may start.
  std::stop_token lost() const;
  // Monotonic time after which the lease may be somebody else's.
  MonoTime valid_until() const;
  // kFailedPrecondition before the lease is ours, once it is lost, and renew_deadline after the last renewal, so that a
  // write on its way ends before the lease does: for Client::GuardWrites. A process that stood still (stopped, swapped
  // out; not one whose machine was suspended) finds out here, before lost() tells.
  Status MayWrite(const Context& ctx) const;
  // Gives the lease back (empty holder, so that the next one need not wait) where nobody else has it. After all work
  // has ended. `ctx` must not be stopped yet.
  void Release(const Context& ctx);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
