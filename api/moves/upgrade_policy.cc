#include "api/moves/upgrade_policy.h"

#include <algorithm>

namespace capi::api {
namespace {

constexpr Millis kDay = std::chrono::hours(24);

bool StartsOn(const MaintenanceWindow& window, std::chrono::sys_days day) {
  const auto& days = window.weekdays;
  return days.empty() || std::find(days.begin(), days.end(), std::chrono::weekday(day).c_encoding()) != days.end();
}

bool Succeeded(const HistoryEntry& entry) { return entry.outcome.empty() || entry.outcome == outcome::kSucceeded; }

const HistoryEntry* LastSucceeded(const ProviderStatus& status) {
  auto good = std::find_if(status.history.begin(), status.history.end(), Succeeded);
  return good == status.history.end() ? nullptr : &*good;
}

// A downgrade that was allowed goes on, though the annotation has been taken away meanwhile (U6).
bool HasBegunByItself(const ProviderStatus& status, std::string_view declared) {
  if (status.history.empty()) return false;
  const HistoryEntry& last = status.history.front();
  return !Succeeded(last) && last.instead_of.empty() && SameVersion(last.version, declared);
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

std::string PolicyFloor(const ProviderStatus& status) {
  const HistoryEntry* good = LastSucceeded(status);
  return good == nullptr || good->instead_of.empty() ? "" : good->version;
}

bool HasFailed(const ProviderStatus& status, std::string_view version) {
  for (const HistoryEntry& entry : status.history) {
    if (SameVersion(entry.version, version)) {
      return entry.outcome == outcome::kFailed || entry.outcome == outcome::kRollingBack ||
             entry.outcome == outcome::kRolledBack;
    }
  }
  return false;
}

const HistoryEntry* BegunByPolicy(const ProviderStatus& status, std::string_view declared) {
  if (status.history.empty()) return nullptr;
  const HistoryEntry& last = status.history.front();
  const bool through = Succeeded(last) || last.outcome == outcome::kRolledBack;
  return !through && !last.instead_of.empty() && SameVersion(last.instead_of, declared) ? &last : nullptr;
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

void SettleFloor(ProviderStatus& status, std::string_view declared) {
  if (!SameVersion(status.installed_version, declared)) return;
  for (HistoryEntry& entry : status.history) {
    if (!Succeeded(entry)) continue;
    if (SameVersion(entry.version, declared)) entry.instead_of.clear();
    return;
  }
}

}  // namespace capi::api
