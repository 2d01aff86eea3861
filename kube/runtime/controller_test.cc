#include "kube/runtime/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>

#include "base/testing/await.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

const BackoffOptions kBackoff{.base = Millis(100), .max = Millis(1000), .jitter = 0};

struct Fixture {
  explicit Fixture(Controller::Reconcile reconcile, int workers = 1)
      : controller({.name = "provider", .workers = workers, .backoff = kBackoff}, std::move(reconcile), metrics,
                   clock) {
    ctx.stop = stop.get_token();
    ctx.clock = &clock;
    ctx.log = Logger::ToSink(
        LogLevel::kDebug, LogFormat::kText,
        [](void* self, std::string_view line) {
          auto* fixture = static_cast<Fixture*>(self);
          MutexLock lock(fixture->mu);
          fixture->log += std::string(line) + "\n";
        },
        this);
    thread = std::thread([this] { controller.Run(ctx); });
  }
  ~Fixture() { Stop(); }
  void Stop() {
    stop.request_stop();
    if (thread.joinable()) thread.join();
  }

  FakeClock clock;
  Metrics metrics;
  Mutex mu;
  std::string log;
  std::stop_source stop;
  Context ctx;
  Controller controller;
  std::thread thread;
};

std::string Series(const std::string& result, int value) {
  return "controller_runtime_reconcile_total{controller=\"provider\",result=\"" + result + "\"} " +
         std::to_string(value) + "\n";
}

std::string Errors(int value) {
  return "controller_runtime_reconcile_errors_total{controller=\"provider\"} " + std::to_string(value) + "\n";
}

std::string Panics(int value) {
  return "controller_runtime_reconcile_panics_total{controller=\"provider\"} " + std::to_string(value) + "\n";
}

