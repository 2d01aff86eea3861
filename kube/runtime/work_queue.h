// A queue of keys for level-triggered controllers: a key is worked on by one worker at a time, and is queued once
// however often it is added; added while in work it is queued again when the work is done.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace capi::kube {

struct BackoffOptions {
  Millis base = Millis(200);
  Millis max = Seconds(120);
  double jitter = 0.2;  // the delay is multiplied by 1 - jitter to 1 + jitter
};

// Thread-safe.
class WorkQueue {
 public:
  // `on_size` is told size() whenever it changes, under the queue's lock: it must not call back.
  WorkQueue(Clock& clock, BackoffOptions backoff, unsigned seed, std::function<void(size_t)> on_size = nullptr);

  void Add(const std::string& key);
  // The earliest time wins; Add supersedes it, also one that came before and waits to be worked on.
  void AddAfter(const std::string& key, Millis delay);
  // Returns the delay: doubles with each call until Forget, and is at least `at_least`.
  Millis AddBackoff(const std::string& key, Millis at_least = Millis(0));
  void Forget(const std::string& key);  // success: back-off starts anew

  // Blocks for the next key; nullopt when stopped. Done must follow.
  std::optional<std::string> Get(const std::stop_token& stop);
  void Done(const std::string& key);
  size_t size() const;  // keys ready to be worked on

 private:
  void AddLocked(const std::string& key) CAPI_REQUIRES(mu_);
  void ForgetTime(const std::string& key) CAPI_REQUIRES(mu_);
  void PromoteDue() CAPI_REQUIRES(mu_);
  void PushReady(const std::string& key) CAPI_REQUIRES(mu_);
  void ReportSize() CAPI_REQUIRES(mu_);
  MonoTime NextDue() const CAPI_REQUIRES(mu_);

  Clock& clock_;
  const BackoffOptions options_;
  const std::function<void(size_t)> on_size_;
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  std::deque<std::string> ready_ CAPI_GUARDED_BY(mu_);
  std::set<std::string> dirty_ CAPI_GUARDED_BY(mu_);  // in ready_, or to go there when done
  std::set<std::string> processing_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, MonoTime> waiting_ CAPI_GUARDED_BY(mu_);
  std::set<std::pair<MonoTime, std::string>> by_time_ CAPI_GUARDED_BY(mu_);  // the same as waiting_
  std::map<std::string, int> failures_ CAPI_GUARDED_BY(mu_);
  std::mt19937 random_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
