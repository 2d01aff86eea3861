// Looks after a plane while a command works in it.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

#include "base/context.h"
#include "local/plane/plane_folder.h"

namespace capi::cli {

// While it lives, its context stops when the plane's supervisor is gone for `patience`: what waits for an outage of the
// API server would wait for nothing. One that another `up` starts anew is away for less. Thread-compatible.
class PlaneWatch {
 public:
  // `ctx` and `folder` outlive it. This process must not hold the plane's lock meanwhile.
  PlaneWatch(const Context& ctx, const local::PlaneFolder& folder, Millis patience = Seconds(3));
  ~PlaneWatch();
  PlaneWatch(const PlaneWatch&) = delete;
  PlaneWatch& operator=(const PlaneWatch&) = delete;

  // Stops with that of the constructor, too.
  Context context() const { return ctx_.WithStop(stop_.get_token()); }

  // `done`; where it failed since the plane has ended, that this is why. To be called once, at the end.
  Status Explain(Status done);

 private:
  void Watch(Millis patience);

  const Context& ctx_;
  const local::PlaneFolder& folder_;
  std::stop_source stop_, over_;
  bool ended_ = false;  // read once the thread has ended
  std::stop_callback<std::function<void()>> passed_on_;
  std::thread thread_;
};

}  // namespace capi::cli
