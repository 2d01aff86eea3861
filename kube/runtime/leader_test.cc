#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "kube/runtime/leader_testing.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;

TEST(LeaderElector, TakesALeaseThatIsFree) {
  LeaseRecord released = Released(OfAnother("2026-01-01T00:00:09.000000Z"), WallTime());
  struct Case {
    std::string_view name;
    std::optional<LeaseRecord> before;
    std::vector<std::string> requests;
    std::int64_t transitions;
    std::string acquire_time;
  };
  constexpr char kNow[] = "2023-11-14T22:13:20.000000Z";
  LeaseRecord mine = OfAnother("2026-01-01T00:00:09.000000Z");
  mine.holder = "me";
  const Case cases[] = {
      {"none there", std::nullopt, {"GET", "POST"}, 0, kNow},
      {"given back", released, {"GET", "PUT"}, 5, kNow},
      {"mine from before a restart", mine, {"GET", "PUT"}, 4, "2026-01-01T00:00:00.000000Z"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Scenario s;
    if (c.before) s.lease.Write(*c.before);
    std::vector<std::string> requests;
    LeaseRecord taken;
    s.lease.before = [&](size_t number) -> Status {
      if (number <= c.requests.size()) return Ok();
      if (number == c.requests.size() + 1) {
        requests.assign(s.lease.requests.begin(), s.lease.requests.end() - 1);
        taken = s.lease.Record();
      }
      return Fault(Code::kUnavailable);
    };
    LeaderElector elector(s.lease.Api(), kOptions);
    MonoTime start = s.clock.Monotonic();
    ASSERT_TRUE(elector.Acquire(s.ctx).ok());
    EXPECT_EQ(elector.valid_until(), start + Seconds(15));
    s.AwaitLoss(elector);
    elector.Release(s.ctx);
    EXPECT_EQ(requests, c.requests);
    EXPECT_EQ(taken, (LeaseRecord{"me", 15, c.acquire_time, kNow, c.transitions}));
  }
}

// The holder's clock may be a year off, and its writes are seen, not timed by what they say.
TEST(LeaderElector, WaitsUntilALeaseStandsStillForItsDuration) {
  struct Case {
    std::string_view name;
    int renewals;  // seen before the holder falls silent
    Seconds duration;
  };
  for (const Case& c : {Case{"silent from the start", 0, Seconds(15)}, Case{"renewed for a while", 5, Seconds(15)},
                        Case{"its own duration counts", 0, Seconds(40)}}) {
    SCOPED_TRACE(c.name);
    Scenario s;
    s.lease.Write(OfAnother("1999-01-01T00:00:00.000000Z", c.duration));
    MonoTime last_change = s.clock.Monotonic();
    s.lease.before = [&](size_t number) -> Status {
      if (s.lease.requests.back() == "GET" && static_cast<int>(number) <= c.renewals) {
        s.lease.Write(OfAnother("1999-01-01T00:00:0" + std::to_string(number) + ".000000Z", c.duration));
        last_change = s.clock.Monotonic();
      }
      return s.lease.Record().holder == "me" ? Status(Fault(Code::kUnavailable)) : Ok();
    };
    LeaderElector elector(s.lease.Api(), kOptions);
    ASSERT_TRUE(elector.Acquire(s.ctx).ok());
    MonoTime taken = elector.valid_until() - kOptions.lease_duration;
    EXPECT_GE(taken, last_change + c.duration);
    EXPECT_LE(taken, last_change + c.duration + Millis(2400)) << "within one retry period";
    EXPECT_EQ(s.lease.Record().transitions, 5);
  }
}

// A graceful hand-over: who waits is told, and doesn't sleep through it for a retry period.
TEST(LeaderElector, TakesALeaseAtOnceThatIsGivenBack) {
  Scenario s;
  s.lease.Write(OfAnother("2026-01-01T00:00:01.000000Z"));
  std::vector<std::string> since;
  LeaseApi api = s.lease.Api();
  api.watch = [&](const Context&, const Object& seen, const auto& on_change) -> Status {
    since.push_back(seen.resource_version());
    s.clock.Advance(Seconds(3));
    s.lease.Write(OfAnother("2026-01-01T00:00:03.000000Z"));
    TRY(on_change({WatchEvent::Type::kModified, *s.lease.lease}));
    TRY(on_change({WatchEvent::Type::kBookmark, Object()}));
    s.clock.Advance(Seconds(14));  // longer than it lasted when the watch began
    s.lease.Write(Released(s.lease.Record(), WallTime()));
    return on_change({WatchEvent::Type::kModified, *s.lease.lease});
  };
  LeaderElector elector(api, kOptions);
  MonoTime start = s.clock.Monotonic();
  s.lease.before = [&](size_t number) { return number > 3 ? Status(Fault(Code::kUnavailable)) : Ok(); };
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  EXPECT_EQ(elector.valid_until(), start + Seconds(17) + kOptions.lease_duration) << "without a pause";
  EXPECT_THAT(since, ElementsAre("1"));
  s.AwaitLoss(elector);
  EXPECT_EQ(s.lease.Record().holder, "me");
}

TEST(LeaderElector, KeepsTryingWhateverStandsInTheWay) {
  for (Code code : {Code::kPermissionDenied, Code::kUnavailable, Code::kDeadlineExceeded, Code::kRateLimited,
                    Code::kConflict, Code::kAlreadyExists, Code::kUnauthenticated}) {
    SCOPED_TRACE(CodeName(code));
    Scenario s;
    s.lease.before = [&](size_t number) { return number <= 20 || s.lease.lease ? Status(Fault(code)) : Ok(); };
    LeaderElector elector(s.lease.Api(), kOptions);
    EXPECT_TRUE(elector.Acquire(s.ctx).ok());
    bool is_race = code == Code::kConflict || code == Code::kAlreadyExists;  // after the first it reads at once
    for (size_t i = is_race ? 2 : 1; i < 20; ++i) EXPECT_GE(s.lease.times[i] - s.lease.times[i - 1], Seconds(2));
  }
}

TEST(LeaderElector, AcquireEndsWithItsContext) {
  Scenario s;
  s.lease.Write(OfAnother("now"));
  s.lease.before = [&](size_t number) -> Status {
    if (number == 3) s.stop.request_stop();
    return Ok();
  };
  LeaderElector elector(s.lease.Api(), kOptions);
  EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
  elector.Release(s.ctx);
  EXPECT_EQ(s.lease.Record().holder, "other");
}

// F4. Each case is told what to do before the n-th request after the lease was taken.
TEST(LeaderElector, LosesTheLeaseWhenItMust) {
  struct Case {
    std::string_view name;
    std::function<Status(FakeLease&, size_t)> before;
    Millis lost_after;  // the last renewal
    std::string_view holder_at_end;
  };
  const Case cases[] = {
      {"the server is away", [](FakeLease&, size_t) { return Fault(Code::kUnavailable); }, Seconds(10), "me"},
      {"the right is taken away", [](FakeLease&, size_t) { return Fault(Code::kPermissionDenied); }, Seconds(10), "me"},
      {"somebody else has it",
       [](FakeLease& lease, size_t n) {
         if (n == 1) lease.Write(OfAnother("now"));
         return Ok();
       },
       Seconds(2), "other"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Scenario s;
    s.lease.before = [&](size_t number) { return number <= 2 ? Ok() : c.before(s.lease, number - 2); };
    LeaderElector elector(s.lease.Api(), kOptions);
    ASSERT_TRUE(elector.Acquire(s.ctx).ok());
    MonoTime renewed = elector.valid_until() - kOptions.lease_duration;
    s.AwaitLoss(elector);
    EXPECT_EQ(elector.MayWrite(s.ctx).code(), Code::kFailedPrecondition) << "whatever its clock says";
    EXPECT_EQ(s.clock.Monotonic() - renewed, c.lost_after) << "before the lease runs out";
    EXPECT_EQ(s.lease.Record().holder, c.holder_at_end);
    s.lease.before = [](size_t) { return Ok(); };
    elector.Release(s.ctx);
    EXPECT_EQ(s.lease.Record().holder, c.holder_at_end == "me" ? "" : "other") << "only what is ours is given back";
  }
}

TEST(LeaderElector, KeepsTheLeaseThroughTroubleInBetween) {
  struct Case {
    std::string_view name;
    std::function<Status(FakeLease&)> trouble;
    std::vector<std::string> requests;  // from the troubled one to the next renewal
  };
  const Case cases[] = {
      {"a lost request", [](FakeLease&) { return Fault(Code::kUnavailable); }, {"PUT", "PUT"}},
      {"touched by a tool",
       [](FakeLease& lease) {
         lease.Write(lease.Record());
         return Ok();
       },
       {"PUT", "GET", "PUT", "PUT"}},
      {"deleted",
       [](FakeLease& lease) {
         lease.lease.reset();
         return Ok();
       },
       {"PUT", "GET", "POST", "PUT"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Scenario s;
    size_t last = 4 + c.requests.size();  // GET POST PUT PUT, then the trouble
    s.lease.before = [&](size_t number) -> Status {
      if (number == 5) return c.trouble(s.lease);
      return number > last ? Status(Fault(Code::kUnavailable)) : Ok();
    };
    LeaderElector elector(s.lease.Api(), kOptions);
    ASSERT_TRUE(elector.Acquire(s.ctx).ok());
    s.AwaitLoss(elector);
    elector.Release(s.ctx);
    EXPECT_EQ(std::vector(s.lease.requests.begin() + 4, s.lease.requests.begin() + static_cast<long>(last)),
              c.requests);
    EXPECT_EQ(s.lease.Record().transitions, 0) << "it was ours all the time";
  }
}

TEST(LeaderElector, RenewsWithOnePutPerPeriod) {
  Scenario s;
  s.lease.before = [&](size_t number) { return number > 50 ? Status(Fault(Code::kUnavailable)) : Ok(); };
  LeaderElector elector(s.lease.Api(), kOptions);
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  s.AwaitLoss(elector);
  elector.Release(s.ctx);
  for (size_t i = 2; i < 50; ++i) {
    EXPECT_EQ(s.lease.requests[i], "PUT");
    EXPECT_EQ(s.lease.times[i] - s.lease.times[i - 1], Seconds(2));
  }
}

// Who was told to end while it took the lease didn't give it back: the server had done it, and the answer wasn't waited
// for. The next one waited for as long as the lease lasts.
TEST(LeaderElector, GivesBackWhatItTookWithoutAnAnswer) {
  struct Case {
    std::string_view name, holder;
    bool there, done;  // the Lease before, and whether the write was done
    std::vector<std::string> requests;
  };
  const Case cases[] = {
      {"a free one", "", true, true, {"GET", "PUT", "PUT", "GET", "PUT"}},
      {"a new one", "", false, true, {"GET", "POST", "GET", "PUT"}},
      {"not done", "", true, false, {"GET", "PUT", "PUT"}},
      {"not made", "none", false, false, {"GET", "POST", "GET"}},
      {"somebody else was quicker", "other", true, false, {"GET", "PUT", "PUT", "GET"}},
  };
  for (Code code : {Code::kCancelled, Code::kDeadlineExceeded, Code::kUnavailable})
    for (const auto& c : cases) {
      SCOPED_TRACE(c.name);
      Scenario s;
      if (c.there) s.lease.Write(Released(OfAnother("2026-01-01T00:00:09.000000Z"), WallTime()));
      s.lease.before = [&](size_t number) -> Status {
        if (number == 2) s.stop.request_stop();
        if (number == 2 && c.holder == "other") s.lease.Write(OfAnother("now"));
        return number == 2 && !c.done ? Status(Fault(code)) : Ok();
      };
      LeaseApi api = s.lease.Api();
      auto unanswered = [&](auto write) {
        return [&, write](const Context& ctx, const Object& o) -> Result<Object> {
          auto written = write(ctx, o);
          return s.lease.requests.size() == 2 ? Result<Object>(Fault(code)) : written;
        };
      };
      api.create = unanswered(api.create);
      api.update = unanswered(api.update);
      LeaderElector elector(api, kOptions);
      EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
      elector.Release(s.ctx.WithStop({}));
      EXPECT_EQ(s.lease.lease ? s.lease.Record().holder : "none", c.holder);
      EXPECT_EQ(s.lease.requests, c.requests);
    }
}

// The end came while the write was on its way: it is to find another version than its own when it arrives.
TEST(LeaderElector, WhatIsOnItsWayIsOvertaken) {
  Scenario s;
  s.lease.Write(Released(OfAnother("2026-01-01T00:00:09.000000Z"), WallTime()));
  LeaseApi api = s.lease.Api();
  std::optional<Object> on_its_way;
  api.update = [&, update = api.update](const Context& ctx, const Object& o) -> Result<Object> {
    if (on_its_way) return update(ctx, o);
    on_its_way = o;
    s.stop.request_stop();
    return Fault(Code::kCancelled);
  };
  LeaderElector elector(api, kOptions);
  EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
  elector.Release(s.ctx.WithStop({}));
  EXPECT_EQ(s.lease.Api().update(s.ctx, *on_its_way).code(), Code::kConflict);
  EXPECT_EQ(s.lease.Record().holder, "");
}

// A write that is refused says nothing of the one before it, which had no answer and was done.
TEST(LeaderElector, GivesBackAfterARefusalToo) {
  Scenario s;
  LeaseApi api = s.lease.Api();
  api.create = [&, create = api.create](const Context& ctx, const Object& o) -> Result<Object> {
    auto written = create(ctx, o);
    return Fault(Code::kUnavailable);
  };
  s.lease.before = [&](size_t number) -> Status {
    if (number == 4) s.stop.request_stop();
    return number == 4 ? Status(Fault(Code::kRateLimited)) : Ok();
  };
  LeaderElector elector(api, kOptions);
  EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
  elector.Release(s.ctx.WithStop({}));
  EXPECT_EQ(s.lease.Record().holder, "");
  EXPECT_THAT(s.lease.requests, ElementsAre("GET", "POST", "GET", "PUT", "PUT"));
}

// The end came between the look that showed another holder and the word that the lease is lost: that one's lease was
// given back, at its own version.
TEST(LeaderElector, NeverGivesBackWhatAnotherHolds) {
  Scenario s;
  s.lease.before = [&](size_t number) -> Status {
    if (number == 3) s.lease.Write(OfAnother("now"));
    if (number == 4) s.stop.request_stop();
    return Ok();
  };
  LeaderElector elector(s.lease.Api(), kOptions);
  ASSERT_TRUE(elector.Acquire(s.ctx).ok());
  s.AwaitLoss(elector);
  elector.Release(s.ctx.WithStop({}));
  EXPECT_EQ(s.lease.Record().holder, "other");
  EXPECT_THAT(s.lease.requests, ElementsAre("GET", "POST", "PUT", "GET"));
}

TEST(LeaderElector, ReleaseLeavesWhatClientGoLeaves) {
  FakeClock clock;  // stands still: nothing is renewed
  FakeLease lease(clock);
  Context ctx;
  ctx.clock = &clock;
  LeaderElector elector(lease.Api(), kOptions);
  ASSERT_TRUE(elector.Acquire(ctx).ok());
  EXPECT_FALSE(elector.lost().stop_requested());
  elector.Release(ctx);
  EXPECT_TRUE(elector.lost().stop_requested());
  EXPECT_EQ(elector.valid_until(), MonoTime::min());
  constexpr char kNow[] = "2023-11-14T22:13:20.000000Z";
  EXPECT_EQ(lease.Record(), (LeaseRecord{"", 1, kNow, kNow, 0}));
  EXPECT_THAT(lease.requests, ElementsAre("GET", "POST", "PUT"));
}

// F4: by the clock alone, whatever the elector's thread has come to.
TEST(LeaderElector, AWriteMayStartUntilTheRenewalIsOverdue) {
  FakeClock clock;
  FakeLease lease(clock);
  Context ctx;
  ctx.clock = &clock;
  std::promise<void> renewing, go_on;
  lease.before = [&](size_t number) -> Status {
    if (number <= 2) return Ok();
    renewing.set_value();
    go_on.get_future().wait();
    return Fault(Code::kUnavailable);
  };
  LeaderElector elector(lease.Api(), kOptions);
  EXPECT_EQ(elector.MayWrite(ctx).code(), Code::kFailedPrecondition) << "it isn't ours yet";
  ASSERT_TRUE(elector.Acquire(ctx).ok());
  EXPECT_TRUE(elector.MayWrite(ctx).ok());
  clock.AwaitWaiters(1);
  clock.Advance(kOptions.retry_period);
  renewing.get_future().wait();
  clock.Advance(kOptions.renew_deadline - kOptions.retry_period - Millis(1));
  EXPECT_TRUE(elector.MayWrite(ctx).ok());
  clock.Advance(Millis(1));
  EXPECT_FALSE(elector.lost().stop_requested());
  EXPECT_EQ(elector.MayWrite(ctx).code(), Code::kFailedPrecondition);
  go_on.set_value();
}

// A proxy's or a webhook's answer isn't what was written: nobody leads by it.
TEST(LeaderElector, AnAnswerThatNamesAnotherIsNoLease) {
  Scenario s;
  LeaseApi api = s.lease.Api();
  int tries = 0;
  api.create = [&](const Context&, const Object&) -> Result<Object> {
    if (++tries == 3) s.stop.request_stop();
    return Object(ParseJson("{}").value());
  };
  LeaderElector elector(api, kOptions);
  EXPECT_EQ(elector.Acquire(s.ctx).code(), Code::kCancelled);
  EXPECT_EQ(tries, 3);
}

TEST(LeaderElector, TheContextOfAcquireEndsTheLeadToo) {
  FakeClock clock;
  FakeLease lease(clock);
  std::stop_source stop;
  Context ctx;
  ctx.clock = &clock;
  ctx.stop = stop.get_token();
  LeaderElector elector(lease.Api(), kOptions);
  ASSERT_TRUE(elector.Acquire(ctx).ok());
  clock.AwaitWaiters(1);
  stop.request_stop();
  EXPECT_TRUE(elector.lost().stop_requested());
  elector.Release(ctx.WithStop({}));
  EXPECT_EQ(lease.Record().holder, "");
}

}  // namespace
}  // namespace capi::kube
