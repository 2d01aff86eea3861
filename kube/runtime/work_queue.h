// A queue of keys for level-triggered controllers: a key is worked on by one worker at a time, and is queued once
// however often it is added; added while in work it is queued again when the work is done. Keys have a priority
// (behaviour.md F10).
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace capi::kube {

// Who comes first: those of a higher priority before all of a lower one, and among themselves who came first.
enum class Priority { kLater, kNormal, kNow };
inline constexpr std::array kPriorities = {Priority::kNow, Priority::kNormal, Priority::kLater};  // the highest first

// But who has waited for so long is overdue, whatever its priority, and every so many turns the one that has waited for
// the longest gets one. A turn of its own rather than a higher priority: of a queue that takes minutes all would get
// that, and whoever is to come first would be behind them again.
inline constexpr Seconds kOverdue{10};
inline constexpr int kTurnsPerOverdue = 4;

// A value.
struct BackoffOptions {
  Millis base = Millis(200);
  Millis max = Seconds(120);  // also of what jitter makes of it
  double jitter = 0.2;        // the delay is multiplied by 1 - jitter to 1 + jitter
};

// What a queue tells of its work, under its lock: nothing of it may call the queue. Thread-compatible: so it is one at
// a time.
class WorkQueueEvents {
 public:
  virtual ~WorkQueueEvents() = default;
  virtual void OnSize(Priority priority, size_t size) = 0;  // keys of it that are ready, whenever that changes
  virtual void OnAdd() = 0;                                 // a key that wasn't asked for already
  virtual void OnAddAfter() = 0;                            // a key that is to come later
  virtual void OnGet(Priority priority, MonoTime::duration waited) = 0;
  virtual void OnDone(MonoTime::duration worked) = 0;
};

// Of the keys in work at a moment.
struct WorkInHand {
  MonoTime::duration together{0}, longest{0};
};

// Thread-safe.
class WorkQueue {
 public:
  // `events` outlives the queue; null for nobody.
  WorkQueue(Clock& clock, BackoffOptions backoff, unsigned seed, WorkQueueEvents* events = nullptr);

  // A key that waits already moves up to `priority`, as the last one there, and never down.
  void Add(const std::string& key, Priority priority);
  // The earliest time wins; Add supersedes it, also one that came before and waits to be worked on. A key in work that
  // is to go on without a delay keeps the priority that it was got with, where that is the higher one.
  void AddAfter(const std::string& key, Millis delay, Priority priority = Priority::kNormal);
  // A try of the key failed: the time until the next one, which the caller schedules and may tell (behaviour.md F5). It
  // doubles with each failure until Forget, or until one with another `base`, and is at least `at_least`. A try that
  // came before its time leaves that time as it was told, and doubles nothing.
  Millis Backoff(const std::string& key, const BackoffOptions& options, Millis at_least = Millis(0));
  Millis Backoff(const std::string& key, Millis at_least = Millis(0)) { return Backoff(key, options_, at_least); }
  void Forget(const std::string& key);  // success: back-off starts anew

  // Blocks for the next key; nullopt when stopped. Done must follow.
  std::optional<std::string> Get(const std::stop_token& stop);
  void Done(const std::string& key);
  // Of a key in work: whether nothing but its time has asked for it, until now.
  bool ByTimeAlone(const std::string& key) const;
  size_t size() const;  // keys ready to be worked on
  WorkInHand in_hand() const;

 private:
  struct Failures {
    Millis base{0};
    int count = 0;
    MonoTime due;  // of the next try
  };
  // What asks for a key that is ready, or will be when it is done.
  struct Asked {
    MonoTime since;
    Priority priority;
    std::uint64_t place = 0;  // in its line; 0 while it is in none
  };
  struct Work {
    MonoTime since;
    Priority priority;
  };
  struct Due {
    MonoTime at;
    Priority priority;
  };
  using Line = std::map<std::uint64_t, std::string>;  // keys by the order in which they came
  Line& LineOf(Priority priority) CAPI_REQUIRES(mu_) { return ready_[static_cast<size_t>(priority)]; }
  void AddLocked(const std::string& key, Priority priority) CAPI_REQUIRES(mu_);
  void MoveUp(const std::string& key, Asked& asked, Priority priority) CAPI_REQUIRES(mu_);
  std::optional<Priority> NextTurn(MonoTime now) CAPI_REQUIRES(mu_);
  std::string TakeFirst(Priority priority, MonoTime now) CAPI_REQUIRES(mu_);
  size_t ReadyCount() const CAPI_REQUIRES(mu_);
  void ForgetTime(const std::string& key) CAPI_REQUIRES(mu_);
  void PromoteDue() CAPI_REQUIRES(mu_);
  void PushReady(const std::string& key, Asked& asked) CAPI_REQUIRES(mu_);
  void ReportSize(Priority priority) CAPI_REQUIRES(mu_);
  MonoTime NextDue() const CAPI_REQUIRES(mu_);

  Clock& clock_;
  const BackoffOptions options_;
  WorkQueueEvents* const events_;
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  std::array<Line, kPriorities.size()> ready_ CAPI_GUARDED_BY(mu_);  // by priority
  std::uint64_t last_place_ CAPI_GUARDED_BY(mu_) = 0;
  int turns_without_overdue_ CAPI_GUARDED_BY(mu_) = 0;       // that passed an overdue key over
  std::map<std::string, Asked> dirty_ CAPI_GUARDED_BY(mu_);  // in a line, or to go there when done
  std::map<std::string, Work> processing_ CAPI_GUARDED_BY(mu_);
  std::set<std::string> timed_ CAPI_GUARDED_BY(mu_);  // ready or in work because their time had come
  std::map<std::string, Due> waiting_ CAPI_GUARDED_BY(mu_);
  std::set<std::pair<MonoTime, std::string>> by_time_ CAPI_GUARDED_BY(mu_);  // the same as waiting_
  std::map<std::string, Failures> failures_ CAPI_GUARDED_BY(mu_);
  std::mt19937 random_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
