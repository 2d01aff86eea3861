// What a call carries down: when to stop, until when, where to log, and in whose name.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace capi {

// A value; copy it freely. A child never outlives its parent's deadline.
struct Context {
  std::stop_token stop;
  std::optional<MonoTime> deadline;
  Logger log;
  Clock* clock = &SystemClock();
  // In whose name servers are asked, where they know such (Kubernetes: impersonation); "" for the caller's own.
  std::string in_name_of;

  // This context with a deadline no later than `timeout` from now.
  Context WithTimeout(Millis timeout) const {
    Context out = *this;
    MonoTime end = clock->Monotonic() + timeout;
    if (!deadline || end < *deadline) out.deadline = end;
    return out;
  }
  Context WithLog(Logger logger) const {
    Context out = *this;
    out.log = std::move(logger);
    return out;
  }
  Context WithStop(std::stop_token token) const {
    Context out = *this;
    out.stop = std::move(token);
    return out;
  }

  Context InNameOf(std::string who) const {
    Context out = *this;
    out.in_name_of = std::move(who);
    return out;
  }
  Context InOwnName() const { return InNameOf(""); }

  // kCancelled or kDeadlineExceeded when there is no point in going on.
  Status Check() const {
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped", {}};
    if (deadline && clock->Monotonic() >= *deadline) return Error{Code::kDeadlineExceeded, "deadline exceeded", {}};
    return Ok();
  }
};

}  // namespace capi
