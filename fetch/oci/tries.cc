#include "fetch/oci/tries.h"

#include <algorithm>

#include "fetch/download.h"

namespace capi::fetch {
namespace {

constexpr int kMost = 4;
constexpr Seconds kLongestWait{60};

}  // namespace

Status Tries::Next(const Context& ctx, const Error& why) {
  TRY(ctx.Check());
  const Millis own = Seconds(1 << made_), wait = std::max(own, why.retry_after.value_or(own));
  const bool late = wait > kLongestWait || (ctx.deadline && ctx.clock->Monotonic() + wait >= *ctx.deadline);
  if (!IsAway(why.code) || ++made_ == kMost || late) return why;
  ctx.clock->Sleep(ctx.stop, wait);
  return ctx.Check();
}

}  // namespace capi::fetch
