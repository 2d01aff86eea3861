#include "operator/act/install/render_turn.h"

namespace capi::ops {

Result<RenderTurns::Turn> RenderTurns::Take(const Context& ctx) {
  MutexLock lock(mu_);
  bool mine = ctx.clock->WaitUntil(free_, mu_, ctx.stop, ctx.deadline.value_or(MonoTime::max()), [this] {
    mu_.AssertHeld();
    return !taken_;
  });
  TRY_WITH(ctx.Check(), "waiting for other providers to be rendered");
  if (!mine) return Error{Code::kDeadlineExceeded, "waiting for other providers to be rendered", {}};
  taken_ = true;
  return Turn(this, [](RenderTurns* turns) {
    MutexLock lock(turns->mu_);
    turns->taken_ = false;
    turns->free_.notify_one();
  });
}

}  // namespace capi::ops
