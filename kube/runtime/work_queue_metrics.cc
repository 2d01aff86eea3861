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
    : depth_(metrics.Gauge(kDepth, labels)),
      adds_(metrics.Counter(kAdds, labels)),
      retries_(metrics.Counter(kRetries, labels)),
      waited_(metrics.Histogram(kWaited, labels, QueueBuckets())),
      worked_(metrics.Histogram(kWorked, labels, QueueBuckets())),
      unfinished_(metrics.Gauge(kUnfinished, labels)),
      longest_(metrics.Gauge(kLongest, labels)) {}

void WorkQueueMetrics::OnSize(size_t size) { depth_(static_cast<double>(size)); }
void WorkQueueMetrics::OnAdd() { adds_(1); }
void WorkQueueMetrics::OnAddAfter() { retries_(1); }
void WorkQueueMetrics::OnGet(MonoTime::duration waited) { waited_(InSeconds(waited)); }
void WorkQueueMetrics::OnDone(MonoTime::duration worked) { worked_(InSeconds(worked)); }

void WorkQueueMetrics::Show(const WorkInHand& work) {
  unfinished_(InSeconds(work.together));
  longest_(InSeconds(work.longest));
}

}  // namespace capi::kube
