// Runs the parts of an operator: servers, informers, leader election, controllers. Starts in order, stops in reverse;
// one part that fails ends them all.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "kube/cache/informer.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/leader.h"

namespace capi::kube {

// Order of start: parts, informers (until all have synced), the lease, parts and controllers that need it. A kind that
// can't be listed though the server answers (it isn't there, or may not be read) is gone on without after a while:
// Informer::refusal says so until it can.
// Thread-compatible until Run. What is added must outlive Run.
class Manager {
 public:
  explicit Manager(Clock& clock);
  ~Manager();

  // A part that blocks until its context stops; it gets a thread of its own. `needs_lead` parts start after the lease
  // is ours. One that returns before, or throws, has failed.
  void Add(std::string name, std::function<Status(const Context&)> run, bool needs_lead = false);
  void Add(Informer& informer);
  void Add(Controller& controller);  // needs the lead; starts after all informers have synced
  void LeadBy(LeaderElector& elector);

  // Blocks until `ctx` stops (Ok), the lease is lost (kFailedPrecondition), or a part fails (its error, with its name).
  // Waits for every part to end.
  Status Run(const Context& ctx);
  bool Ready() const;  // for /readyz: informers synced, as far as they can (leading or waiting to lead)

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
