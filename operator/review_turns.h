// Who of those that nobody knows yet may have the API server asked about them now (behaviour.md T5, T5a).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "base/mutex.h"

namespace capi::ops {

// Gives turns in the order in which their takers came. A few may wait, and not for reviews that hang: whoever waits
// holds a thread, and those who need no turn are served by what is left. So one who comes while the line is full, as it
// is where many ask all the time, has to come again. Thread-safe; outlives the turns that it gave.
class ReviewTurns {
 public:
  // Turns at once, and who may wait for one.
  static constexpr size_t kAtOnce = 4, kInLine = 8;
  // How long one waits, and from when on reviews that are under way hang.
  static constexpr Seconds kLongestWait{1};

  struct GiveBack {
    std::list<MonoTime>::iterator began = {};
    void operator()(ReviewTurns* turns) const;
  };
  // Ends with its scope.
  using Turn = std::unique_ptr<ReviewTurns, GiveBack>;

  explicit ReviewTurns(Clock& clock) : clock_(clock) {}

  // Blocks for kLongestWait at most. Null where it won't be the caller's turn in that time: kInLine wait already, or
  // all turns are taken by reviews that hang. Null as well once `stop` is asked for.
  Turn Take(const std::stop_token& stop);

 private:
  using Place = std::list<MonoTime>::iterator;
  bool IsNext(Place place) CAPI_REQUIRES(mu_);
  MonoTime GivesUpAt(Place place) CAPI_REQUIRES(mu_);
  void Changed() CAPI_REQUIRES(mu_);

  Clock& clock_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::uint64_t changes_ CAPI_GUARDED_BY(mu_) = 0;
  std::list<MonoTime> line_ CAPI_GUARDED_BY(mu_);       // when each came who waits, the first one first
  std::list<MonoTime> under_way_ CAPI_GUARDED_BY(mu_);  // when each turn began, the last one last
};

}  // namespace capi::ops
