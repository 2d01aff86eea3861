#include "kube/runtime/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/testing/await.h"

namespace capi::kube {
namespace {

// A small operator: a server, an informer, a lease, a part and a controller that need it; `steps` tells what happened
// in which order.
class Operator {
 public:
  Operator()
      : informer_({.list = [](const Context&) { return Result<ObjectList>(ObjectList{}); },
                   .watch = [this](const Context& ctx, const std::string&, bool,
                                   const auto& on_event) { return Watch(ctx, on_event); }},
                  std::make_shared<ServerState>([](const Context&) { return Ok(); }, 1), Builtin("ConfigMap"), {},
                  nullptr),
        elector_({.get = [this](const Context&) { return GetLease(); },
                  .create = [this](const Context&, const Object& o) { return WriteLease(o, "lease taken"); },
                  .update = [this](const Context&, const Object& o) { return WriteLease(o, "lease given back"); }},
                 {.ns = "n", .name = "lock", .identity = "me"}),
        controller_(
            {.name = "provider", .workers = 1},
            [this](const Context& ctx, const std::string&) { return Reconcile(ctx); }, metrics_, clock),
        manager(clock) {
    manager.Add(
        "leading", [this](const Context& ctx) { return Part(ctx, "leading part"); }, true);
    manager.Add(controller_);
    manager.Add(informer_);
    manager.LeadBy(elector_);
    manager.Add("server", [this](const Context& ctx) { return Part(ctx, "server"); });
    controller_.queue().Add("key", Priority::kNormal);
  }

  // Runs until `done` says so of the steps, then stops.
  Status RunUntil(const std::function<bool()>& done) {
    Status result;
    std::thread thread([&] {
      Context ctx;
      ctx.stop = stop.get_token();
      result = manager.Run(ctx);
    });
    EXPECT_TRUE(Await(done));
    stop.request_stop();
    thread.join();
    return result;
  }

  void Step(const std::string& step) {
    MutexLock lock(mu_);
    steps_.push_back(step);
  }
  bool Has(const std::string& step) { return Position(step) >= 0; }
  long Position(const std::string& step) {
    MutexLock lock(mu_);
    auto found = std::find(steps_.begin(), steps_.end(), step);
    return found == steps_.end() ? -1 : found - steps_.begin();
  }
  size_t Count(const std::string& step) {
    MutexLock lock(mu_);
    return static_cast<size_t>(std::count(steps_.begin(), steps_.end(), step));
  }
  // Each of `steps` has happened, one after the other.
  void ExpectOrder(const std::vector<std::string>& steps) {
    for (size_t i = 0; i < steps.size(); ++i) {
      EXPECT_GE(Position(steps[i]), 0) << steps[i];
      if (i == 0) continue;
      EXPECT_LT(Position(steps[i - 1]), Position(steps[i])) << steps[i - 1] << " before " << steps[i];
    }
  }

  FakeClock clock;
  std::stop_source stop;
  std::optional<Error> refusal;  // what the server says to the informer
  std::atomic<bool> may_sync = true, lease_is_taken = false, lease_breaks = false;

 private:
  Status Part(const Context& ctx, const std::string& name) {
    Step(name + " started");
    SystemClock().Sleep(ctx.stop, std::chrono::hours(1));
    Step(name + " stopped");
    return Ok();
  }

  Status Watch(const Context& ctx, const CollectionSource::OnEvent& on_event) {
    if (refusal) {
      Step("refused");
      return *refusal;
    }
    while (!may_sync && !ctx.stop.stop_requested()) std::this_thread::yield();
    if (may_sync) Step("synced");
    if (may_sync) TRY(on_event({WatchEvent::Type::kBookmark, Object(), true}));
    SystemClock().Sleep(ctx.stop, std::chrono::hours(1));
    Step("informer stopped");
    return Error{Code::kCancelled, "stopped", {}};
  }

  Result<Outcome> Reconcile(const Context& ctx) {
    Step("pass started");
    SystemClock().Sleep(ctx.stop, std::chrono::hours(1));
    Step("pass ended");
    return Outcome{};
  }

  Result<Object> GetLease() {
    Step("lease asked for");
    if (!lease_is_taken) return Error{Code::kNotFound, "no lease", {}};
    return Object(Json{{"spec", {{"holderIdentity", "other"}, {"leaseDurationSeconds", 15}}}});
  }
  Result<Object> WriteLease(const Object& lease, const std::string& step) {
    if (lease_breaks && step != "lease taken") return Error{Code::kUnavailable, "away", {}};
    if (step == "lease taken" || GetString(lease.json(), {"spec", "holderIdentity"}).empty()) Step(step);
    return lease;
  }

  Mutex mu_;
  std::vector<std::string> steps_;
  Metrics metrics_;
  Informer informer_;
  LeaderElector elector_;
  Controller controller_;

