#include "local/programs/turns.h"

namespace capi::local {

Result<Turns::Turn> Turns::Take(const Context& ctx, const std::string& name) {
  constexpr Millis kLook{60'000};  // where there is no deadline
  MutexLock lock(mu_);
  for (;;) {
    TRY(ctx.Check());
    const MonoTime until = ctx.deadline.value_or(ctx.clock->Monotonic() + kLook);
    ctx.clock->WaitUntil(left_, mu_, ctx.stop, until, [&] {
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
