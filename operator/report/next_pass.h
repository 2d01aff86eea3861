// When a provider is looked at again if no event comes before (behaviour.md F5, F6). Pure.
#pragma once

#include <optional>
#include <string>

#include "kube/runtime/work_queue.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// Of what fails for a while: from 0.2 s to two minutes.
inline constexpr kube::BackoffOptions kSoon{.base = Millis(200), .max = std::chrono::minutes(2), .jitter = 0.2};
// Of everything else that isn't Ready, whose events should come, and may not: from 15 s to ten minutes.
inline constexpr kube::BackoffOptions kNowAndThen{.base = Seconds(15), .max = std::chrono::minutes(10), .jitter = 0.2};

// A value.
struct NextPass {
  std::optional<kube::BackoffOptions> backoff;  // as it stands in the queue; not set: it begins anew
  Millis at_least{0};                           // of the back-off: what a server asked for
  std::optional<Millis> at;                     // then at the latest, whatever the back-off says
  bool keeps_backoff = false;                   // where `backoff` isn't set: it goes on from where it is (T13)
  bool of_source = false;                       // `backoff` is the source's, which is one of its own
  bool keeps_source = false;                    // the source's goes on from where it is: it has given nothing since
  bool told = false;                            // the hold's message names the time
  bool resync = false;                          // nothing is due then: an event should tell of what that pass finds
  kube::Priority priority() const { return resync ? kube::Priority::kLater : kube::Priority::kNormal; }  // F10
};

// After a pass that did `done` on `o`. `ready` is whether its status says so: what is Ready, and what a person took
// into his own hands (P4), is looked at after `sync_period`, spread by a tenth each way. Not for a provider that is
// gone.
NextPass NextPassOf(const Observation& o, const Done& done, bool ready, Millis sync_period);

}  // namespace capi::ops
