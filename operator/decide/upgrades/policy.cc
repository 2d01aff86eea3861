#include "operator/decide/upgrades/policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "api/moves/upgrade_policy.h"
#include "api/moves/version_moves.h"
#include "api/reasons.h"
#include "api/release_choice.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/decide.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

constexpr Millis kFirstWait = std::chrono::minutes(10), kLongestWait = std::chrono::hours(24);
constexpr size_t kMaxMessage = 2 * 1024;  // of each newer version; what is secret of it is hidden by now

// Of all that the upgrade would be made of.
std::string InputsOf(const Observation& o, const api::Version& version) {
  const StoredRelease* release = api::ReleaseThatCounts(o.releases, o.provider, version.ToString());
  return Sha256Hex(InputsDigest(o, version, release == nullptr ? "" : release->stamp)).substr(0, 16);
}

// Until when it isn't tried again; nullopt where it may be. A clock that was set back makes it wait no longer.
std::optional<WallTime> RefusedUntil(const Observation& o, const api::AvailableUpgrade& one,
                                     const api::Version& version) {
  if (!one.refused || one.refused->inputs != InputsOf(o, version)) return std::nullopt;
  auto until = ParseTime(one.refused->until);
  if (!until.ok() || *until <= o.now || *until > o.now + kLongestWait) return std::nullopt;
  return *until;
}

// Cluster API's own providers follow its core: one that is at an older minor version, is on its way to another one, or
// failed on it, comes first. After a rollback what it had counts.
bool CoreComesFirst(const Observation& o, const api::Version& version) {
  if (o.provider.id.type == api::ProviderType::kCore || !api::CountsMinors(o.provider.id) || !o.core) return false;
  const api::ProviderStatus& core = o.core->status;
  const std::string_view outcome = core.history.empty() ? "" : std::string_view(core.history.front().outcome);
  const bool settled = outcome.empty() || outcome == api::outcome::kSucceeded || outcome == api::outcome::kRolledBack;
  auto installed = api::Version::Parse(core.installed_version);
  return !settled || !installed.ok() || (version > *installed && !version.SameSeries(*installed));
}

// Newer than what is to run, and in reach of the policy.
bool IsReached(const Observation& o, const api::Version& version) {
  auto runs = api::Version::Parse(o.provider.spec.version), least = api::Version::Parse(o.declared_version);
  if (!runs.ok() || !least.ok()) return false;
  auto floor = api::Version::Parse(api::PolicyFloor(o.provider.status));
  const api::Version& from = floor.ok() && *floor > *least ? *floor : *least;
  return version > *runs && api::InReach(o.provider.spec.upgrade_policy.type, from, version);
}

// What a newer version failed for may be no fault of it (a registry is away): those between aren't tried one after the
// other. nullptr where nothing speaks against it.
const api::HistoryEntry* FailedAbove(const Observation& o, const api::Version& version) {
  const api::HistoryEntry* failed = api::NewestFailedChoice(o.provider.status.history);
  if (failed == nullptr) return nullptr;
  auto above = api::Version::Parse(failed->version), runs = api::Version::Parse(o.provider.spec.version);
  return *above > version && runs.ok() && !version.SameSeries(*runs) ? failed : nullptr;
}

// Of the installed contract, nothing has to come before it, and it hasn't failed.
bool Fits(const Observation& o, const api::AvailableUpgrade& one, const api::Version& version) {
  return IsReached(o, version) && one.needs.empty() && one.contract == o.provider.status.contract &&
         !api::HasFailed(o.provider.status, one.version) && FailedAbove(o, version) == nullptr &&
         !CoreComesFirst(o, version);
}

// So that a fleet whose window opens doesn't ask its sources all at once.
Millis Spread(const Observation& o) {
  constexpr std::size_t kParts = 1000;
  const auto& window = o.provider.spec.upgrade_policy.window;
  const Millis most = window ? std::min(kFirstWait, window->duration / 4) : Millis(0);
  return most * static_cast<int>(std::hash<std::string>()(o.provider.id.Key()) % kParts) / static_cast<int>(kParts);
}

// When what nothing else keeps from it at `from` begins.
WallTime WithinWindow(const Observation& o, WallTime from) {
  const Millis opens = api::OpensIn(o.provider.spec.upgrade_policy, from);
  return opens > Millis(0) ? from + opens + Spread(o) : from;
}

