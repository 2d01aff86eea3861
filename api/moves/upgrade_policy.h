// What spec.upgradePolicy lets the operator choose, and when; and which version is to run where it has chosen one
// (behaviour.md U13). Pure: of the three facts about a policy, two are read from status.history. What was installed and
// came up stays (the floor); what failed isn't chosen again. The third, what is to come next, is kept nowhere until it
// has begun (operator/decide/policy.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/types.h"
#include "api/version.h"

namespace capi::api {

// Whether the policy may lead from `least`, which is spec.version, to the newer version `to`.
bool InReach(UpgradeType type, const Version& least, const Version& to);

// How long until an upgrade may begin; 0 while it may, and without a window.
Millis OpensIn(const UpgradePolicy& policy, WallTime now);

// When the window that is open now opened; nullopt where none is.
std::optional<WallTime> OpenSince(const UpgradePolicy& policy, WallTime now);

// The last version that a policy has installed and that came up; null or "" for none, and where an older one came up
// since.
const HistoryEntry* PolicyFloorOf(std::span<const HistoryEntry> history);
std::string PolicyFloor(const ProviderStatus& status);

// The newest version, above the floor, that a policy has chosen and that was given up or rolled back; null for none.
const HistoryEntry* NewestFailedChoice(std::span<const HistoryEntry> history);

// Whether this version was tried, and was given up or rolled back when it was tried last.
bool HasFailed(const ProviderStatus& status, std::string_view version);

// The change that a policy has begun and that isn't through, or failed where it wasn't rolled back; null for none.
// While it is under way only a spec.version that isn't older takes its place; once it has failed, any other one than
// then that isn't a downgrade of it (U6).
const HistoryEntry* BegunByPolicy(const ProviderStatus& status, std::string_view declared);

// Annotation allow-downgrade: spec.version alone counts.
bool SpecAloneCounts(const std::map<std::string, std::string>& annotations);

// The version that is to run. `declared`, which is spec.version as it is written, unless that is older than the floor
// or than what a policy has begun. What is no version is given back: it is refused, and takes nothing away.
std::string VersionToRun(const std::string& declared, const ProviderStatus& status,
                         const std::map<std::string, std::string>& annotations);

// What spec.version is to be where somebody has emptied it beside a policy: what it was when that was begun which is
// under way or left, else what is installed. "" where nothing is, or no policy is in force: any version will do.
std::string VersionToDeclare(const ProviderStatus& status, UpgradeType type);

// Once `declared` is installed and no policy is in force, there is no floor any more. With a policy it stays: who
// writes spec.version may be a tool that takes it back a minute later.
void SettleFloor(ProviderStatus& status, std::string_view declared, UpgradeType type);

}  // namespace capi::api
