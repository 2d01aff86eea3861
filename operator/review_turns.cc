#include "operator/review_turns.h"

#include <algorithm>

namespace capi::ops {

void ReviewTurns::GiveBack::operator()(ReviewTurns* turns) const {
  MutexLock lock(turns->mu_);
  turns->under_way_.erase(began);
  turns->Changed();
}

ReviewTurns::Turn ReviewTurns::Take(const std::stop_token& stop) {
  MutexLock lock(mu_);
  if (stop.stop_requested() || line_.size() == kInLine) return nullptr;
  const Place place = line_.insert(line_.end(), clock_.Monotonic());
  while (!IsNext(place)) {
    const MonoTime until = GivesUpAt(place);
    if (stop.stop_requested() || until <= clock_.Monotonic()) {
      line_.erase(place);
      Changed();
      return nullptr;
    }
    clock_.WaitUntil(changed_, mu_, stop, until, [this, seen = changes_] {
      mu_.AssertHeld();
      return changes_ != seen;
    });
  }
  under_way_.splice(under_way_.end(), line_, place);
  *place = clock_.Monotonic();
  Changed();
  return Turn(this, GiveBack{place});
}

bool ReviewTurns::IsNext(Place place) { return place == line_.begin() && under_way_.size() < kAtOnce; }

MonoTime ReviewTurns::GivesUpAt(Place place) {
  MonoTime at = *place + kLongestWait;
  if (under_way_.size() == kAtOnce) at = std::min(at, under_way_.back() + kLongestWait);  // the others are older
  return at;
}

// When each gives up depends on the others.
void ReviewTurns::Changed() {
  ++changes_;
  changed_.notify_all();
}

}  // namespace capi::ops
