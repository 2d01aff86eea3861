// Why a pass goes no further, as data: the condition that says so, in words for a person, and what ends the wait.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace capi::ops {

enum class Retry {
  kOnChange,  // terminal: only a change helps, of an input or of the release at its source (Stalled)
  kWaiting,   // something else has to happen first, and its event wakes this provider
  kPolled,    // something else has to happen first, and no event tells: tried again now and then
  kBackoff,   // transient: again soon, and then less and less often, not before `after`
  kRefused,  // by the API server, for what may change unseen (rights, a webhook): Stalled, and tried again now and then
  kAt,       // try again after `after`
};

// A value. How each is tried again: next_pass.h.
struct Hold {
  std::string condition;  // type of the condition that becomes False
  std::string reason;     // api/reasons.h
  std::string message;
  Retry retry = Retry::kOnChange;
  std::optional<Millis> after = std::nullopt;       // of kBackoff and kAt: until the next try
  std::optional<WallTime> next_try = std::nullopt;  // set when it is reported, where the message is to tell it
};

// The retry that an error's code asks for.
inline Retry RetryFor(const Error& error) {
  return error.Transient() || error.retry_after ? Retry::kBackoff : Retry::kOnChange;
}

inline Hold HoldFor(std::string condition, std::string reason, const Error& error) {
  return Hold{std::move(condition), std::move(reason), error.message, RetryFor(error), error.retry_after};
}

// The same of an answer of the API server: no event tells that it would take now what it refused (F6).
inline Hold ServerHold(std::string condition, std::string reason, const Error& error) {
  Hold hold = HoldFor(std::move(condition), std::move(reason), error);
  if (hold.retry == Retry::kOnChange) hold.retry = Retry::kRefused;
  return hold;
}

}  // namespace capi::ops
