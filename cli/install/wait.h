// What becomes of providers that were given to the operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/types.h"
#include "base/context.h"
#include "cli/frame/live_lines.h"
#include "kube/client/client.h"

namespace capi::cli {

enum class ProviderProgress {
  kUnseen,   // the operator hasn't looked at this object, or its last change, yet
  kGoesOn,   // it is at work, or waits for something
  kStalled,  // it has refused it, or failed: nothing goes on by itself
  kReady,
};

// It may have other providers' releases to fetch first.
inline constexpr Seconds kLookLimit{120};

// Of a status, with the words that go with it: "reason: message", "" for kUnseen. Pure.
ProviderProgress ProgressOf(const api::Provider& provider, std::string& words);

// Waits until the operator has looked at each. kFailedPrecondition names those that it refuses, kDeadlineExceeded those
// that it didn't look at within `limit`.
Status AwaitLook(const Context& ctx, kube::Client& client, const std::vector<api::ProviderId>& ids,
                 Seconds limit = kLookLimit);

// Waits until each is Ready, `timeout` for each, and shows how far they are. kDeadlineExceeded says what holds the
// first one back, kFailedPrecondition that it doesn't go on by itself: a Stalled that is there from the beginning on
// counts when it has stayed for `old_words`, since an operator that has just started may not have looked yet.
Status AwaitReady(const Context& ctx, kube::Client& client, const std::vector<api::ProviderId>& ids, Seconds timeout,
                  LiveLines& lines, Millis old_words = Millis(0));

}  // namespace capi::cli
