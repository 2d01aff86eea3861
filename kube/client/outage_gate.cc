#include "kube/client/outage_gate.h"

#include <algorithm>

namespace capi::kube {
namespace {

constexpr Millis kSpacing(500);

}  // namespace

Status OutageGate::Enter(const Context& ctx) {
  MutexLock lock(mu_);
  if (!failure_) return Ok();
  MonoTime turn = std::max(next_turn_, ctx.clock->Monotonic());
  if (ctx.deadline && turn > *ctx.deadline) return Error{Code::kUnavailable, *failure_, {}};
  next_turn_ = turn + kSpacing;
  ctx.clock->WaitUntil(changed_, mu_, ctx.stop, turn, [this] {
    mu_.AssertHeld();
    return !failure_;
  });
  Status may = ctx.Check();
  if (failure_ && !may.ok() && may.code() == Code::kDeadlineExceeded) return Error{Code::kUnavailable, *failure_, {}};
  return may;
}

void OutageGate::Answered(const Context& ctx) {
  MutexLock lock(mu_);
  last_answer_ = ctx.clock->Monotonic();
  failure_.reset();
  changed_.notify_all();
}

void OutageGate::Lost(const Context& ctx, MonoTime started, const Error& error) {
  MutexLock lock(mu_);
  if (last_answer_ > started) return;
  if (!failure_) next_turn_ = ctx.clock->Monotonic();
  failure_ = error.message;
}

}  // namespace capi::kube
