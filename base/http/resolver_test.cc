// F8: a name that nobody resolves holds up no call beyond its time, and takes a few threads at most.
#include "base/http/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/http/connection.h"

namespace capi::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Look-ups that hang until they are let go. Thread-safe; it outlives the threads that use it.
class Hanging {
 public:
  Result<std::vector<std::string>> LookUp(const std::string& host) {
    MutexLock lock(mu_);
    begun_.insert(host);
    most_ = std::max(most_, ++running_);
    changed_.notify_all();
    changed_.wait(mu_, [this] {
      mu_.AssertHeld();
      return open_;
    });
    --running_;
    changed_.notify_all();
    if (host == "none") return Error{Code::kUnavailable, "no such name", {}};
    return std::vector<std::string>{"10.0.0.1", "10.0.0.2"};
  }
  void Open() {
    MutexLock lock(mu_);
    open_ = true;
    changed_.notify_all();
  }
  void AwaitBegun(size_t count) {
    MutexLock lock(mu_);
    changed_.wait(mu_, [&] {
      mu_.AssertHeld();
      return begun_.size() >= count;
    });
  }
  std::multiset<std::string> begun() {
    MutexLock lock(mu_);
    return begun_;
  }
  int most() {
    MutexLock lock(mu_);
    return most_;
  }

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  bool open_ CAPI_GUARDED_BY(mu_) = false;
  int running_ CAPI_GUARDED_BY(mu_) = 0, most_ CAPI_GUARDED_BY(mu_) = 0;
  std::multiset<std::string> begun_ CAPI_GUARDED_BY(mu_);
};

class ResolverTest : public ::testing::Test {
 protected:
  static constexpr size_t kThreads = 2;
  ~ResolverTest() override { hanging_->Open(); }

  static MonoTime After(Millis time) { return SystemClock().Monotonic() + time; }

  std::shared_ptr<Hanging> hanging_ = std::make_shared<Hanging>();
  Resolver resolver_{[hanging = hanging_](const std::string& host) { return hanging->LookUp(host); }, kThreads};
};

TEST_F(ResolverTest, AnAddressIsItsOwnAnswer) {
  EXPECT_THAT(*resolver_.Resolve(Context(), "::1", After(Seconds(9))), ElementsAre("::1"));
  EXPECT_TRUE(hanging_->begun().empty());
}

TEST_F(ResolverTest, ACallEndsWithItsTime) {
  auto limited = resolver_.Resolve(Context(), "h", After(Millis(50)));
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.code(), Code::kUnavailable);
  EXPECT_EQ(limited.error().message, "look up h: timed out");
  EXPECT_EQ(resolver_.Resolve(Context().WithTimeout(Millis(50)), "h", After(Seconds(60))).code(),
            Code::kDeadlineExceeded);
  std::stop_source stop;
  std::jthread stopper([&] {
    hanging_->AwaitBegun(1);
    stop.request_stop();
  });
  EXPECT_EQ(resolver_.Resolve(Context().WithStop(stop.get_token()), "h", After(Seconds(60))).code(), Code::kCancelled);
}

// A connection has connect_timeout for all that comes before it.
TEST_F(ResolverTest, AConnectionGivesUpResolving) {
  Context ctx;
  Waiter waiter(ctx);
  auto connection = Connection::Dial(waiter, "h", 80, After(Millis(50)), resolver_);
  ASSERT_FALSE(connection.ok());
  EXPECT_EQ(connection.code(), Code::kUnavailable);
  EXPECT_THAT(connection.error().message, HasSubstr("look up h: timed out"));
}

TEST_F(ResolverTest, TakesAFewThreadsAtMostAndBeginsNothingForNobody) {
  std::vector<std::jthread> patient;
  for (size_t i = 0; i < kThreads; ++i) {
    patient.emplace_back(
        [&, i] { EXPECT_TRUE(resolver_.Resolve(Context(), std::to_string(i), After(Seconds(20))).ok()); });
  }
  hanging_->AwaitBegun(kThreads);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(resolver_.Resolve(Context(), "h" + std::to_string(i), After(Millis(1))).ok());
  }
  hanging_->Open();
  ASSERT_TRUE(resolver_.Resolve(Context(), "last", After(Seconds(20))).ok());
  EXPECT_EQ(hanging_->most(), static_cast<int>(kThreads));
  EXPECT_EQ(hanging_->begun().size(), kThreads + 1) << "the calls for the others had ended";
}

TEST_F(ResolverTest, CallsForOneNameShareALookUp) {
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        EXPECT_THAT(*resolver_.Resolve(Context(), "h", After(Seconds(20))), ElementsAre("10.0.0.1", "10.0.0.2"));
      });
    }
    hanging_->AwaitBegun(1);
    EXPECT_FALSE(resolver_.Resolve(Context(), "h", After(Millis(50))).ok()) << "it joined them, and gave up";
    EXPECT_EQ(hanging_->begun().size(), 1u);
    hanging_->Open();
  }
  auto none = resolver_.Resolve(Context(), "none", After(Seconds(20)));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "look up none: no such name");
}

}  // namespace
}  // namespace capi::http
