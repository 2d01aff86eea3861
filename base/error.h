// Errors as values: a code that says what the caller does next, and a message for a person.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace capi {

// What went wrong, by what the caller can do about it.
enum class Code {
  kInvalidArgument,     // the input is wrong; the same call fails again: change the input
  kNotFound,            // the thing isn't there
  kAlreadyExists,       // the thing is there already
  kConflict,            // someone else changed it: read again, then retry the whole step
  kFailedPrecondition,  // the state of the world forbids it: wait for a change of that state
  kUnauthenticated,     // no or wrong credentials
  kPermissionDenied,    // credentials are fine, the right is missing
  kGone,                // a resource version or a page token is too old: list again
  kRateLimited,         // told to slow down: retry after `retry_after`
  kUnavailable,         // transient: retry the same call with back-off
  kDeadlineExceeded,    // the caller's deadline passed
  kCancelled,           // the caller asked to stop
  kUnsupported,         // the other side can't do that; another way may exist
  kInternal,            // a bug here or there
};

std::string_view CodeName(Code code);  // "NotFound"

// Immutable but for With().
struct Error {
  Code code = Code::kInternal;
  std::string message;
  // When the server said how long to wait (Retry-After, rate limit reset).
  std::optional<std::chrono::milliseconds> retry_after;

  // The same error with `context` and ": " before its message. Add the identity of the object once, where it is known.
  Error With(std::string_view context) const;

  // True where the same call may succeed later without any change of input.
  bool Transient() const;
};

}  // namespace capi
