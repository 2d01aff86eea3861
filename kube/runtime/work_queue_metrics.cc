#include "kube/runtime/work_queue_metrics.h"

namespace capi::kube {
namespace {

constexpr MetricFamily kDepth{"workqueue_depth", "Keys that wait to be worked on"};
constexpr MetricFamily kAdds{"workqueue_adds_total", "Keys that were put into the queue"};
constexpr MetricFamily kRetries{"workqueue_retries_total", "Keys that were to be put into the queue later"};
constexpr MetricFamily kWaited{"workqueue_queue_duration_seconds", "How long a key waits in the queue"};
constexpr MetricFamily kWorked{"workqueue_work_duration_seconds", "How long a key is worked on"};
constexpr MetricFamily kUnfinished{"workqueue_unfinished_work_seconds",
                                   "How long the keys that are in work have been, together"};
constexpr MetricFamily kLongest{"workqueue_longest_running_processor_seconds",
                                "How long the key that has been in work for the longest has been"};

// As controller-runtime's numbers for it: 0 for what has none, -100 for what a first list or a resync brings.
const char* ValueOf(Priority priority) {
  switch (priority) {
    case Priority::kNow: return "100";
    case Priority::kNormal: return "0";
    case Priority::kLater: return "-100";
  }
  return "";
}

double InSeconds(MonoTime::duration time) { return std::chrono::duration<double>(time).count(); }

// client-go's: ten nanoseconds, and ten times more eleven times.
const Buckets& QueueBuckets() {
  static const Buckets buckets = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000};
  return buckets;
}

}  // namespace

WorkQueueMetrics::WorkQueueMetrics(Metrics& metrics, const std::string& controller)
    : WorkQueueMetrics(metrics, Labels{{"controller", controller}, {"name", controller}}) {}

WorkQueueMetrics::WorkQueueMetrics(Metrics& metrics, const Labels& labels)
    : adds_(metrics.Counter(kAdds, labels)),
      retries_(metrics.Counter(kRetries, labels)),
      worked_(metrics.Histogram(kWorked, labels, QueueBuckets())),
      unfinished_(metrics.Gauge(kUnfinished, labels)),
      longest_(metrics.Gauge(kLongest, labels)) {
  for (Priority priority : kPriorities) {
    Labels with = labels;
    with["priority"] = ValueOf(priority);
    depth_[static_cast<size_t>(priority)] = metrics.Gauge(kDepth, with);
    waited_[static_cast<size_t>(priority)] = metrics.Histogram(kWaited, with, QueueBuckets());
  }
}

void WorkQueueMetrics::OnSize(Priority priority, size_t size) {
  depth_[static_cast<size_t>(priority)](static_cast<double>(size));
}
void WorkQueueMetrics::OnAdd() { adds_(1); }
void WorkQueueMetrics::OnAddAfter() { retries_(1); }
void WorkQueueMetrics::OnGet(Priority priority, MonoTime::duration waited) {
  waited_[static_cast<size_t>(priority)](InSeconds(waited));
}
void WorkQueueMetrics::OnDone(MonoTime::duration worked) { worked_(InSeconds(worked)); }

void WorkQueueMetrics::Show(const WorkInHand& work) {
  unfinished_(InSeconds(work.together));
  longest_(InSeconds(work.longest));
}

}  // namespace capi::kube
