// What is measured of a work queue, under the names that client-go and controller-runtime have for it.
#pragma once

#include <array>
#include <string>

#include "kube/runtime/metrics.h"
#include "kube/runtime/work_queue.h"

namespace capi::kube {

// Thread-safe. `metrics` outlives it.
class WorkQueueMetrics : public WorkQueueEvents {
 public:
  WorkQueueMetrics(Metrics& metrics, const std::string& controller);
  void OnSize(Priority priority, size_t size) override;
  void OnAdd() override;
  void OnAddAfter() override;
  void OnGet(Priority priority, MonoTime::duration waited) override;
  void OnDone(MonoTime::duration worked) override;
  // Of a pass that hangs nothing else tells.
  void Show(const WorkInHand& work);

 private:
  WorkQueueMetrics(Metrics& metrics, const Labels& labels);

  std::array<Metrics::Sample, kPriorities.size()> depth_, waited_;  // by priority
  const Metrics::Sample adds_, retries_, worked_, unfinished_, longest_;
};

}  // namespace capi::kube