// Twice the last one.
Millis NextWait(const Observation& o, const api::AvailableUpgrade& one, const std::string& inputs) {
  if (!one.refused || one.refused->inputs != inputs) return kFirstWait;
  auto since = ParseTime(one.refused->since), until = ParseTime(one.refused->until);
  if (!since.ok() || !until.ok() || *since > o.now || o.now > *until + kLongestWait) return kFirstWait;
  auto opened = api::OpenSince(o.provider.spec.upgrade_policy, o.now);
  if (opened && *since < *opened) return kFirstWait;
  return 2 * std::chrono::duration_cast<Millis>(*until - *since);
}

bool MayChoose(const Observation& o) {
  return o.provider.spec.upgrade_policy.type != api::UpgradeType::kNone && !o.spec_error &&
         !api::SpecAloneCounts(o.provider.annotations) && MayBeChecked(o.provider);
}

// What the policy has gone to and isn't through, above what it had installed; null for none.
const api::HistoryEntry* TheChoice(const Observation& o) {
  const api::ProviderStatus& status = o.provider.status;
  const api::HistoryEntry* begun = api::BegunByPolicy(status, o.declared_version);
  if (begun == nullptr || !api::SameVersion(begun->version, o.provider.spec.version)) return nullptr;
  return api::SameVersion(begun->version, api::PolicyFloor(status)) ? nullptr : begun;
}

bool IsWell(const Observation& o) {
  const api::ProviderStatus& status = o.provider.status;
  return kube::IsTrue(status.conditions, api::condition::kReady) && o.fleet.ready() && !status.applied.empty() &&
         api::SameVersion(status.installed_version, o.provider.spec.version);
}

// What would be chosen if the window were open, and until when it is refused.
struct Choice {
  std::optional<api::Version> version;
  std::optional<WallTime> refused_until;  // the first time
};

Choice Choose(const Observation& o) {
  Choice choice;
  if (!MayChoose(o) || !(IsWell(o) || IsFailedChoice(o))) return choice;
  for (const api::AvailableUpgrade& one : o.provider.status.available_upgrades) {
    auto version = api::Version::Parse(one.version);
    if (!version.ok() || !Fits(o, one, *version)) continue;
    if (const auto until = RefusedUntil(o, one, *version)) {
      choice.refused_until = std::min(*until, choice.refused_until.value_or(*until));
    } else if (!choice.version || *version > *choice.version) {
      choice.version = *version;
    }
  }
  return choice;
}

std::optional<std::string> ChooseNow(const Observation& o) {
  if (api::OpensIn(o.provider.spec.upgrade_policy, o.now) > Millis(0)) return std::nullopt;
  const Choice choice = Choose(o);
  return choice.version ? std::optional(choice.version->ToString()) : std::nullopt;
}

}  // namespace

std::optional<std::string> ChosenByPolicy(const Observation& o) { return IsWell(o) ? ChooseNow(o) : std::nullopt; }

std::optional<std::string> ChosenAfterFailure(const Observation& o) {
  if (!IsFailedChoice(o)) return std::nullopt;
  // Old pods that serve are no sign that it has come up: it may never have been sent.
  const bool came_up = o.fleet.rolled_out() && o.provider.status.applied == InputsDigest(o);
  return came_up ? std::nullopt : ChooseNow(o);
}

bool GoesOnByPolicy(const Observation& o, std::string_view tried) {
  if (o.provider.spec.upgrade_policy.type == api::UpgradeType::kNone) return false;
  const Step step = Decide(o);
  const auto* upgrade = std::get_if<Upgrade>(&step);
  return upgrade != nullptr && upgrade->version != tried;
}

std::optional<Millis> PolicyWaits(const Observation& o) {
  const Choice choice = Choose(o);
  std::optional<WallTime> at;
  if (choice.refused_until) at = WithinWindow(o, *choice.refused_until);
  if (choice.version && api::OpensIn(o.provider.spec.upgrade_policy, o.now) > Millis(0)) {
    const WallTime opens = WithinWindow(o, o.now);
    at = std::min(opens, at.value_or(opens));
  }
  return at ? std::optional(std::chrono::ceil<Millis>(*at - o.now)) : std::nullopt;
}

std::optional<WallTime> TriedAgainAt(const Observation& o, const api::AvailableUpgrade& one) {
  auto version = api::Version::Parse(one.version);
  const auto until = version.ok() ? RefusedUntil(o, one, *version) : std::nullopt;
  return until ? std::optional(WithinWindow(o, *until)) : std::nullopt;
}

