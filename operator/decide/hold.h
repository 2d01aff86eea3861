// Why a pass goes no further, as data: the condition that says so, in words for a person, and what ends the wait.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/reasons.h"
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
  kTurn,     // nothing was tried (T13): again after `after`, and what the last try came to still counts
};

// Of a message's 8 KiB.
inline constexpr size_t kMostDetails = 6 * 1024;

// A value. How each is tried again: next_pass.h.
struct Hold {
  std::string condition;  // type of the condition that becomes False
  std::string reason;     // api/reasons.h
  std::string message;
  Retry retry = Retry::kOnChange;
  std::optional<Millis> after = std::nullopt;       // of kBackoff, kAt and kTurn: until the next try
  std::optional<WallTime> next_try = std::nullopt;  // set when it is reported, where the message is to tell it
  // What follows the message, which is one line then: YAML to apply. At most kMostDetails.
  std::string details = "";
};

// The retry that an error's code asks for.
inline Retry RetryFor(const Error& error) {
  return error.Transient() || error.retry_after ? Retry::kBackoff : Retry::kOnChange;
}

// `reason` is one of api/reasons.h.
inline Hold HoldFor(std::string_view condition, std::string_view reason, const Error& error) {
  return Hold{std::string(condition), std::string(reason), error.message, RetryFor(error), error.retry_after};
}

// The same of an answer of the API server: no event tells that it would take now what it refused (F6).
inline Hold ServerHold(std::string_view condition, std::string_view reason, const Error& error) {
  Hold hold = HoldFor(condition, reason, error);
  if (hold.retry == Retry::kOnChange) hold.retry = Retry::kRefused;
  return hold;
}

// Why an installation doesn't go on. Something of the release or the declaration is wrong, or a source is away.
inline Hold NotInstalled(std::string_view reason, const Error& error) {
  return HoldFor(api::condition::kProviderInstalled, reason, error);
}
// The API server said no, or nothing.
inline Hold NotAccepted(std::string_view reason, const Error& error) {
  return ServerHold(api::condition::kProviderInstalled, reason, error);
}
// An apply, or its dry run, failed. `refused`: of something by no outage of the API server (kube::AnyRefused), and
// `reason` says so. Else it is away, which tells nothing of what was sent.
inline Hold NotTaken(std::string_view reason, bool refused, const Error& error) {
  return NotAccepted(refused ? reason : api::reason::kAPIServerUnavailable, error);
}
// Whether `reason` is one with which NotTaken tells of a refusal, or of one that was seen to come (T3).
inline bool TellsOfRefusal(std::string_view reason) {
  return reason == api::reason::kInstallFailed || reason == api::reason::kDryRunFailed ||
         reason == api::reason::kPermissionsMissing;
}
// Whether `reason` is one with which an installation tells that its source failed.
inline bool TellsOfSource(std::string_view reason) {
  return reason == api::reason::kSourceUnreachable || reason == api::reason::kRateLimited ||
         reason == api::reason::kSourceCredentialsRejected;
}
// What was read from the API server: its refusal, or a fault of what it gave, which a change of that ends.
inline Hold NotRead(std::string_view reason, const Error& error) {
  return error.code == Code::kInvalidArgument ? NotInstalled(reason, error) : NotAccepted(reason, error);
}

}  // namespace capi::ops
