// A queue of keys for level-triggered controllers: a key is worked on by one worker at a time, and is queued once
// however often it is added; added while in work it is queued again when the work is done.
#pragma once

#include <map>
#include <set>
#include <deque>
#include <optional>
#include <random>
#include <string>

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
  WorkQueue(Clock& clock, BackoffOptions backoff, unsigned seed);

  void Add(const std::string& key);
  void AddAfter(const std::string& key, Millis delay);  // the earliest time wins; Add supersedes it
  Millis AddBackoff(const std::string& key);            // returns the delay: doubles with each call until Forget
  void Forget(const std::string& key);                  // success: back-off starts anew

  // Blocks for the next key; nullopt when stopped. Done must follow.
  std::optional<std::string> Get(const std::stop_token& stop);
  void Done(const std::string& key);
  size_t size() const;  // keys ready to be worked on

 private:
  void AddLocked(const std::string& key) CAPI_REQUIRES(mu_);
  Clock& clock_;
  BackoffOptions options_;
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  std::deque<std::string> ready_ CAPI_GUARDED_BY(mu_);
  std::set<std::string> dirty_ CAPI_GUARDED_BY(mu_), processing_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, MonoTime> waiting_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, int> failures_ CAPI_GUARDED_BY(mu_);
  std::mt19937 random_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