std::string KeptFrom(const Observation& o, const api::AvailableUpgrade& one) {
  auto version = api::Version::Parse(one.version);
  if (!version.ok() || !IsReached(o, *version) || !one.needs.empty()) return "";
  if (api::SpecAloneCounts(o.provider.annotations)) {
    return fmt::format(", from which annotation {} keeps spec.upgradePolicy", api::kAnnotationAllowDowngrade);
  }
  if (one.contract != o.provider.status.contract) {
    return fmt::format(", to which no policy goes: {} is the installed contract", o.provider.status.contract);
  }
  if (const api::HistoryEntry* failed = FailedAbove(o, *version)) {
    return fmt::format(", to which spec.upgradePolicy doesn't go, since {}, which is newer, failed", failed->version);
  }
  if (CoreComesFirst(o, *version)) return ", to which spec.upgradePolicy goes after the core provider";
  const Millis opens = api::OpensIn(o.provider.spec.upgrade_policy, o.now);
  if (opens > Millis(0) && !TriedAgainAt(o, one)) {
    return fmt::format(", to which spec.upgradePolicy goes when its window opens at {}", FormatTime(o.now + opens));
  }
  if (!o.fleet.unmigrated.empty() && !SaysMigrationFailed(o.provider.status))
    return ", to which spec.upgradePolicy goes once what is stored is migrated";
  return IsWell(o) || IsFailedChoice(o) ? "" : ", to which spec.upgradePolicy goes once the provider is Ready";
}

bool IsChosen(const Observation& o, const std::string& version) {
  if (o.declared_version.empty() || api::SameVersion(version, o.declared_version)) return false;
  const std::string runs = o.chosen ? o.provider.spec.version
                                    : api::VersionToRun(o.declared_version, o.provider.status, o.provider.annotations);
  return api::SameVersion(version, runs);
}

bool IsFailedChoice(const Observation& o) {
  const api::HistoryEntry* choice = TheChoice(o);
  return choice != nullptr && choice->outcome == api::outcome::kFailed;
}

bool IsChoiceGoingBack(const Observation& o) {
  const api::HistoryEntry* choice = TheChoice(o);
  return choice != nullptr && choice->outcome == api::outcome::kRollingBack;
}

bool IsChoiceUnderWay(const Observation& o) {
  const api::HistoryEntry* choice = TheChoice(o);
  return choice != nullptr &&
         (choice->outcome == api::outcome::kApplying || choice->outcome == api::outcome::kRollingOut);
}

bool EndsAChoice(std::string_view reason) {
  using namespace api::reason;  // NOLINT(google-build-using-namespace): names alone
  constexpr std::string_view kReasons[] = {kInvalidMetadata,
                                           kInvalidComponents,
                                           kMultipleNamespaces,
                                           kComponentsNamespaceError,
                                           kDuplicateObjects,
                                           kVerificationFailed,
                                           kMissingVariables,
                                           kComponentsCustomizationError,
                                           kUnsupportedManagerField,
                                           kComponentsPatchError,
                                           kComponentsImageOverrideError,
                                           kMissingKinds,
                                           kObjectOwnedByAnotherProvider,
                                           kVersionNotFound,
                                           kComponentsFetchError};
  return TellsOfRefusal(reason) || std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
}

bool IsNamedSince(const Observation& o, const api::HistoryEntry& failed) {
  const bool gave_up = failed.outcome == api::outcome::kFailed || failed.outcome == api::outcome::kRolledBack;
  return gave_up && !failed.instead_of.empty() && api::SameVersion(failed.version, o.declared_version);
}

void Refuse(api::ProviderStatus& status, const Observation& o, const Withdrawn& withdrawn) {
  auto version = api::Version::Parse(withdrawn.version);
  for (api::AvailableUpgrade& one : status.available_upgrades) {
    if (!version.ok() || !api::SameVersion(one.version, withdrawn.version)) continue;
    const std::string inputs = InputsOf(o, *version);
    const Millis least = std::max(NextWait(o, one, inputs), withdrawn.after.value_or(Millis(0)));
    const Millis wait = std::clamp(least, kFirstWait, kLongestWait);
    std::string message = Shorten(withdrawn.message, kMaxMessage);
    if (!withdrawn.details.empty()) message += "\n" + withdrawn.details;
    one.refused = api::UpgradeRefusal{inputs, FormatTime(o.now), FormatTime(o.now + wait), std::move(message)};
  }
}

}  // namespace capi::ops
