#include "kube/cache/server_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "base/http/testing.h"
#include "kube/cache/testing.h"
#include "kube/client/client.h"

namespace capi::kube {
namespace {

const Error kAway{Code::kUnavailable, "connection refused", {}};
const Error kBroken{Code::kInternal, "broken", {}};

Context With(Clock& clock) {
  Context ctx;
  ctx.clock = &clock;
  return ctx;
}

TEST(ServerState, OneProbeServesAllWhoWait) {
  constexpr int kInformers = 8;
  JumpClock clock;
  std::latch all_wait(1);
  std::atomic<int> probes = 0;
  ServerState state(
      [&](const Context&) -> Status {
        all_wait.wait();
        ++probes;
        return Ok();
      },
      1);
  std::vector<std::thread> informers;
  std::atomic<int> entering = 0;
  for (int i = 0; i < kInformers; ++i) {
    informers.emplace_back([&] {
      ++entering;
      state.Wait(With(clock), 1, kAway);
    });
  }
  while (entering < kInformers) std::this_thread::yield();
  all_wait.count_down();
  for (auto& informer : informers) informer.join();
  EXPECT_GE(probes, 1);
  EXPECT_LE(probes, 2) << "one more where a thread came after the answer";
}

// F3: at most two requests a second while the server is away.
TEST(ServerState, ProbesOfALostServerGrowRare) {
  JumpClock clock;
  std::vector<Millis> times;
  ServerState state(
      [&](const Context&) -> Status {
        times.push_back(clock.Elapsed());
        return times.size() < 30 ? Status(kAway) : Ok();
      },
      1);
  state.Wait(With(clock), 1, kAway);
  ASSERT_EQ(times.size(), 30u);
  for (size_t i = 1; i < times.size(); ++i) {
    EXPECT_GE(times[i] - times[i - 1], i == 1 ? Millis(375) : Millis(500)) << i;
    EXPECT_LE(times[i] - times[i - 1], Millis(6'250)) << "a server that is back is found in six seconds";
  }
}

TEST(ServerState, AnAnswerIsAnAnswer) {
  struct Case {
    Code code;
    bool is_back;
  };
  for (const Case& c : {Case{Code::kPermissionDenied, true}, Case{Code::kNotFound, true}, Case{Code::kInternal, true},
                        Case{Code::kUnavailable, false}, Case{Code::kDeadlineExceeded, false}}) {
    SCOPED_TRACE(CodeName(c.code));
    JumpClock clock;
    int probes = 0;
    ServerState state(
        [&](const Context&) -> Status {
          return ++probes == 1 ? Status(Error{c.code, "", {}}) : Ok();
        },
        1);
    state.Wait(With(clock), 1, kAway);
    EXPECT_EQ(probes, c.is_back ? 1 : 2);
  }
}

// F8: with a real server, one of whose checks fails. It was away for good.
TEST(ServerState, AServerThatAnswersIsThere) {
  std::atomic<int> probes = 0;
  std::stop_source stop;
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    peer.ReadRequest();
    if (++probes == 3) stop.request_stop();
    peer.Write("HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
  });
  auto client = Client::Connect({.server = server.url()}, {});
  ASSERT_TRUE(client.ok()) << client.error().message;
  JumpClock clock;
  Context ctx = With(clock);
  ctx.stop = stop.get_token();
  auto state = ServerState::Of(**client);
  state->Wait(ctx, 1, kAway);
  EXPECT_EQ(probes, 1);
  EXPECT_EQ(ServerState::Of(**client), state) << "all of a client's informers have one";
}

TEST(ServerState, RepeatedFailuresOfManyAreASecondApart) {
  JumpClock clock;
  ServerState state([](const Context&) { return Ok(); }, 1);
  Millis before = clock.Elapsed();
  for (int i = 0; i < 20; ++i) state.Wait(With(clock), 4, kBroken);
  EXPECT_GE(clock.Elapsed() - before, Seconds(19));
  before = clock.Elapsed();
  for (int i = 0; i < 20; ++i) state.Wait(With(clock), 3, kBroken);
  EXPECT_LE(clock.Elapsed() - before, Seconds(6)) << "a few may be what is over at once";
}

// Who waits for another's probe asks itself where that one is stopped.
TEST(ServerState, WhereOneStopsAnotherAsks) {
  FakeClock clock;
  std::stop_source stop;
  std::latch probing(1);
  std::atomic<int> probes = 0;
  ServerState state(
      [&](const Context& probe) -> Status {
        if (++probes > 1) return Ok();
        probing.count_down();
        SystemClock().Sleep(probe.stop, std::chrono::hours(1));
        return Error{Code::kCancelled, "stopped", {}};
      },
      1);
  Context stopped;
  stopped.stop = stop.get_token();
  std::thread first([&] { state.Wait(stopped, 1, kAway); });
  probing.wait();
  std::thread next([&] { state.Wait(With(clock), 1, kAway); });
  clock.AwaitWaiters(1);
  stop.request_stop();
  first.join();
  next.join();
  EXPECT_EQ(probes, 2);
}

TEST(ServerState, StopEndsEveryWait) {
  std::stop_source stop;
  Context ctx;
  ctx.stop = stop.get_token();
  std::latch probing(1);
  ServerState state(
      [&](const Context& probe) -> Status {
        probing.count_down();
        SystemClock().Sleep(probe.stop, std::chrono::hours(1));
        return Error{Code::kCancelled, "stopped", {}};
      },
      1);
  std::thread probes([&] { state.Wait(ctx, 1, kAway); });
  probing.wait();
  std::thread waits([&] { state.Wait(ctx, 1, kAway); });
  std::thread sleeps([&] { state.Wait(ctx, 30, kBroken); });
  stop.request_stop();
  probes.join();
  waits.join();
  sleeps.join();
}

}  // namespace
}  // namespace capi::kube
