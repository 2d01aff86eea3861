#include "operator/decide/upgrades/policy.h"

#include <algorithm>

#include "api/moves/upgrade_policy.h"
#include "api/moves/version_moves.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "operator/decide/decide.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

constexpr Millis kFirstWait = std::chrono::minutes(10), kLongestWait = std::chrono::hours(24);
constexpr size_t kMaxMessage = 2 * 1024;  // of each newer version; what is secret of it is hidden by now

Observation Going(const Observation& o, const std::string& version) {
  Observation to = o;
  to.provider.spec.version = version;
  return to;
}

// Of all that the upgrade would be made of.
std::string InputsOf(const Observation& o, const api::Version& version) {
  const Observation to = Going(o, version.ToString());
  const StoredRelease* release = WantedRelease(to);
  return Sha256Hex(InputsDigest(to, version, release == nullptr ? "" : release->stamp)).substr(0, 16);
}

// How long it isn't tried again; 0 where it may be. A clock that was set back makes it wait no longer.
Millis RefusedFor(const Observation& o, const api::AvailableUpgrade& one, const api::Version& version) {
  if (!one.refused || one.refused->inputs != InputsOf(o, version)) return Millis(0);
  auto until = ParseTime(one.refused->until);
  if (!until.ok() || *until <= o.now || *until > o.now + kLongestWait) return Millis(0);
  return std::chrono::ceil<Millis>(*until - o.now);
}

// Cluster API's own providers follow its core: one that is at an older minor version, is on its way to another one, or
// failed on it, comes first. After a rollback what it had counts.
bool CoreComesFirst(const Observation& o, const api::Version& version) {
  if (o.provider.id.type == api::ProviderType::kCore || !api::CountsMinors(o.provider.id) || !o.core) return false;
  const api::ProviderStatus& core = o.core->status;
  const std::string_view outcome = core.history.empty() ? api::outcome::kApplying : core.history.front().outcome;
  const bool settled = outcome.empty() || outcome == api::outcome::kSucceeded || outcome == api::outcome::kRolledBack;
  auto installed = api::Version::Parse(core.installed_version);
  return !settled || !installed.ok() || (version > *installed && !version.SameSeries(*installed));
}

// Newer than what is to run, in reach of the policy, of the installed contract, and nothing has to come before it.
bool Fits(const Observation& o, const api::AvailableUpgrade& one, const api::Version& version) {
  const api::Provider& provider = o.provider;
  auto runs = api::Version::Parse(provider.spec.version), least = api::Version::Parse(o.declared_version);
  return runs.ok() && least.ok() && version > *runs && one.needs.empty() && one.contract == provider.status.contract &&
         api::InReach(provider.spec.upgrade_policy.type, *least, version) &&
         !api::HasFailed(provider.status, one.version) && !CoreComesFirst(o, version);
}

bool MayChoose(const Observation& o) {
  return o.provider.spec.upgrade_policy.type != api::UpgradeType::kNone && !o.spec_error &&
         !api::SpecAloneCounts(o.provider.annotations) && MayBeChecked(o.provider);
}

// What the policy has gone to, above what it had installed.
bool ChoiceHasCome(const Observation& o, std::string_view outcome) {
  const api::ProviderStatus& status = o.provider.status;
  const api::HistoryEntry* begun = api::BegunByPolicy(status, o.declared_version);
  return begun != nullptr && begun->outcome == outcome && api::SameVersion(begun->version, o.provider.spec.version) &&
         !api::SameVersion(begun->version, api::PolicyFloor(status));
}

bool IsWell(const Observation& o) {
  const api::ProviderStatus& status = o.provider.status;
  return kube::IsTrue(status.conditions, api::condition::kReady) && o.fleet.ready() && !status.applied.empty() &&
         api::SameVersion(status.installed_version, o.provider.spec.version);
}

// What would be chosen if the window were open, and until when it is refused.
struct Choice {
  std::optional<api::Version> version;
  std::optional<Millis> refused_for;  // the shortest time
};

Choice Choose(const Observation& o) {
  Choice choice;
  if (!MayChoose(o) || !(IsWell(o) || IsFailedChoice(o))) return choice;
  for (const api::AvailableUpgrade& one : o.provider.status.available_upgrades) {
    auto version = api::Version::Parse(one.version);
    if (!version.ok() || !Fits(o, one, *version)) continue;
    const Millis wait = RefusedFor(o, one, *version);
    if (wait > Millis(0)) {
      choice.refused_for = std::min(wait, choice.refused_for.value_or(wait));
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
  return IsFailedChoice(o) && !o.fleet.rolled_out() ? ChooseNow(o) : std::nullopt;
}

std::optional<Millis> PolicyWaits(const Observation& o) {
  const Choice choice = Choose(o);
  if (!choice.version) return choice.refused_for;
  const Millis opens = api::OpensIn(o.provider.spec.upgrade_policy, o.now);
  return opens > Millis(0) ? std::optional(opens) : std::nullopt;
}

bool IsChosen(const Observation& o, const std::string& version) {
  if (o.declared_version.empty() || api::SameVersion(version, o.declared_version)) return false;
  const std::string runs = o.chosen ? o.provider.spec.version
                                    : api::VersionToRun(o.declared_version, o.provider.status, o.provider.annotations);
  return api::SameVersion(version, runs);
}

bool IsFailedChoice(const Observation& o) { return ChoiceHasCome(o, api::outcome::kFailed); }

bool IsChoiceGoingBack(const Observation& o) { return ChoiceHasCome(o, api::outcome::kRollingBack); }

bool IsNamedSince(const Observation& o, const api::HistoryEntry& failed) {
  const bool gave_up = failed.outcome == api::outcome::kFailed || failed.outcome == api::outcome::kRolledBack;
  return gave_up && !failed.instead_of.empty() && api::SameVersion(failed.version, o.declared_version);
}

void Refuse(api::ProviderStatus& status, const Observation& o, const Withdrawn& withdrawn) {
  auto version = api::Version::Parse(withdrawn.version);
  for (api::AvailableUpgrade& one : status.available_upgrades) {
    if (!version.ok() || !api::SameVersion(one.version, withdrawn.version)) continue;
    auto since = one.refused ? ParseTime(one.refused->since) : Result<WallTime>(o.now);
    if (!since.ok() || *since > o.now) since = o.now;
    const Millis so_far = std::chrono::duration_cast<Millis>(o.now - *since);
    const Millis wait = std::clamp(std::max(so_far, withdrawn.after.value_or(Millis(0))), kFirstWait, kLongestWait);
    one.refused = api::UpgradeRefusal{InputsOf(o, *version), FormatTime(*since), FormatTime(o.now + wait),
                                      Shorten(withdrawn.message, kMaxMessage)};
  }
}

}  // namespace capi::ops
