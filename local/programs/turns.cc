#include "local/programs/turns.h"

namespace capi::local {

Result<Turns::Turn> Turns::Take(const Context& ctx, const std::string& name) {
  constexpr Millis kLook{100};
  MutexLock lock(mu_);
  for (;;) {
    TRY(ctx.Check());
    // Others need true time for their work, whatever the clock that a deadline is of.
    SystemClock().WaitUntil(left_, mu_, ctx.stop, SystemClock().Monotonic() + kLook, [&] {
      mu_.AssertHeld();
      return !taken_.contains(name);
    });
    if (taken_.insert(name).second) return Turn(*this, name);
  }
}

void Turns::Leave(const std::string& name) {
  {
    MutexLock lock(mu_);
    taken_.erase(name);
  }
  left_.notify_all();
}

}  // namespace capi::local
