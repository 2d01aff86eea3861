// A queue of keys for level-triggered controllers: a key is worked on by one worker at a time, and is queued once
// however often it is added; added while in work it is queued again when the work is done.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace capi::kube {

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
  virtual void OnSize(size_t size) = 0;  // size(), whenever it changes
  virtual void OnAdd() = 0;              // a key that wasn't asked for already
  virtual void OnAddAfter() = 0;         // a key that is to come later
  virtual void OnGet(MonoTime::duration waited) = 0;
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

  void Add(const std::string& key);
  // The earliest time wins; Add supersedes it, also one that came before and waits to be worked on.
  void AddAfter(const std::string& key, Millis delay);
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
  void AddLocked(const std::string& key) CAPI_REQUIRES(mu_);
  void ForgetTime(const std::string& key) CAPI_REQUIRES(mu_);
  void PromoteDue() CAPI_REQUIRES(mu_);
  void PushReady(const std::string& key) CAPI_REQUIRES(mu_);
  void ReportSize() CAPI_REQUIRES(mu_);
  MonoTime NextDue() const CAPI_REQUIRES(mu_);

  Clock& clock_;
  const BackoffOptions options_;
  WorkQueueEvents* const events_;
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  std::deque<std::string> ready_ CAPI_GUARDED_BY(mu_);
  // In ready_, or to go there when done: since when.
  std::map<std::string, MonoTime> dirty_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, MonoTime> processing_ CAPI_GUARDED_BY(mu_);  // since when
  std::set<std::string> timed_ CAPI_GUARDED_BY(mu_);                 // ready or in work because their time had come
  std::map<std::string, MonoTime> waiting_ CAPI_GUARDED_BY(mu_);
  std::set<std::pair<MonoTime, std::string>> by_time_ CAPI_GUARDED_BY(mu_);  // the same as waiting_
  std::map<std::string, Failures> failures_ CAPI_GUARDED_BY(mu_);
  std::mt19937 random_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
