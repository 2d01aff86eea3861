#include "kube/runtime/work_queue_metrics.h"

namespace capi::kube {
namespace {

constexpr char kDepth[] = "workqueue_depth";
constexpr char kDepthHelp[] = "Keys that wait to be worked on";
constexpr char kAdds[] = "workqueue_adds_total";
constexpr char kAddsHelp[] = "Keys that were put into the queue";
constexpr char kRetries[] = "workqueue_retries_total";
constexpr char kRetriesHelp[] = "Keys that were to be put into the queue later";
constexpr char kWaited[] = "workqueue_queue_duration_seconds";
constexpr char kWaitedHelp[] = "How long a key waits in the queue";
constexpr char kWorked[] = "workqueue_work_duration_seconds";
constexpr char kWorkedHelp[] = "How long a key is worked on";
constexpr char kUnfinished[] = "workqueue_unfinished_work_seconds";
constexpr char kUnfinishedHelp[] = "How long the keys that are in work have been, together";
constexpr char kLongest[] = "workqueue_longest_running_processor_seconds";
constexpr char kLongestHelp[] = "How long the key that has been in work for the longest has been";

double InSeconds(MonoTime::duration time) { return std::chrono::duration<double>(time).count(); }

// client-go's: ten nanoseconds, and ten times more eleven times.
const Buckets& QueueBuckets() {
  static const Buckets buckets = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000};
  return buckets;
}

}  // namespace

WorkQueueMetrics::WorkQueueMetrics(Metrics& metrics, const std::string& controller)
    : metrics_(metrics), labels_{{"controller", controller}, {"name", controller}} {
  OnSize(0);
  metrics_.Count(kAdds, kAddsHelp, labels_, 0);
  metrics_.Count(kRetries, kRetriesHelp, labels_, 0);
}

void WorkQueueMetrics::OnSize(size_t size) { metrics_.Set(kDepth, kDepthHelp, labels_, static_cast<double>(size)); }
void WorkQueueMetrics::OnAdd() { metrics_.Count(kAdds, kAddsHelp, labels_); }
void WorkQueueMetrics::OnAddAfter() { metrics_.Count(kRetries, kRetriesHelp, labels_); }
void WorkQueueMetrics::OnGet(MonoTime::duration waited) {
  metrics_.Observe(kWaited, kWaitedHelp, labels_, InSeconds(waited), QueueBuckets());
}
void WorkQueueMetrics::OnDone(MonoTime::duration worked) {
  metrics_.Observe(kWorked, kWorkedHelp, labels_, InSeconds(worked), QueueBuckets());
}

void WorkQueueMetrics::Show(const WorkInHand& work) {
  metrics_.Set(kUnfinished, kUnfinishedHelp, labels_, InSeconds(work.together));
  metrics_.Set(kLongest, kLongestHelp, labels_, InSeconds(work.longest));
}

}  // namespace capi::kube
