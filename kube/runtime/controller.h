// Workers over a work queue.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "kube/runtime/metrics.h"
#include "kube/runtime/work_queue.h"

namespace capi::kube {

// When the key is worked on again if nothing wakes it before; nobody else schedules it (behaviour.md F5). An error
// instead means: by the queue's back-off, no earlier than its retry_after. A value.
struct Outcome {
  // The queue's back-off of the key begins anew after kFine alone. What ends in an error, or by an exception, that the
  // pass has told of itself counts as if it had returned or thrown it.
  enum class End { kFine, kBacksOff, kError, kThrew };

  std::optional<Millis> again_after;  // not set: nothing to do until something changes
  End end = End::kFine;
  Priority priority = Priority::kNormal;  // of the next one, where nothing wakes it before (behaviour.md F10)
};

struct ControllerOptions {
  std::string name;  // for logs and metrics: controller_runtime_reconcile_total{controller=name}
  int workers = 4;
  BackoffOptions backoff;
};

// Thread-safe.
class Controller {
 public:
  using Reconcile = std::function<Result<Outcome>(const Context&, const std::string& key)>;
  // `metrics` and `clock` outlive the controller.
  Controller(ControllerOptions options, Reconcile reconcile, Metrics& metrics, Clock& clock);
  ~Controller();

  const std::string& name() const;
  WorkQueue& queue();
  // Blocks until the context stops; passes in flight are given the stopped context and awaited.
  void Run(const Context& ctx);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
