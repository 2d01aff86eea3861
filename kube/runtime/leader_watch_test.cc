#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/runtime/leader_testing.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;

// F4. Whose Lease is deleted doesn't know it until the next renewal, and writes: two wrote when the one who waited took
// it at once.
TEST(LeaderElector, ALeaseThatIsDeletedLastsAsLongAsItWouldHave) {
  for (bool put_back : {false, true}) {
    SCOPED_TRACE(put_back);
    Scenario s;
    s.lease.Write(OfAnother("2026-01-01T00:00:01.000000Z"));
    LeaseApi api = s.lease.Api();
    MonoTime renewed = s.clock.Monotonic();
    int watches = 0;
    api.watch = [&](const Context& ctx, const Object&, const auto& on_change) -> Status {
      if (++watches == 1) {
        s.clock.Advance(Seconds(1));
        Object last = *s.lease.lease;
        s.lease.lease.reset();
        TRY(on_change({WatchEvent::Type::kDeleted, last}));
        s.clock.Advance(Seconds(1));
        if (put_back) {
          s.lease.Write(OfAnother("2026-01-01T00:00:03.000000Z"));
          renewed = s.clock.Monotonic();
          TRY(on_change({WatchEvent::Type::kAdded, *s.lease.lease}));
        }
      }
      ctx.clock->Sleep(ctx.stop, std::chrono::ceil<Millis>(*ctx.deadline - s.clock.Monotonic()));
      return Fault(Code::kDeadlineExceeded);
    };
    s.lease.before = [&](size_t) {
      return s.lease.lease && s.lease.Record().holder == "me" ? Fault(Code::kUnavailable) : Ok();
    };
    LeaderElector elector(api, kOptions);
    ASSERT_TRUE(elector.Acquire(s.ctx).ok());
    EXPECT_EQ(elector.valid_until() - kOptions.lease_duration, renewed + Seconds(15));
    s.AwaitLoss(elector);
    EXPECT_EQ(s.lease.requests[2], put_back ? "PUT" : "POST");
  }
}

// The same of one who reads: the server has no Lease of that name any more.
TEST(LeaderElector, ADeletedLeaseThatIsReadLastsAsLong) {
  Scenario s;
  s.lease.Write(OfAnother("2026-01-01T00:00:01.000000Z"));
  MonoTime start = s.clock.Monotonic();
  s.lease.before = [&](size_t number) -> Status {
    if (number == 2) s.lease.lease.reset();
    return s.lease.lease && s.lease.Record().holder == "me" ? Fault(Code::kUnavailable) : Ok();
  };
  LeaderElector elector(s.lease.Api(), kOptions);
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  EXPECT_GE(elector.valid_until() - kOptions.lease_duration, start + Seconds(15));
  s.AwaitLoss(elector);
}

// An answer was lost, and the elector watched itself until its own lease ran out; nobody led meanwhile.
TEST(LeaderElector, KnowsItselfInTheLeaseThatItWatches) {
  Scenario s;
  s.lease.Write(OfAnother("2026-01-01T00:00:01.000000Z", Seconds(1)));
  s.clock.Advance(Seconds(1));
  LeaseApi api = s.lease.Api();
  api.update = [&, update = api.update](const Context& ctx, const Object& o) -> Result<Object> {
    auto written = update(ctx, o);
    return s.lease.requests.size() == 2 ? Result<Object>(Fault(Code::kUnavailable)) : written;
  };
  api.watch = [&](const Context& ctx, const Object&, const auto& on_change) -> Status {
    TRY(on_change({WatchEvent::Type::kModified, *s.lease.lease}));
    ctx.clock->Sleep(ctx.stop, std::chrono::ceil<Millis>(*ctx.deadline - s.clock.Monotonic()));
    return Fault(Code::kDeadlineExceeded);
  };
  s.lease.Write(Released(s.lease.Record(), WallTime()));
  s.lease.before = [&](size_t number) { return number > 4 ? Status(Fault(Code::kUnavailable)) : Ok(); };
  LeaderElector elector(api, kOptions);
  MonoTime start = s.clock.Monotonic();
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  EXPECT_LE(elector.valid_until() - kOptions.lease_duration, start + Millis(2400)) << "within one retry period";
  s.AwaitLoss(elector);
}

// A free lease that can't be taken changes in nothing: a watch of it ends by nothing that helps.
TEST(LeaderElector, AFreeLeaseIsNotWatched) {
  Scenario s;
  LeaseRecord free = OfAnother("2026-01-01T00:00:01.000000Z", Seconds(1000));
  free.holder = "";
  s.lease.Write(free);
  LeaseApi api = s.lease.Api();
  int watches = 0;
  api.watch = [&](const Context&, const Object&, const auto&) -> Status {
    ++watches;
    return Ok();
  };
  s.lease.before = [&](size_t number) -> Status {
    if (number == 8) s.stop.request_stop();
    return s.lease.requests.back() == "PUT" ? Status(Fault(Code::kPermissionDenied)) : Ok();
  };
  LeaderElector elector(api, kOptions);
  MonoTime start = s.clock.Monotonic();
  EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
  EXPECT_EQ(watches, 0);
  EXPECT_LE(s.lease.times.back() - start, Seconds(10)) << "four looks";
}

