// Newer versions than the installed one: when they are looked for, and what a status says of them (behaviour.md U12).
// Pure.
#pragma once

#include <optional>
#include <string>

#include "operator/decide/observation.h"

namespace capi::ops {

// Its releases are ConfigMaps: their watch tells of newer ones, and nobody has to be asked.
bool HasSelector(const Observation& o);

// The Secret with credentials for its source (T9, T15, I18): the one that is named for it, else the one with variables
// where that may have some. Of a git repository it never has, and a folder, on a server or not, gets none.
const std::optional<Referenced>& SourceSecretOf(const Observation& o);

// Of UpdateCheck::source: the same place, though perhaps with other credentials, or other ConfigMaps there.
bool IsSamePlace(const std::string& a, const std::string& b);

// Whether the last one did, as its condition tells.
bool LookFailed(const api::ProviderStatus& status);

// Of UpdatesFound::newer: whether its metadata could be read.
bool WasRead(const api::AvailableUpgrade& found);

// Not while it is being installed, changed, paused or removed.
bool MayBeChecked(const api::Provider& provider);

// How long until newer versions are looked for; 0: now. nullopt where a change of something else comes before that.
std::optional<Millis> UpdateCheckIn(const Observation& o);

// Whether the last look has found, or met, what `status` doesn't tell yet. By the time that was told, and not by which
// one is later: clocks are set back.
bool IsUntold(const std::optional<UpdatesFound>& found, const api::ProviderStatus& status);

// What `status` says of newer versions, with what the last look has found. `status` is about to be written: its
// installed version is the one that counts.
void SettleUpdates(api::ProviderStatus& status, const Observation& o);

}  // namespace capi::ops
