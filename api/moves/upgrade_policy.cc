#include "api/moves/upgrade_policy.h"

#include <algorithm>

#include "api/moves/version_moves.h"

namespace capi::api {
namespace {

constexpr Millis kDay = std::chrono::hours(24);

bool StartsOn(const MaintenanceWindow& window, std::chrono::sys_days day) {
  const auto& days = window.weekdays;
  return days.empty() || std::find(days.begin(), days.end(), std::chrono::weekday(day).c_encoding()) != days.end();
}

bool Succeeded(const HistoryEntry& entry) { return entry.outcome.empty() || entry.outcome == outcome::kSucceeded; }

// It came up, or what ran before runs again.
bool IsThrough(const HistoryEntry& entry) { return Succeeded(entry) || entry.outcome == outcome::kRolledBack; }

// A downgrade that was allowed goes on, though the annotation has been taken away meanwhile (U6).
bool HasBegunByItself(const ProviderStatus& status, std::string_view declared) {
  if (status.history.empty()) return false;
  const HistoryEntry& last = status.history.front();
  return !IsThrough(last) && last.instead_of.empty() && SameVersion(last.version, declared);
}

bool Failed(const HistoryEntry& entry) {
  return entry.outcome == outcome::kFailed || entry.outcome == outcome::kRollingBack ||
         entry.outcome == outcome::kRolledBack;
}

// An older one than what is half-way would be a downgrade in the middle of it, and nobody would look any more whether
// it comes up, or goes back. What failed and is left is half-way for an older minor version, which would be refused
// (U6).
bool TakesItsPlace(const ProviderStatus& status, const HistoryEntry& begun, std::string_view declared) {
  const bool has_failed = begun.outcome == outcome::kFailed;
  if (has_failed && SameVersion(begun.instead_of, declared)) return false;
  auto to = Version::Parse(begun.version), wanted = Version::Parse(declared);
  if (!to.ok() || !wanted.ok()) return true;
  if (!has_failed) return !(*to > *wanted);
  auto floor = Version::Parse(PolicyFloor(status));
  return !IsDowngrade(*to, floor.ok() && *floor > *wanted ? *floor : *wanted);
}

}  // namespace

bool InReach(UpgradeType type, const Version& least, const Version& to) {
  if (type == UpgradeType::kNone || !to.prerelease.empty() || !(to > least)) return false;
  return type == UpgradeType::kPatch ? to.SameSeries(least) : to.major == least.major;
}

// One that began yesterday may still be open: it belongs to the day on which it started.
Millis OpensIn(const UpgradePolicy& policy, WallTime now) {
  if (!policy.window) return Millis(0);
  const auto today = std::chrono::floor<std::chrono::days>(now);
  Millis wait = 8 * kDay;
  for (int day = -1; day <= 7; ++day) {
    const auto date = today + std::chrono::days(day);
    if (!StartsOn(*policy.window, date)) continue;
    const WallTime opens = date + policy.window->start;
    if (now >= opens + policy.window->duration) continue;
    wait = std::min(wait, std::max(Millis(0), std::chrono::ceil<Millis>(opens - now)));
  }
  return wait;
}

std::optional<WallTime> OpenSince(const UpgradePolicy& policy, WallTime now) {
  if (!policy.window) return std::nullopt;
  std::optional<WallTime> since;
  for (int day = -1; day <= 0; ++day) {
    const auto date = std::chrono::floor<std::chrono::days>(now) + std::chrono::days(day);
    const WallTime opens = date + policy.window->start;
    const bool is_open = StartsOn(*policy.window, date) && opens <= now && now < opens + policy.window->duration;
    if (is_open) since = opens;
  }
  return since;
}

// What a policy had installed stays behind what came up by its own name since; not where any of that was older, or it
// would come back with the next newer one.
const HistoryEntry* PolicyFloorOf(std::span<const HistoryEntry> history) {
  std::optional<Version> least;
  for (const HistoryEntry& entry : history) {
    auto version = Version::Parse(entry.version);
    if (!Succeeded(entry) || !version.ok()) continue;
    if (!least || *version < *least) least = *version;
    if (!entry.instead_of.empty() && !(*version > *least)) return &entry;
  }
  return nullptr;
}

std::string PolicyFloor(const ProviderStatus& status) {
  const HistoryEntry* floor = PolicyFloorOf(status.history);
  return floor == nullptr ? "" : floor->version;
}

const HistoryEntry* NewestFailedChoice(std::span<const HistoryEntry> history) {
  const HistoryEntry* floor = PolicyFloorOf(history);
  auto least = Version::Parse(floor == nullptr ? "" : floor->version);
  const HistoryEntry* newest = nullptr;
  std::optional<Version> of_newest;
  for (const HistoryEntry& entry : history) {
    auto version = Version::Parse(entry.version);
    if (!Failed(entry) || entry.instead_of.empty() || !version.ok()) continue;
    if ((least.ok() && !(*version > *least)) || (of_newest && !(*version > *of_newest))) continue;
    newest = &entry;
    of_newest = *version;
  }
  return newest;
}

bool HasFailed(const ProviderStatus& status, std::string_view version) {
  for (const HistoryEntry& entry : status.history) {
    if (SameVersion(entry.version, version)) return Failed(entry);
  }
  return false;
}

const HistoryEntry* BegunByPolicy(const ProviderStatus& status, std::string_view declared) {
  if (status.history.empty()) return nullptr;
  const HistoryEntry& last = status.history.front();
  return !IsThrough(last) && !last.instead_of.empty() && !TakesItsPlace(status, last, declared) ? &last : nullptr;
}

bool SpecAloneCounts(const std::map<std::string, std::string>& annotations) {
  auto allowed = annotations.find(std::string(kAnnotationAllowDowngrade));
  return allowed != annotations.end() && allowed->second == "true";
}

std::string VersionToRun(const std::string& declared, const ProviderStatus& status,
                         const std::map<std::string, std::string>& annotations) {
  auto least = Version::Parse(declared);
  if (!least.ok() || SpecAloneCounts(annotations) || HasBegunByItself(status, declared)) return declared;
  std::string runs = declared;
  const HistoryEntry* begun = BegunByPolicy(status, declared);
  for (const std::string& version : {PolicyFloor(status), begun == nullptr ? "" : begun->version}) {
    auto parsed = Version::Parse(version);
    if (!parsed.ok() || !(*parsed > *least)) continue;
    least = parsed;
    runs = version;
  }
  return runs;
}

std::string VersionToDeclare(const ProviderStatus& status, UpgradeType type) {
  if (type == UpgradeType::kNone || status.history.empty()) return "";
  const HistoryEntry& last = status.history.front();
  if (IsThrough(last)) return status.installed_version;
  return last.instead_of.empty() ? last.version : last.instead_of;
}

void SettleFloor(ProviderStatus& status, std::string_view declared, UpgradeType type) {
  if (type != UpgradeType::kNone || !SameVersion(status.installed_version, declared)) return;
  auto good = std::find_if(status.history.begin(), status.history.end(), Succeeded);
  if (good == status.history.end() || !SameVersion(good->version, declared)) return;
  for (HistoryEntry& entry : status.history) {
    if (Succeeded(entry)) entry.instead_of.clear();
  }
}

}  // namespace capi::api
