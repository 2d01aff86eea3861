#include "cli/local/plane_watch.h"

#include <fmt/format.h>

#include "local/plane/plane_lock.h"

namespace capi::cli {
namespace {

constexpr Millis kLook{200};

bool IsGone(const local::PlaneFolder& folder) {
  const auto holder = local::SupervisorOf(folder.Lock());
  return holder.ok() && !*holder;
}

}  // namespace

PlaneWatch::PlaneWatch(const Context& ctx, const local::PlaneFolder& folder, Millis patience)
    : ctx_(ctx),
      folder_(folder),
      passed_on_(ctx.stop, [this] { stop_.request_stop(); }),
      thread_([this, patience] { Watch(patience); }) {}

PlaneWatch::~PlaneWatch() {
  over_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void PlaneWatch::Watch(Millis patience) {
  MonoTime seen = ctx_.clock->Monotonic();
  do {
    const bool gone = IsGone(folder_);
    const MonoTime now = ctx_.clock->Monotonic();
    if (!gone) seen = now;
    if (now - seen < patience) continue;
    ended_ = true;
    stop_.request_stop();
    return;
  } while (ctx_.clock->Sleep(over_.get_token(), kLook));
}

Status PlaneWatch::Explain(Status done) {
  over_.request_stop();
  thread_.join();
  if (done.ok() || ctx_.stop.stop_requested()) return done;
  if (!ended_ && !(done.error().Transient() && IsGone(folder_))) return done;
  return Error{Code::kUnavailable,
               fmt::format("the plane in {} has ended meanwhile: the same command goes on with it", folder_.path()),
               {}};
}

}  // namespace capi::cli
