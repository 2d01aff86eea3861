#include "fetch/oci/tries.h"

#include <algorithm>

#include "fetch/download.h"

namespace capi::fetch {
namespace {

constexpr int kMost = 4;
constexpr Seconds kLongestWait{60};

Status CheckTime(const Context& ctx, const Error& why) {
  Status over = ctx.Check();
  return over.ok() ? over : Status(over.error().With(why.message));
}

}  // namespace

Status Tries::Next(const Context& ctx, const Error& why) {
  TRY(CheckTime(ctx, why));
  const Millis own = Seconds(1 << made_), wait = std::max(own, why.retry_after.value_or(own));
  const bool late = wait > kLongestWait || (ctx.deadline && ctx.clock->Monotonic() + wait >= *ctx.deadline);
  if (!IsAway(why.code) || ++made_ == kMost || late) return why;
  if (before_wait_) before_wait_(why, wait);
  ctx.clock->Sleep(ctx.stop, wait);
  return CheckTime(ctx, why);
}

}  // namespace capi::fetch