// A watch tells nothing of a holder that is silent: the lease runs out all the same, counted from its last renewal.
TEST(LeaderElector, ALeaseThatIsWatchedRunsOut) {
  Scenario s;
  s.lease.Write(OfAnother("2026-01-01T00:00:01.000000Z"));
  LeaseApi api = s.lease.Api();
  std::vector<Millis> patience;
  MonoTime renewed{};
  api.watch = [&](const Context& ctx, const Object&, const auto& on_change) -> Status {
    patience.push_back(std::chrono::ceil<Millis>(*ctx.deadline - s.clock.Monotonic()));
    if (patience.size() == 1) {
      s.clock.Advance(Seconds(6));
      s.lease.Write(OfAnother("2026-01-01T00:00:07.000000Z"));
      renewed = s.clock.Monotonic();
      TRY(on_change({WatchEvent::Type::kModified, *s.lease.lease}));
    }
    ctx.clock->Sleep(ctx.stop, std::chrono::ceil<Millis>(*ctx.deadline - s.clock.Monotonic()));
    return Fault(Code::kDeadlineExceeded);
  };
  LeaderElector elector(api, kOptions);
  s.lease.before = [&](size_t) { return s.lease.Record().holder == "me" ? Fault(Code::kUnavailable) : Ok(); };
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  MonoTime taken = elector.valid_until() - kOptions.lease_duration;
  EXPECT_EQ(taken, renewed + Seconds(15)) << "without a pause";
  ASSERT_EQ(patience.size(), 2U);
  EXPECT_EQ(patience[0], Seconds(15));
  EXPECT_EQ(patience[1], Seconds(6)) << "what is left of it since the renewal";
}

// A watch that falls silent with its leader ends without a word: the lease was taken up to a retry period late.
TEST(LeaderElector, ALeaseWhoseWatchFallsSilentRunsOutWithoutAPause) {
  Scenario s;
  s.lease.Write(OfAnother("2026-01-01T00:00:01.000000Z"));
  LeaseApi api = s.lease.Api();
  api.watch = [&](const Context&, const Object&, const auto&) {
    s.clock.Advance(Seconds(6));
    return Ok();
  };
  s.lease.before = [&](size_t) { return s.lease.Record().holder == "me" ? Fault(Code::kUnavailable) : Ok(); };
  LeaderElector elector(api, kOptions);
  MonoTime start = s.clock.Monotonic();
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  EXPECT_GE(elector.valid_until() - kOptions.lease_duration, start + Seconds(15));
  EXPECT_LE(elector.valid_until() - kOptions.lease_duration, start + Millis(15500));
  s.AwaitLoss(elector);
}

// Two wait, and the other one is quicker: it is read at once who that is, and watched as any leader is.
TEST(LeaderElector, WatchesWhoWasQuicker) {
  Scenario s;
  s.lease.Write(Released(OfAnother("2026-01-01T00:00:01.000000Z"), WallTime()));
  LeaseApi api = s.lease.Api();
  int watches = 0;
  api.watch = [&](const Context&, const Object& since, const auto& on_change) -> Status {
    ++watches;
    EXPECT_EQ(since.resource_version(), s.lease.lease->resource_version());
    s.clock.Advance(Seconds(1));
    s.lease.Write(Released(s.lease.Record(), WallTime()));
    return on_change({WatchEvent::Type::kModified, *s.lease.lease});
  };
  s.lease.before = [&](size_t number) -> Status {
    if (number == 2) {
      s.clock.Advance(Seconds(2));  // longer than what was given back lasts
      s.lease.Write(OfAnother("2026-01-01T00:00:02.000000Z"));
    }
    return number > 5 ? Status(Fault(Code::kUnavailable)) : Ok();
  };
  LeaderElector elector(api, kOptions);
  MonoTime start = s.clock.Monotonic();
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  EXPECT_EQ(watches, 1);
  EXPECT_EQ(elector.valid_until(), start + Seconds(3) + kOptions.lease_duration) << "without a pause";
  s.AwaitLoss(elector);
  EXPECT_EQ(std::vector(s.lease.requests.begin(), s.lease.requests.begin() + 5),
            (std::vector<std::string>{"GET", "PUT", "GET", "GET", "PUT"}));
}

TEST(LeaderElector, AWatchEndsWithTheContext) {
  Scenario s;
  s.lease.Write(OfAnother("now"));
  LeaseApi api = s.lease.Api();
  int watches = 0;
  api.watch = [&](const Context&, const Object&, const auto&) -> Status {
    ++watches;
    s.stop.request_stop();
    return Fault(Code::kCancelled);
  };
  LeaderElector elector(api, kOptions);
  EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
  EXPECT_EQ(watches, 1);
  EXPECT_THAT(s.lease.requests, ElementsAre("GET"));
}

// A role of before has no such right.
TEST(LeaderElector, ALeaseThatCantBeWatchedIsReadOnceARetryPeriod) {
  for (auto ended : {Status(Fault(Code::kPermissionDenied)), Ok()}) {
    Scenario s;
    s.lease.Write(OfAnother("now"));
    LeaseApi api = s.lease.Api();
    api.watch = [&](const Context&, const Object&, const auto&) { return ended; };
    s.lease.before = [&](size_t number) -> Status {
      if (number == 6) s.stop.request_stop();
      return Ok();
    };
    LeaderElector elector(api, kOptions);
    EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
    for (size_t i = 1; i < 6; ++i) EXPECT_GE(s.lease.times[i] - s.lease.times[i - 1], Seconds(2));
  }
}

}  // namespace
}  // namespace capi::kube
