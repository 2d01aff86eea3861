// Why a pass goes no further, as data: the condition that says so, in words for a person, and what ends the wait.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace capi::ops {

enum class Retry {
  kOnChange,  // terminal: nothing but a change of input helps (Stalled)
  kWaiting,   // something else has to happen first, and its event wakes this provider
  kBackoff,   // transient: try again by the queue's back-off
  kAt,        // try again after `after`
};

// A value.
struct Hold {
  std::string condition;  // type of the condition that becomes False
  std::string reason;     // api/reasons.h
  std::string message;
  Retry retry = Retry::kOnChange;
  std::optional<Millis> after = std::nullopt;
};

// The retry that an error's code asks for.
inline Retry RetryFor(const Error& error) {
  if (error.retry_after) return Retry::kAt;
  return error.Transient() ? Retry::kBackoff : Retry::kOnChange;
}

inline Hold HoldFor(std::string condition, std::string reason, const Error& error) {
  return Hold{std::move(condition), std::move(reason), error.message, RetryFor(error), error.retry_after};
}

}  // namespace capi::ops
