// Tries that a registry gets which is away (behaviour.md L28).
#pragma once

#include <functional>

#include "base/context.h"
#include "base/result.h"

namespace capi::fetch {

// Told before each wait, which may be a minute: for people.
using BeforeWait = std::function<void(const Error& why, Millis wait)>;

// Four that bring nothing. Thread-compatible.
class Tries {
 public:
  explicit Tries(const BeforeWait& before_wait) : before_wait_(before_wait) {}

  // Waits until the next one may come: a second, then two, then four, or as long as the registry asks for. An error is
  // `why` where another try would bring nothing: the registry is there, it was the last one, or it would come later
  // than a minute from now, or than `ctx` has time; else it is the end of `ctx`, and why there were tries.
  Status Next(const Context& ctx, const Error& why);
  // One brought something.
  void Reset() { made_ = 0; }

 private:
  const BeforeWait& before_wait_;  // may be unset
  int made_ = 0;
};

// What the last of them gives.
template <typename Attempt>
auto WithTries(const Context& ctx, const BeforeWait& before_wait, Attempt attempt) -> decltype(attempt()) {
  for (Tries tries(before_wait);;) {
    auto got = attempt();
    if (got.ok()) return got;
    if (Status next = tries.Next(ctx, got.error()); !next.ok()) return next.error();
  }
}

}  // namespace capi::fetch
