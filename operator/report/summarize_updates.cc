#include "operator/report/summarize_updates.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/moves/upgrade_policy.h"
#include "api/reasons.h"
#include "base/strings.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;

constexpr size_t kMaxError = 2 * 1024;

std::string InWords(const api::AvailableUpgrade& one) {
  std::string words = fmt::format("{} (contract {}", one.version, one.contract);
  if (one.needs == api::need::kPause) words += ", after a pause of all providers";
  if (one.needs == api::need::kCoreUpgrade) words += ", after an upgrade of the core provider";
  if (one.needs == api::need::kNearerVersion) words += ", after a nearer version";
  return words + ")";
}

bool HasPolicy(const Observation& o) { return o.provider.spec.upgrade_policy.type != api::UpgradeType::kNone; }

// And what the policy makes of it (U13).
std::string WithPolicy(const Observation& o, const api::ProviderStatus& status, const api::AvailableUpgrade& one) {
  std::string words = InWords(one);
  if (!HasPolicy(o)) return words;
  if (api::HasFailed(status, one.version)) {
    return words + ", which failed before: no policy tries it again, spec.version does";
  }
  // A refusal may be long ago, and what keeps the policy from it now comes first.
  const std::string kept = KeptFrom(o, one);
  words += kept;
  if (!one.refused) return words;
  const auto again = TriedAgainAt(o, one);
  const std::string when = kept.empty() && again ? fmt::format(" (tried again at {})", FormatTime(*again)) : "";
  words += fmt::format("{}{}: {}", kept.empty() ? ", which spec.upgradePolicy couldn't begin" : "; it couldn't begin",
                       when, one.refused->message.substr(0, one.refused->message.find('\n')));
  return words;
}

// U13: that spec.version isn't what runs is said, or whoever reads it there is misled.
// Empty, or behind other words.
std::string WhatRuns(const Observation& o, const api::ProviderStatus& status) {
  const std::string floor = api::PolicyFloor(status);
  const bool counts = !floor.empty() && !api::SpecAloneCounts(o.provider.annotations) &&
                      api::SameVersion(o.provider.spec.version, floor) && !api::SameVersion(o.declared_version, floor);
  if (!counts) return "";
  return fmt::format("; {} stays installed, which spec.upgradePolicy has come to; spec.version is {}", floor,
                     o.declared_version);
}

kube::Condition Said(std::string_view status, std::string_view why, std::string message) {
  return {
      std::string(api::condition::kUpgradeAvailable), std::string(status), std::string(why), std::move(message), 0, ""};
}

kube::Condition Failure(std::string_view error, const api::UpdateCheck& check) {
  return Said("Unknown", reason::kUpdateCheckFailed,
              fmt::format("{} (the next look is at {}; the provider works)", Shorten(error, kMaxError), check.next));
}

constexpr std::string_view kUnread = "; can't be read: ";

// Which newer versions the last look couldn't read, until the next one. `told`: the condition, where that was of the
// same source.
std::string Unread(const Observation& o, bool looked, const std::optional<kube::Condition>& told) {
  if (!looked) {
    const size_t at = told ? told->message.find(kUnread) : std::string::npos;
    return at == std::string::npos ? "" : told->message.substr(at);
  }
  std::vector<std::string> unread;
  if (!o.updates) return "";
  for (const api::AvailableUpgrade& one : o.updates->newer) {
    if (!WasRead(one)) unread.push_back(fmt::format("{} ({})", one.version, one.needs));
  }
  return unread.empty() ? "" : Shorten(fmt::format("{}{}", kUnread, Join(unread, "; ")), kMaxError);
}

// What is accepted and not carried out is told.
std::optional<kube::Condition> NobodyLooks(const Observation& o, const api::ProviderStatus& status) {
  const std::string runs = WhatRuns(o, status);
  if (status.installed_version.empty() || o.check_updates > Millis(0) || (runs.empty() && !HasPolicy(o))) {
    return std::nullopt;
  }
  const std::string_view installs = HasPolicy(o) ? ", and spec.upgradePolicy installs nothing" : "";
  return Said(
      "Unknown", reason::kUpdateCheckFailed,
      fmt::format("Nobody looks for newer versions{}: the operator runs with --check-updates=0{}", installs, runs));
}

// Whether a look has ended that `was` doesn't know of.
bool HasLooked(const std::optional<api::UpdateCheck>& was, const std::optional<api::UpdateCheck>& is) {
  return is && !is->time.empty() && (!was || was->time != is->time);
}

}  // namespace

void SettleUpgrades(api::ProviderStatus& status, const Observation& o, const Done& done) {
  SettleUpdates(status, o);
  if (done.withdrawn) Refuse(status, o, *done.withdrawn);
  api::SettleFloor(status, o.declared_version, o.provider.spec.upgrade_policy.type);
}

bool TellsOfAChoice(const kube::Condition& upgraded, const api::ProviderStatus& status) {
  if (upgraded.reason != reason::kRolledBack) return false;
  for (const api::HistoryEntry& entry : status.history) {
    if (entry.outcome == api::outcome::kRolledBack) return !entry.instead_of.empty();
  }
  return false;
}

std::optional<kube::Condition> UpgradeCondition(const Observation& o, const api::ProviderStatus& status) {
  const auto &was = o.provider.status.update_check, &is = status.update_check;
  const auto* before = kube::FindCondition(o.provider.status.conditions, api::condition::kUpgradeAvailable);
  const auto stays = before == nullptr ? std::nullopt : std::optional(*before);
  if (o.spec_error || o.provider.deleting) return stays;
  const bool looked = HasLooked(was, is);
  if (looked && o.updates && o.updates->error) return Failure(o.updates->error->message, *is);
  // What failed is told until the next look.
  const bool failed = stays && stays->reason == reason::kUpdateCheckFailed;
  const bool same_source = is && was && was->source == is->source;
  if (failed && !looked && same_source) return stays;
  const std::string runs = WhatRuns(o, status);
  const std::string unread = Unread(o, looked, same_source ? stays : std::nullopt);
  if (!status.available_upgrades.empty()) {
    std::vector<std::string> all;
    for (const api::AvailableUpgrade& one : status.available_upgrades) all.push_back(WithPolicy(o, status, one));
    return Said("True", reason::kUpgradeAvailable, Join(all, "; ") + runs + unread);
  }
  if (!is && !HasSelector(o)) return NobodyLooks(o, status);
  if (!stays && runs.empty()) return std::nullopt;
  // Nobody has looked there yet: of the same place what was told may be so still.
  const bool same_place = was && is && IsSamePlace(was->source, is->source);
  if (is && is->time.empty()) return same_place && stays && stays->status != "True" ? stays : std::nullopt;
  return Said("False", reason::kUpToDate, "No newer version is known" + runs + unread);
}

Event ChoiceEvent(const std::string& version) {
  return {"Normal", std::string(reason::kUpgradeChosen), fmt::format("spec.upgradePolicy upgrades to {}", version)};
}

void AddUpdateEvents(const api::ProviderStatus& was, const api::ProviderStatus& is, std::vector<Event>& events) {
  for (const api::AvailableUpgrade& one : is.available_upgrades) {
    const bool known = std::any_of(was.available_upgrades.begin(), was.available_upgrades.end(),
                                   [&](const api::AvailableUpgrade& other) { return other.version == one.version; });
    if (known) continue;
    events.push_back({"Normal", std::string(reason::kUpgradeAvailable),
                      fmt::format("{} is available, {} is installed", InWords(one), is.installed_version)});
  }
}

}  // namespace capi::ops