 public:
  Manager manager;
};

TEST(Manager, StartsInOrderAndStopsInReverse) {
  Operator op;
  Status result =
      op.RunUntil([&] { return op.Has("pass started") && op.Has("leading part started") && op.Has("server started"); });
  EXPECT_TRUE(result.ok());
  op.ExpectOrder({"synced", "lease asked for", "lease taken", "pass started", "pass ended", "lease given back",
                  "informer stopped", "server stopped"});
  op.ExpectOrder({"lease taken", "leading part started", "leading part stopped", "lease given back"});
}

TEST(Manager, ServesButDoesNotLeadWhileAnInformerHasNotSynced) {
  Operator op;
  op.may_sync = false;
  Status result = op.RunUntil([&] { return op.Has("server started"); });
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(op.manager.Ready());
  EXPECT_FALSE(op.Has("lease asked for"));
  EXPECT_FALSE(op.Has("pass started"));
  EXPECT_TRUE(op.Has("server stopped"));
}

TEST(Manager, IsReadyWhileItWaitsToLead) {
  Operator op;
  op.lease_is_taken = true;
  Status result = op.RunUntil([&] { return op.Has("lease asked for"); });
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(op.manager.Ready());
  EXPECT_FALSE(op.Has("pass started"));
  EXPECT_FALSE(op.Has("lease given back")) << "it was another's";
}

TEST(Manager, ALostLeaseEndsEverything) {
  Operator op;
  op.lease_breaks = true;
  Status result;
  std::thread thread([&] { result = op.manager.Run(Context{.stop = op.stop.get_token()}); });
  EXPECT_TRUE(Await([&] { return op.Has("pass started") && op.Has("server started"); }));
  bool ended = Await([&] {
    op.clock.Advance(Millis(100));
    return op.Has("server stopped");
  });
  EXPECT_TRUE(ended);
  if (!ended) op.stop.request_stop();
  thread.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.code(), Code::kFailedPrecondition);
  op.ExpectOrder({"pass started", "pass ended", "informer stopped", "server stopped"});
}

// F7: what can't be listed keeps nobody from leading for ever; but an outage, or a server that is slow to answer, is
// waited for.
TEST(Manager, LeadsWithoutAKindThatIsRefused) {
  struct Case {
    Code code;
    std::string message;
    Seconds patience;
  };
  const Case cases[] = {{Code::kNotFound, "no such thing", Seconds(30)},
                        {Code::kPermissionDenied, "forbidden", Seconds(30)},
                        {Code::kInternal, "bad object", Seconds(30)},
                        {Code::kUnavailable, "conversion webhook for a/v1, Kind=B failed", Seconds(3)}};
  for (const Case& c : cases) {
    SCOPED_TRACE(CodeName(c.code));
    Operator op;
    op.refusal = Error{c.code, c.message, {}};
    const MonoTime start = op.clock.Monotonic();
    bool asked = false;
    Status result = op.RunUntil([&] {
      // No further than it may wait: a longer patience would wait for ever.
      bool may_wait = op.clock.Monotonic() - start < c.patience + Seconds(15);
      if (!asked && may_wait) {
        op.clock.AwaitWaiters(2);  // who waits for the caches, and the informer that was refused
        op.clock.Advance(Millis(500));
      }
      asked = asked || op.Has("lease asked for");
      return op.Has("pass started");
    });
    EXPECT_TRUE(result.ok());
    EXPECT_GE(op.clock.Monotonic() - start, c.patience);
    EXPECT_TRUE(op.manager.Ready());
  }
}

TEST(Manager, WaitsForAServerThatIsAway) {
  Operator op;
  op.refusal = Error{Code::kUnavailable, "nobody there", {}};
  const MonoTime start = op.clock.Monotonic();
  Status result = op.RunUntil([&] {
    op.clock.Advance(Millis(500));
    return op.Count("refused") > 10 && op.clock.Monotonic() - start > Seconds(600);
  });
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(op.Has("lease asked for"));
  EXPECT_FALSE(op.manager.Ready());
}

// F7: the process ends with the reason, in good order: a part that isn't there any more is nothing to go on without.
TEST(Manager, APartThatFailsEndsEverythingWithItsReason) {
  struct Case {
    std::string name;
    std::function<Status()> ends;
    Code code;
    std::string message;
  };
  const Case cases[] = {
      {"an error",
       [] {
         return Status(Error{Code::kUnavailable, "port taken", {}});
       },
       Code::kUnavailable, "odd part: port taken"},
      {"an exception", []() -> Status { throw std::runtime_error("a bug"); }, Code::kInternal,
       "odd part: exception: a bug"},
      {"another exception", []() -> Status { throw 1; }, Code::kInternal,
       "odd part: an exception that isn't one of the standard library's"},
      {"an end", [] { return Ok(); }, Code::kInternal, "odd part: it ended by itself"},
  };
  for (const Case& c : cases) {
    for (bool needs_lead : {false, true}) {
      SCOPED_TRACE(c.name);
      Operator op;
      auto odd = [&](const Context&) {
        while (!op.Has("pass started")) std::this_thread::yield();
        return c.ends();
      };
      op.manager.Add("odd part", odd, needs_lead);
      Status result = op.manager.Run({});
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.code(), c.code);
      EXPECT_EQ(result.error().message, c.message);
      op.ExpectOrder({"pass started", "pass ended", "lease given back", "informer stopped", "server stopped"});
    }
  }
}

TEST(Manager, RunsWithoutElectionToo) {
  FakeClock clock;
  Manager manager(clock);
  std::latch both(2);
  std::atomic<int> ended = 0;
  for (bool needs_lead : {false, true}) {
    manager.Add(
        "part",
        [&](const Context& ctx) {
          both.arrive_and_wait();
          SystemClock().Sleep(ctx.stop, std::chrono::hours(1));
          ++ended;
          return Ok();
        },
        needs_lead);
  }
  std::stop_source stop;
  std::thread stopper([&] {
    both.wait();
    stop.request_stop();
  });
  Context ctx;
  ctx.stop = stop.get_token();
  EXPECT_TRUE(manager.Run(ctx).ok());
  EXPECT_EQ(ended, 2);
  stopper.join();
}

}  // namespace
}  // namespace capi::kube