TEST(Controller, OutcomesBecomeDelaysAndMetrics) {
  struct Case {
    std::string_view name;
    Result<Outcome> outcome;
    std::string result;
    Millis again;  // 0: never
    int panics = 0;
  };
  using End = Outcome::End;
  const Case cases[] = {
      {"done", Outcome{}, "success", Millis(0)},
      {"later", Outcome{.again_after = Seconds(5)}, "requeue_after", Seconds(5)},
      {"back-off", Outcome{.again_after = Millis(100), .end = End::kBacksOff}, "requeue", Millis(100)},
      {"an error that was told", Outcome{.again_after = Seconds(9), .end = End::kError}, "error", Seconds(9)},
      {"a bug that was told", Outcome{.again_after = Seconds(9), .end = End::kThrew}, "error", Seconds(9), 1},
      {"error", Error{Code::kUnavailable, "away", {}}, "error", Millis(100)},
      {"Retry-After (F3)", Error{Code::kRateLimited, "slow down", Seconds(3)}, "error", Seconds(3)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::atomic<int> passes = 0;
    Fixture f([&](const Context&, const std::string& key) -> Result<Outcome> {
      EXPECT_EQ(key, "ns/a");
      return ++passes == 1 ? c.outcome : Result<Outcome>(Outcome{});
    });
    f.clock.AwaitWaiters(1);
    f.controller.queue().Add("ns/a", Priority::kNormal);
    ASSERT_TRUE(Await([&] { return passes >= 1; }));
    f.clock.AwaitWaiters(1);
    EXPECT_EQ(passes, 1);
    EXPECT_THAT(f.metrics.Text(), HasSubstr(Series(c.result, 1)));
    EXPECT_THAT(f.metrics.Text(), HasSubstr(Errors(c.result == "error" ? 1 : 0)));
    EXPECT_THAT(f.metrics.Text(), HasSubstr(Panics(c.panics)));
    EXPECT_THAT(f.metrics.Text(), HasSubstr(R"(reconcile_time_seconds_count{controller="provider"} 1)"));
    if (c.again > Millis(0)) {
      f.clock.Advance(c.again);
      ASSERT_TRUE(Await([&] { return passes >= 2; }));
    }
    f.clock.Advance(Seconds(3600));
    f.Stop();
    EXPECT_EQ(passes, c.again > Millis(0) ? 2 : 1);
  }
}

// F10: a pass says with which priority the next one comes.
TEST(Controller, APassSaysHowSoonItsNextOneIs_F10) {
  std::atomic<int> passes = 0;
  Fixture f([&](const Context&, const std::string&) -> Result<Outcome> {
    if (++passes > 1) return Outcome{};
    return Outcome{.again_after = Seconds(5), .priority = Priority::kLater};
  });
  f.controller.queue().Add("ns/a", Priority::kNow);
  ASSERT_TRUE(Await([&] { return passes >= 1; }));
  f.clock.AwaitWaiters(1);
  f.clock.Advance(Seconds(5));
  ASSERT_TRUE(Await([&] { return passes >= 2; }));
  f.Stop();
  for (const char* line : {R"(priority="100"} 1)", R"(priority="0"} 0)", R"(priority="-100"} 1)"}) {
    EXPECT_THAT(
        f.metrics.Text(),
        HasSubstr(std::string(R"(workqueue_queue_duration_seconds_count{controller="provider",name="provider",)") +
                  line + "\n"));
  }
}

// F1: what went well takes the back-off back.
TEST(Controller, ASuccessEndsTheBackOff) {
  std::atomic<int> passes = 0;
  Fixture f([&](const Context&, const std::string&) -> Result<Outcome> {
    if (++passes == 3) return Outcome{.again_after = Millis(1)};
    return Error{Code::kUnavailable, "away", {}};
  });
  f.controller.queue().Add("ns/a", Priority::kNormal);
  int expected = 0;
  for (Millis wait : {Millis(100), Millis(200), Millis(1), Millis(100)}) {
    ++expected;
    ASSERT_TRUE(Await([&] { return passes >= expected; }));
    f.clock.AwaitWaiters(1);
    f.clock.Advance(wait);
  }
  EXPECT_TRUE(Await([&] { return passes >= 5; }));
  EXPECT_EQ(passes, 5);
}

// F5: a pass that reports why it failed, and says when it is tried again, backs off as one that ends in an error. It
// never did: its end was taken for a success, and a source that was away was tried every 200 ms.
TEST(Controller, AFailureThatWasReportedBacksOff) {
  for (Outcome::End end : {Outcome::End::kBacksOff, Outcome::End::kError, Outcome::End::kThrew}) {
    SCOPED_TRACE(static_cast<int>(end));
    std::atomic<int> passes = 0;
    Controller* controller = nullptr;
    Fixture f([&](const Context&, const std::string& key) -> Result<Outcome> {
      ++passes;
      return Outcome{.again_after = controller->queue().Backoff(key), .end = end};
    });
    controller = &f.controller;
    f.controller.queue().Add("ns/a", Priority::kNormal);
    int expected = 1;
    for (Millis wait : {Millis(100), Millis(200), Millis(400), Millis(800), Millis(1000), Millis(1000)}) {
      ASSERT_TRUE(Await([&] { return passes >= expected; }));
      f.clock.AwaitWaiters(1);
      f.clock.Advance(wait - Millis(1));
      f.clock.AwaitWaiters(1);
      EXPECT_EQ(passes, expected) << "tried before its time";
      f.clock.Advance(Millis(1));
      ++expected;
    }
    EXPECT_TRUE(Await([&] { return passes >= expected; }));
  }
}

TEST(Controller, SeriesExistAtZero) {
  Fixture f([](const Context&, const std::string&) -> Result<Outcome> { return Outcome{}; }, 3);
  std::string text = f.metrics.Text();
  for (const char* result : {"success", "error", "requeue", "requeue_after"}) {
    EXPECT_THAT(text, HasSubstr(Series(result, 0)));
  }
  EXPECT_THAT(text, HasSubstr(Errors(0)));
  EXPECT_THAT(text, HasSubstr(R"(workqueue_depth{controller="provider",name="provider",priority="0"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(controller_runtime_max_concurrent_reconciles{controller="provider"} 3)"));
  EXPECT_THAT(text, HasSubstr(R"(controller_runtime_active_workers{controller="provider"} 0)"));
  EXPECT_THAT(text, HasSubstr(Panics(0)));
}

TEST(Controller, AnErrorIsLoggedWithItsKeyAndItsRetry) {
  std::latch done(1);
  Fixture f([&](const Context&, const std::string&) -> Result<Outcome> {
    done.count_down();
    return Error{Code::kConflict, "someone else changed it", {}};
  });
  f.controller.queue().Add("ns/a", Priority::kNormal);
  done.wait();
  f.clock.AwaitWaiters(1);
  f.Stop();
  for (const char* part : {"reconcile failed", "controller=provider", "key=ns/a", "code=Conflict",
                           "error=\"someone else changed it\"", "retry_in_ms=100"}) {
    EXPECT_THAT(f.log, HasSubstr(part));
  }
}

// F7: a bug that one object meets is told of and tried again as any other error; the others go on.
TEST(Controller, AnExceptionIsTheErrorOfItsKey) {
  const std::function<void()> throws[] = {[] { throw std::runtime_error("a bug"); }, [] { throw 1; }};
  const char* messages[] = {"exception: a bug", "an exception that isn't one of the standard library's"};
  for (size_t i = 0; i < 2; ++i) {
    std::atomic<int> bad = 0, good = 0;
    Fixture f([&](const Context&, const std::string& key) -> Result<Outcome> {
      if (key == "good") return ++good, Outcome{};
      if (++bad == 1) throws[i]();
      return Outcome{};
    });
    f.controller.queue().Add("bad", Priority::kNormal);
    f.controller.queue().Add("good", Priority::kNormal);
    ASSERT_TRUE(Await([&] { return good == 1; }));
    f.clock.AwaitWaiters(1);
    EXPECT_EQ(bad, 1);
    EXPECT_THAT(f.metrics.Text(), HasSubstr(Errors(1)));
    EXPECT_THAT(f.metrics.Text(), HasSubstr(Panics(1)));
    f.clock.Advance(Millis(100));
    ASSERT_TRUE(Await([&] { return bad == 2; }));
    f.Stop();
    EXPECT_THAT(f.log, HasSubstr(messages[i]));
    EXPECT_THAT(f.log, HasSubstr("code=Internal"));
  }
}

TEST(Controller, WorkersRunKeysSideBySide) {
  std::latch both(2);
  Fixture f(
      [&](const Context&, const std::string&) -> Result<Outcome> {
        both.arrive_and_wait();  // ends only when two passes run at once
        return Outcome{};
      },
      2);
  f.controller.queue().Add("a", Priority::kNormal);
  f.controller.queue().Add("b", Priority::kNormal);
  both.wait();
  f.Stop();
  EXPECT_THAT(f.metrics.Text(), HasSubstr(Series("success", 2)));
}

TEST(Controller, StopReachesAPassInFlightAndWaitsForIt) {
  std::latch started(1);
  std::atomic<bool> ended = false;
  Fixture f([&](const Context& ctx, const std::string&) -> Result<Outcome> {
    started.count_down();
    while (!ctx.stop.stop_requested()) std::this_thread::yield();
    ended = true;
    return Error{Code::kCancelled, "stopped", {}};
  });
  f.controller.queue().Add("a", Priority::kNormal);
  started.wait();
  EXPECT_THAT(f.metrics.Text(), HasSubstr(R"(controller_runtime_active_workers{controller="provider"} 1)"));
  f.Stop();
  EXPECT_TRUE(ended);
  EXPECT_THAT(f.metrics.Text(), HasSubstr(Series("error", 0))) << "a pass cut short failed at nothing";
  EXPECT_THAT(f.log, Not(HasSubstr("reconcile failed")));
}

}  // namespace
}  // namespace capi::kube
