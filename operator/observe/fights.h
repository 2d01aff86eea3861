// Fights over a field or an object, damped (behaviour.md D2): who changes the same thing five times in a minute gets
// restored less and less often, until the fight ends.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// In memory: after a restart a fight that goes on is found again within a minute. Thread-safe.
class Fights {
 public:
  explicit Fights(Clock& clock) : clock_(clock) {}

  // Sets `wait` of each drift, and returns the fights of `provider`. To be called with all that is drifted now: a fight
  // over what hasn't drifted for a minute is over.
  std::vector<Fight> Judge(const std::string& provider, std::vector<Drift>& drifts);
  // `drift` was just restored; `what` as Describe says it.
  void Restored(const std::string& provider, const Drift& drift, std::string what);
  // `drift` was to be restored, and could not be: a fight that goes on over it waits longer, too.
  void Failed(const std::string& provider, const Drift& drift);
  void Forget(const std::string& provider);

 private:
  struct Record {
    std::deque<MonoTime> restored;  // within the last minute
    MonoTime last{};
    int level = 0;  // of the back-off; 0 for no fight
    size_t total = 0;
    std::string what;
  };
  using Key = std::pair<kube::ObjectId, std::string>;  // with the drift's signature
  static Millis Delay(int level);

  Clock& clock_;
  Mutex mu_;
  std::map<std::string, std::map<Key, Record>> records_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
