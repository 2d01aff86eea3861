#include "kube/runtime/work_queue_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::kube {
namespace {

using ::testing::HasSubstr;

std::string Line(const std::string& name, const std::string& value) {
  return name + R"({controller="provider",name="provider"} )" + value + "\n";
}

std::string Line(const std::string& name, const std::string& priority, const std::string& value) {
  return name + R"({controller="provider",name="provider",priority=")" + priority + "\"} " + value + "\n";
}

// The names that dashboards for controllers ask for.
TEST(WorkQueueMetrics, AreThoseOfClientGo) {
  FakeClock clock;
  Metrics metrics;
  WorkQueueMetrics shown(metrics, "provider");
  WorkQueue queue(clock, {.jitter = 0}, 1, &shown);
  for (const char* name : {"workqueue_adds_total", "workqueue_retries_total", "workqueue_work_duration_seconds_count",
                           "workqueue_unfinished_work_seconds", "workqueue_longest_running_processor_seconds"}) {
    EXPECT_THAT(metrics.Text(), HasSubstr(Line(name, "0")));
  }
  for (const char* name : {"workqueue_depth", "workqueue_queue_duration_seconds_count"}) {
    for (const char* priority : {"100", "0", "-100"}) {
      EXPECT_THAT(metrics.Text(), HasSubstr(Line(name, priority, "0")));
    }
  }
  std::stop_token never;
  queue.Add("a", Priority::kNormal);
  queue.Add("a", Priority::kNormal);
  queue.Add("b", Priority::kNormal);
  queue.AddAfter("c", Seconds(60));
  clock.Advance(Seconds(2));
  ASSERT_EQ(queue.Get(never), "a");
  clock.Advance(Seconds(3));
  ASSERT_EQ(queue.Get(never), "b");
  clock.Advance(Seconds(1));
  shown.Show(queue.in_hand());
  std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr(Line("workqueue_adds_total", "2")));
  EXPECT_THAT(text, HasSubstr(Line("workqueue_retries_total", "1")));
  EXPECT_THAT(text, HasSubstr(Line("workqueue_depth", "0", "0")));
  EXPECT_THAT(text, HasSubstr(Line("workqueue_queue_duration_seconds_sum", "0", "7"))) << "2 s and 5 s";
  EXPECT_THAT(text, HasSubstr(Line("workqueue_unfinished_work_seconds", "5"))) << "4 s and 1 s";
  EXPECT_THAT(text, HasSubstr(Line("workqueue_longest_running_processor_seconds", "4")));
  queue.Done("a");
  queue.Done("b");
  shown.Show(queue.in_hand());
  text = metrics.Text();
  EXPECT_THAT(text, HasSubstr(Line("workqueue_work_duration_seconds_sum", "5")));
  EXPECT_THAT(text, HasSubstr(Line("workqueue_work_duration_seconds_count", "2")));
  EXPECT_THAT(text, HasSubstr(Line("workqueue_unfinished_work_seconds", "0")));
}

// F10: each priority by itself, with controller-runtime's numbers.
TEST(WorkQueueMetrics, TellPrioritiesApart_F10) {
  FakeClock clock;
  Metrics metrics;
  WorkQueueMetrics shown(metrics, "provider");
  WorkQueue queue(clock, {.jitter = 0}, 1, &shown);
  std::stop_token never;
  for (const char* key : {"a", "b", "c"}) queue.Add(key, Priority::kLater);
  queue.Add("b", Priority::kNormal);
  clock.Advance(Seconds(2));
  queue.Add("c", Priority::kNow);
  clock.Advance(Seconds(1));
  std::string text = metrics.Text();
  for (const char* priority : {"100", "0", "-100"})
    EXPECT_THAT(text, HasSubstr(Line("workqueue_depth", priority, "1")));
  ASSERT_EQ(queue.Get(never), "c");
  text = metrics.Text();
  EXPECT_THAT(text, HasSubstr(Line("workqueue_depth", "100", "0")));
  EXPECT_THAT(text, HasSubstr(Line("workqueue_queue_duration_seconds_sum", "100", "3")));
  EXPECT_THAT(text, HasSubstr(Line("workqueue_queue_duration_seconds_count", "0", "0")));
}

// What is added while it is worked on waits from then on.
TEST(WorkQueueMetrics, AKeyThatIsAddedInItsWorkWaitsFromThenOn) {
  FakeClock clock;
  Metrics metrics;
  WorkQueueMetrics shown(metrics, "provider");
  WorkQueue queue(clock, {.jitter = 0}, 1, &shown);
  std::stop_token never;
  queue.Add("a", Priority::kNormal);
  ASSERT_EQ(queue.Get(never), "a");
  clock.Advance(Seconds(1));
  queue.Add("a", Priority::kNormal);
  clock.Advance(Seconds(2));
  queue.Done("a");
  ASSERT_EQ(queue.Get(never), "a");
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("workqueue_queue_duration_seconds_sum", "0", "2")));
}

}  // namespace
}  // namespace capi::kube
