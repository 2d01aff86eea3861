#include "kube/runtime/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/strings.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

// The value on the line that begins with `series` and a blank; -1 without such a line.
double ValueOf(const std::string& text, const std::string& series) {
  for (const auto& line : Split(text, '\n')) {
    if (line.starts_with(series + " ")) return std::stod(line.substr(series.size() + 1));
  }
  return -1;
}

TEST(Metrics, CountsAndSetsByLabels) {
  Metrics metrics;
  metrics.Count({"done_total", "What was done"}, {{"result", "success"}});
  metrics.Count({"done_total", "ignored"}, {{"result", "success"}}, 2);
  metrics.Count({"done_total", "ignored"}, {{"result", "error"}}, 0);
  metrics.Set({"depth", "How deep"}, {{"name", "q"}}, 5);
  metrics.Set({"depth", "How deep"}, {{"name", "q"}}, 3);
  std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, R"(done_total{result="success"})"), 3);
  EXPECT_EQ(ValueOf(text, R"(done_total{result="error"})"), 0) << "a series shows before anything happened";
  EXPECT_EQ(ValueOf(text, R"(depth{name="q"})"), 3);
  EXPECT_THAT(text, HasSubstr("# HELP done_total What was done\n# TYPE done_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE depth gauge\n"));
}

TEST(Metrics, ObservesIntoBuckets) {
  Metrics metrics;
  for (double seconds : {0.004, 0.3, 100.0}) metrics.Observe({"took_seconds", "Time"}, {{"c", "x"}}, seconds);
  std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, R"(took_seconds_bucket{c="x",le="0.005"})"), 1);
  EXPECT_EQ(ValueOf(text, R"(took_seconds_bucket{c="x",le="60"})"), 2);
  EXPECT_EQ(ValueOf(text, R"(took_seconds_bucket{c="x",le="+Inf"})"), 3);
  EXPECT_EQ(ValueOf(text, R"(took_seconds_count{c="x"})"), 3);
  EXPECT_NEAR(ValueOf(text, R"(took_seconds_sum{c="x"})"), 100.304, 1e-6);
}

TEST(Metrics, WhatIsKnownAtAMomentIsLookedForBeforeEachText) {
  Metrics metrics;
  int now = 0;
  auto look = metrics.BeforeText([&] { metrics.Set({"now", "Help"}, {}, ++now); });
  EXPECT_EQ(ValueOf(metrics.Text(), "now"), 1);
  EXPECT_EQ(ValueOf(metrics.Text(), "now"), 2);
  look.reset();
  EXPECT_EQ(ValueOf(metrics.Text(), "now"), 2) << "nobody looks any more";
}

TEST(Metrics, RemovedSeriesAreGoneAndMayComeBack) {
  Metrics metrics;
  metrics.Set({"info", "Help"}, {{"p", "a"}}, 1);
  metrics.Set({"info", "Help"}, {{"p", "b"}}, 1);
  metrics.Remove({"info", "Help"}, {{"p", "a"}});
  metrics.Remove({"info", "Help"}, {{"p", "never"}});
  metrics.Remove({"unknown", "Help"}, {});
  EXPECT_THAT(metrics.Text(), Not(HasSubstr(R"(info{p="a"})")));
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(info{p="b"})"));
  metrics.Remove({"info", "Help"}, {{"p", "b"}});
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("info")));
  metrics.Set({"info", "Help"}, {{"p", "a"}}, 2);
  EXPECT_EQ(ValueOf(metrics.Text(), R"(info{p="a"})"), 2);
}

TEST(Metrics, UseAsAnotherTypeOrWithABadNameIsIgnored) {
  Metrics metrics;
  metrics.Count({"x_total", "Help"}, {});
  metrics.Set({"x_total", "Help"}, {}, 7);
  metrics.Count({"not a name", "Help"}, {});
  metrics.Count({"y_total", "Help"}, {{"not a label", "v"}});
  std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "x_total"), 1);
  EXPECT_THAT(text, Not(HasSubstr("not a")));
}

TEST(Metrics, TellsAboutTheProcess) {
  Metrics metrics;
  std::string text = metrics.Text();
  EXPECT_GT(ValueOf(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(ValueOf(text, "process_virtual_memory_bytes"), ValueOf(text, "process_resident_memory_bytes"));
  EXPECT_GE(ValueOf(text, "process_open_fds"), 3);
  EXPECT_GT(ValueOf(text, "process_max_fds"), ValueOf(text, "process_open_fds"));
  EXPECT_GE(ValueOf(text, "process_cpu_seconds_total"), 0);
  auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(ValueOf(text, "process_start_time_seconds"), now, 600);
  double before = ValueOf(text, "process_threads");
  std::stop_source stop;
  std::jthread sleeper([token = stop.get_token()] {
    while (!token.stop_requested()) std::this_thread::yield();
  });
  EXPECT_EQ(ValueOf(metrics.Text(), "process_threads"), before + 1);
  stop.request_stop();
}

TEST(Metrics, TakesManyThreads) {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&metrics, t] {
        for (int i = 0; i < 500; ++i) {
          metrics.Count({"n_total", "Help"}, {{"k", std::to_string(i % 3)}});
          metrics.Set({"g", "Help"}, {{"t", std::to_string(t)}}, i);
          if (i % 100 == 0) metrics.Remove({"g", "Help"}, {{"t", std::to_string(t)}});
          if (i % 200 == 0) (void)metrics.Text();
        }
      });
    }
  }
  std::string text = metrics.Text();
  double sum = 0;
  for (const char* k : {"0", "1", "2"}) sum += ValueOf(text, std::string("n_total{k=\"") + k + "\"}");
  EXPECT_EQ(sum, 2000);
}

}  // namespace
}  // namespace capi::kube
