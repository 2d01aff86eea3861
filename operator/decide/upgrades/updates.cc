#include "operator/decide/upgrades/updates.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "api/moves/version_moves.h"
#include "api/reasons.h"
#include "api/validate/folder_url.h"
#include "base/encoding.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/pause.h"
#include "operator/decide/rules.h"

namespace capi::ops {
namespace {

namespace outcome = api::outcome;

constexpr Millis kFirstWithin = std::chrono::hours(1);  // of an installation, or of the operator's first start
constexpr Millis kAgainWithin = std::chrono::hours(1);  // of a look that failed
constexpr Millis kSelectedAgain = std::chrono::minutes(10);
constexpr Millis kSelectedEvery = std::chrono::hours(12);  // where no source is asked
constexpr Millis kMostPatience = std::chrono::hours(24);   // with a source that asks not to be asked

// Of a provider always the same part, of many providers all parts (0 to 1).
double PartOf(const std::string& key) {
  constexpr std::size_t kParts = 1000;
  return static_cast<double>(std::hash<std::string>()(key) % kParts) / kParts;
}

Millis Times(Millis time, double factor) { return std::chrono::duration_cast<Millis>(time * factor); }

bool IsOff(const Observation& o) { return o.check_updates == Millis(0) && !HasSelector(o); }

std::string Short(const std::string& text) { return Sha256Hex(text).substr(0, 16); }

// Where it is looked, and whether all of it has to be signed: what is known of one place says nothing of another.
std::string PlaceOf(const Observation& o) {
  const auto& fetch = o.provider.spec.fetch_config;
  return Short((HasSelector(o) ? ToJsonText(*fetch->selector) : o.source) + (fetch && fetch->verify ? "\nsigned" : ""));
}

void Add(std::string& text, const std::optional<Referenced>& secret) {
  if (secret) text += fmt::format("{}/{} {}\n", secret->ref.ns, secret->ref.name, secret->stamp);
}

// And newer than what, with which credentials and keys, or which ConfigMaps are there. Not what the metadata of these
// says: whoever only labels one has no version to tell of.
std::string SourceOf(const Observation& o, const std::string& installed) {
  std::string text = installed + "\n";
  Add(text, o.keys_secret);
  if (!HasSelector(o)) {
    Add(text, SourceSecretOf(o));
    return PlaceOf(o) + "-" + Short(text);
  }
  for (const StoredRelease& release : o.releases) {
    text += "\n" + release.name + " " + release.version_text + " " + release.stamp.substr(0, release.stamp.find('/'));
  }
  return PlaceOf(o) + "-" + Short(text);
}

// Where none of the selected ConfigMaps is newer, none has to be read.
bool HasNewerSelected(const Observation& o, const std::string& installed) {
  auto runs = api::Version::Parse(installed);
  return runs.ok() && std::any_of(o.releases.begin(), o.releases.end(), [&](const StoredRelease& release) {
           return release.version && release.version->prerelease.empty() && *release.version > *runs;
         });
}

Millis Every(const Observation& o) { return o.check_updates > Millis(0) ? o.check_updates : kSelectedEvery; }

// After a look, or after one that failed.
Millis Usual(const Observation& o) { return Times(Every(o), 0.9 + 0.2 * PartOf(o.provider.id.Key())); }
Millis Sooner(const Observation& o) {
  if (HasSelector(o)) return std::min(Usual(o), kSelectedAgain);
  return std::min(Usual(o), Times(kAgainWithin, 0.9 + 0.2 * PartOf(o.provider.id.Key())));
}
Millis Longest(const Observation& o) { return Times(Every(o), 1.1); }

// From the last look, where that failed, to this one.
Millis LastWait(const Observation& o, const api::UpdateCheck& last) {
  auto from = ParseTime(last.time), to = ParseTime(last.next);
  return LookFailed(o.provider.status) && from.ok() && to.ok() ? std::chrono::duration_cast<Millis>(*to - *from)
                                                               : Millis(0);
}

bool TimeMends(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded || code == Code::kRateLimited;
}

// What no time mends is asked for ever more seldom: whoever mends it changes the spec, or a Secret, and that is looked
// at at once.
std::string NextAfter(const Observation& o, const UpdatesFound& found, Millis last_wait) {
  if (!found.error) return FormatTime(found.time + Usual(o));
  Millis wait = std::max(Sooner(o), std::min(kMostPatience, found.error->retry_after.value_or(Millis(0))));
  if (!TimeMends(found.error->code)) wait = std::max(wait, std::min(Usual(o), 2 * last_wait));
  return FormatTime(found.time + wait);
}

// 0 where either is none.
int Compare(const std::string& a, const std::string& b) {
  auto one = api::Version::Parse(a), other = api::Version::Parse(b);
  if (!one.ok() || !other.ok() || *one == *other) return 0;
  return *one > *other ? 1 : -1;
}

bool SameSeries(const std::string& a, const std::string& b) {
  auto one = api::Version::Parse(a), other = api::Version::Parse(b);
  return one.ok() && other.ok() && one->SameSeries(*other);
}

// Of a minor version whose newest couldn't be read now what was known stays, unless what could be read is newer.
// What the policy was refused of a version stays with it (U13).
std::vector<api::AvailableUpgrade> Newer(const std::vector<api::AvailableUpgrade>& known,
                                         const std::vector<api::AvailableUpgrade>& found) {
  std::vector<api::AvailableUpgrade> newer;
  std::copy_if(found.begin(), found.end(), std::back_inserter(newer), WasRead);
  for (const api::AvailableUpgrade& one : known) {
    for (api::AvailableUpgrade& other : newer) {
      if (other.version == one.version) other.refused = one.refused;
    }
    const bool unread = std::any_of(found.begin(), found.end(), [&](const api::AvailableUpgrade& other) {
      return !WasRead(other) && SameSeries(one.version, other.version);
    });
    if (!unread) continue;
    auto same = std::find_if(newer.begin(), newer.end(),
                             [&](const auto& other) { return SameSeries(one.version, other.version); });
    if (same == newer.end()) {
      newer.push_back(one);
    } else if (Compare(same->version, one.version) < 0) {
      *same = one;
    }
  }
  std::sort(newer.begin(), newer.end(), [](const auto& a, const auto& b) { return Compare(a.version, b.version) < 0; });
  return newer;
}

void TakeFound(api::ProviderStatus& status, const Observation& o) {
  if (!IsUntold(o.updates, status)) return;
  status.update_check->next = NextAfter(o, *o.updates, LastWait(o, *status.update_check));
  status.update_check->time = FormatTime(o.updates->time);
  if (!o.updates->error) status.available_upgrades = Newer(status.available_upgrades, o.updates->newer);
}

// What the rules say of them may change without another look.
void Judge(api::ProviderStatus& status, const Observation& o) {
  auto installed = api::Version::Parse(status.installed_version);
  std::erase_if(status.available_upgrades, [&](const api::AvailableUpgrade& one) {
    auto version = api::Version::Parse(one.version);
    return !installed.ok() || !version.ok() || !(*version > *installed) || !api::KnownContract(one.contract);
  });
  // By contract. Each answer copies and judges all other providers, in every pass (D1): they may be a thousand.
  std::map<std::string, std::string> needs;
  for (api::AvailableUpgrade& one : status.available_upgrades) {
    if (o.provider.spec.upgrade_policy.type == api::UpgradeType::kNone) one.refused.reset();
    if (api::TooFar(o.provider.id, *installed, *api::Version::Parse(one.version))) {
      one.needs = api::need::kNearerVersion;
      continue;
    }
    auto [known, is_new] = needs.try_emplace(one.contract);
    if (is_new) known->second = UpgradeNeeds(o, status.contract, one.contract);
    one.needs = known->second;
  }
}

bool Failed(const api::ProviderStatus& status) {
  if (status.history.empty()) return false;
  const std::string& last = status.history.front().outcome;
  return last == outcome::kFailed || last == outcome::kRolledBack;
}

// As it was told, unless somebody has set back the clock since, or given the operator a shorter interval: that counts
// from the last look on, so that not all are due at once. No source is obeyed for years.
WallTime DueAt(const Observation& o, const api::UpdateCheck& check, WallTime told) {
  auto looked = ParseTime(check.time);
  if (!looked.ok()) return told - o.now > Longest(o) ? o.now : told;
  if (*looked > o.now) return o.now;
  const Millis most = LookFailed(o.provider.status) ? std::max(Longest(o), kMostPatience) : Longest(o);
  return std::min<WallTime>(told, *looked + most);
}

}  // namespace

bool HasSelector(const Observation& o) {
  return o.provider.spec.fetch_config && o.provider.spec.fetch_config->selector.has_value();
}

const std::optional<Referenced>& SourceSecretOf(const Observation& o) {
  static const std::optional<Referenced> kNone;
  constexpr std::string_view kUrl = "url ";
  if (o.source.starts_with("folder ")) return kNone;
  if (o.source.starts_with(kUrl) && api::ParseHttpFolderUrl(o.source.substr(kUrl.size())).ok()) return kNone;
  const auto& fetch = o.provider.spec.fetch_config;
  return o.source_secret || (fetch && fetch->git) ? o.source_secret : o.config_secret;
}

bool IsSamePlace(const std::string& a, const std::string& b) {
  return a.substr(0, a.find('-')) == b.substr(0, b.find('-'));
}

bool LookFailed(const api::ProviderStatus& status) {
  const auto* said = kube::FindCondition(status.conditions, api::condition::kUpgradeAvailable);
  return said != nullptr && said->reason == api::reason::kUpdateCheckFailed;
}

bool WasRead(const api::AvailableUpgrade& found) { return !found.contract.empty(); }

bool MayBeChecked(const api::Provider& provider) {
  const api::ProviderStatus& status = provider.status;
  if (provider.deleting || IsHandsOff(provider) || provider.spec.paused || SaysPaused(status)) return false;
  if (status.installed_version.empty()) return false;
  const std::string last = status.history.empty() ? "" : status.history.front().outcome;
  if (last == outcome::kApplying || last == outcome::kRollingOut || last == outcome::kRollingBack) return false;
  // A newer version may mend what failed.
  return !VersionPending(provider) ||
         (Failed(status) && api::SameVersion(status.history.front().version, provider.spec.version));
}

std::optional<Millis> UpdateCheckIn(const Observation& o) {
  const api::ProviderStatus& status = o.provider.status;
  if (o.spec_error || IsOff(o) || !status.update_check || !MayBeChecked(o.provider)) return std::nullopt;
  auto next = ParseTime(status.update_check->next);
  if (!next.ok()) return Millis(0);
  return std::max(Millis(0), std::chrono::ceil<Millis>(DueAt(o, *status.update_check, *next) - o.now));
}

bool IsUntold(const std::optional<UpdatesFound>& found, const api::ProviderStatus& status) {
  return found && status.update_check && found->source == status.update_check->source &&
         FormatTime(found->time) != status.update_check->time;
}

void SettleUpdates(api::ProviderStatus& status, const Observation& o) {
  if (o.spec_error || o.provider.deleting) return;
  const std::string& installed = status.installed_version;
  if (installed.empty() || IsOff(o) || (HasSelector(o) && !HasNewerSelected(o, installed))) {
    status.available_upgrades.clear();
    status.update_check.reset();
    return;
  }
  const std::string source = SourceOf(o, installed);
  if (!status.update_check || status.update_check->source != source) {
    if (!status.update_check || !IsSamePlace(status.update_check->source, source)) status.available_upgrades.clear();
    // At once where another source was named, but not all providers at once.
    const bool at_once = status.update_check || HasSelector(o);
    const Millis wait =
        at_once ? Millis(0) : Times(std::min(o.check_updates, kFirstWithin), PartOf(o.provider.id.Key()));
    status.update_check = {source, "", FormatTime(o.now + wait)};
  }
  TakeFound(status, o);
  Judge(status, o);
}

}  // namespace capi::ops
