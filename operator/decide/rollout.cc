#include "operator/decide/rollout.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/moves/upgrade_policy.h"
#include "api/reasons.h"
#include "base/strings.h"
#include "operator/decide/next_try.h"
#include "operator/decide/upgrades/policy.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;
namespace outcome = api::outcome;
using api::HistoryEntry;

constexpr size_t kHistory = 10;
constexpr size_t kMaxMessage = 2 * 1024;  // an entry stays small

bool Succeeded(const HistoryEntry& entry) { return entry.outcome.empty() || entry.outcome == outcome::kSucceeded; }

bool IsSameChange(std::string_view inputs, std::string_view others) {
  return WithoutKeys(inputs) == WithoutKeys(others);
}

bool IsStored(const Observation& o, std::string_view version) {
  return std::any_of(o.releases.begin(), o.releases.end(),
                     [&](const StoredRelease& release) { return api::SameVersion(release.version_text, version); });
}

bool IsFirstInstallation(const api::ProviderStatus& status) {
  return std::none_of(status.history.begin(), status.history.end(), Succeeded);
}

bool ChangesVersion(const api::ProviderStatus& status, const HistoryEntry& entry) {
  const HistoryEntry* good = LastGood(status, entry);
  if (good == nullptr) return false;
  for (const HistoryEntry& before : status.history) {
    if (Succeeded(before)) return &before == good;
  }
  return false;
}

// Where a change goes back to, or why there is nothing; neither where that isn't asked for.
struct WayBack {
  const HistoryEntry* to = nullptr;
  std::string why_not;
};

// Going back is for changes of version, to a release that lies in the cluster.
WayBack WayBackOf(const Observation& o, const HistoryEntry& failing) {
  if (o.provider.spec.rollout.on_failure != api::OnFailure::kRollback) return {};
  const HistoryEntry* good = LastGood(o.provider.status, failing);
  if (good == nullptr) return {nullptr, "no release of another version was healthy before"};
  if (!ChangesVersion(o.provider.status, failing)) {
    return {nullptr,
            fmt::format("only a change of version is, and {} was healthy before this change", failing.version)};
  }
  if (!IsStored(o, good->version)) {
    return {nullptr,
            fmt::format("the release of {}, which was healthy before, isn't in the cluster any more", good->version)};
  }
  return {good, ""};
}

Hold FailedHold(const Observation& o, const HistoryEntry& entry, std::string message) {
  const api::ProviderStatus& status = o.provider.status;
  Hold hold;
  hold.message = std::move(message);
  hold.retry = Retry::kOnChange;
  if (IsFirstInstallation(status)) {
    hold.condition = condition::kProviderInstalled;
    hold.reason = reason::kTimedOutWaitingForDeployment;
  } else {
    hold.condition = ChangesVersion(status, entry) ? condition::kProviderUpgraded : condition::kProviderInstalled;
    hold.reason = reason::kRolloutTimedOut;
  }
  return hold;
}

std::string InWords(Millis time) {
  auto seconds = std::chrono::duration_cast<Seconds>(time).count();
  return seconds % 60 == 0 ? fmt::format("{}m", seconds / 60) : fmt::format("{}s", seconds);
}

Millis TimeLeft(const Observation& o, const HistoryEntry& entry, Millis& elapsed) {
  auto started = ParseTime(entry.started);
  elapsed = started.ok() ? std::chrono::duration_cast<Millis>(o.now - *started) : Millis(0);
  return o.provider.spec.rollout.timeout - elapsed;
}

// As it goes into an entry. What is secret of it has been hidden (I7): of half a value nobody knows that it is.
std::string ForEntry(std::string_view message) { return Shorten(message, kMaxMessage); }

// Something holds what a policy has begun, whatever it is: nobody has asked for it by name, and would come to mend
// that.
bool IsChoiceHeld(const Observation& o) {
  const kube::Condition* ready = kube::FindCondition(o.provider.status.conditions, condition::kReady);
  return IsChoiceUnderWay(o) && ready != nullptr && ready->status == "False" && EndsAChoice(ready->reason);
}

// By the last pass, without when it is tried again, and what could be applied then.
std::string WhatHolds(const Observation& o) {
  const kube::Condition* ready = kube::FindCondition(o.provider.status.conditions, condition::kReady);
  return fmt::format("{}: {}", ready->reason, WithoutNextTry(ready->message));
}

// `fleet` is the observation's, with what its pods say. Old pods are gone with their workload, and where it replaces
// all of them at once.
std::string TimedOut(const Observation& o, const Fleet& fleet) {
  const bool all_serve = std::all_of(fleet.workloads.begin(), fleet.workloads.end(),
                                     [](const Workload& w) { return w.health.ok() || w.available > 0; });
  const bool served_before = !IsFirstInstallation(o.provider.status) && all_serve;
  std::string why = NotReady(fleet);
  if (why.empty()) why = IsChoiceHeld(o) ? WhatHolds(o) : "the API server hasn't taken all of it";
  return ForEntry(fmt::format("{} wasn't healthy within {} (spec.rollout.timeout): {}{}",
                              o.provider.status.history.front().version, InWords(o.provider.spec.rollout.timeout), why,
                              served_before ? "; pods of each workload still serve" : ""));
}

// A CRD or a workload that is gone is sent again as the change has it.
bool IsSentAgain(const Drift& drift) { return drift.missing && (IsCrd(drift.id) || IsWorkload(drift.id)); }

// What else drifted is restored, if there is a render to restore it from (D1).
bool NeedsInstall(const Observation& o) {
  if (o.provider.spec.paused) return false;
  return std::any_of(o.fleet.drifts.begin(), o.fleet.drifts.end(), [&](const Drift& drift) {
    return drift.wait == Millis(0) && (IsSentAgain(drift) || o.rendered.empty());
  });
}

// A CRD or a workload is gone, whether or not it may be sent again already (D2).
bool IsSomethingGone(const Observation& o) {
  return !o.provider.spec.paused && std::any_of(o.fleet.drifts.begin(), o.fleet.drifts.end(), IsSentAgain);
}

// As the last pass has said: the API server doesn't take something of the change, in its dry run or itself, or reaches
// no webhook that it has to ask. Not after an outage of the API server: nobody knows whether it would take it.
bool WasRefused(const Observation& o) {
  const kube::Condition* ready = kube::FindCondition(o.provider.status.conditions, condition::kReady);
  return ready != nullptr && ready->status == "False" && TellsOfRefusal(ready->reason);
}

std::optional<Step> FollowRollback(const Observation& o, const HistoryEntry& entry, const std::string& inputs) {
  const HistoryEntry* good = LastGood(o.provider.status, entry);
  std::string running = good == nullptr ? "" : good->version;
  bool again = entry.outcome == outcome::kRollingBack || NeedsInstall(o);
  if (again && good != nullptr && IsStored(o, running)) return Install{inputs, {}, running};
  if (o.inventory.has_stale() && o.fleet.ready()) return Prune{};
  Hold hold = RolledBackHold(entry, running);
  if (!o.fleet.ready()) hold.message += fmt::format("; {} isn't healthy either: {}", running, NotReady(o.fleet));
  return hold;
}

// Of a change that a policy has begun (U13): whose it is by what spec.version says now. Who has put its name there
// meanwhile has made it his own.
void SettleChoice(const Observation& o, HistoryEntry& entry) {
  if (entry.instead_of.empty() || o.declared_version.empty()) return;
  entry.instead_of = api::SameVersion(entry.version, o.declared_version) ? "" : o.declared_version;
}

// But for what has to be known, however many changes failed since: the last good release, what a policy has installed,
// and what it would choose again if nobody knew that it failed (U13).
void DropOldest(std::vector<HistoryEntry>& history) {
  const auto good = std::find_if(history.begin(), history.end(), Succeeded);
  const HistoryEntry *floor = api::PolicyFloorOf(history), *failed = api::NewestFailedChoice(history);
  auto oldest = history.end() - 1;
  while (oldest == good || &*oldest == floor || &*oldest == failed) --oldest;
  history.erase(oldest);
}

}  // namespace

const HistoryEntry* RolloutOf(const api::ProviderStatus& status, std::string_view inputs) {
  if (inputs.empty() || status.history.empty() || !IsSameChange(status.history.front().inputs, inputs)) return nullptr;
  return &status.history.front();
}

bool IsAnnounced(const api::ProviderStatus& status, std::string_view inputs, bool rollback) {
  const HistoryEntry* entry = RolloutOf(status, inputs);
  if (entry == nullptr) return false;
  bool back = entry->outcome == outcome::kRollingBack || entry->outcome == outcome::kRolledBack;
  return back == rollback;
}

const HistoryEntry* LastGood(const api::ProviderStatus& status, const HistoryEntry& failed) {
  for (const HistoryEntry& entry : status.history) {
    if (Succeeded(entry) && !api::SameVersion(entry.version, failed.version)) return &entry;
  }
  return nullptr;
}

std::optional<Step> FollowRollout(const Observation& o, const std::string& inputs) {
  const HistoryEntry* entry = RolloutOf(o.provider.status, inputs);
  // Nobody has asked for it by name: other inputs are no reason to roll it out again (U13).
  if (entry == nullptr && IsChoiceGoingBack(o)) return FollowRollback(o, o.provider.status.history.front(), inputs);
  if (entry == nullptr) return std::nullopt;
  // Where all of it is there, there is nothing to send again: when it comes up, it has.
  if (IsNamedSince(o, *entry) && o.provider.status.applied != inputs) return std::nullopt;
  if (entry->outcome == outcome::kRollingBack || entry->outcome == outcome::kRolledBack) {
    return FollowRollback(o, *entry, inputs);
  }
  bool failed = entry->outcome == outcome::kFailed, sending = entry->outcome == outcome::kApplying;
  if (!failed && !sending && entry->outcome != outcome::kRollingOut) return std::nullopt;
  Millis elapsed{0};
  Millis left = TimeLeft(o, *entry, elapsed);
  // What became healthy, however late, goes on. Pods of before are no sign of that where nothing newer was taken.
  const bool is_choice = IsChoiceUnderWay(o), is_told = !entry->message.empty();
  const bool is_stuck = is_choice && o.provider.status.applied != inputs && (is_told || IsChoiceHeld(o));
  if (o.fleet.rolled_out() && !(is_stuck && left <= Millis(0))) return std::nullopt;
  if (failed) return NeedsInstall(o) ? std::nullopt : std::optional<Step>(FailedHold(o, *entry, entry->message));
  const bool unsent = sending || NeedsInstall(o);
  if (left > Millis(0)) return unsent ? std::nullopt : std::optional<Step>(Await{left, elapsed});
  // What was interrupted, or is gone, is sent first (U7). That has no end where what is gone isn't taken back, or where
  // nobody has asked for what isn't taken (U13); once that was found, the entry says so (EndTime), whatever the try of
  // a rollback has met since. Of a choice only a try of now tells that: nobody may have tried for long, and it is given
  // up for good.
  const bool ends = is_choice ? is_told : IsSomethingGone(o) && (is_told || WasRefused(o));
  if ((unsent || is_stuck) && !ends) return std::nullopt;
  if (const HistoryEntry* good = WayBackOf(o, *entry).to) return Install{inputs, {}, good->version};
  return GiveUp{};
}

std::optional<Millis> RolloutEndsIn(const Observation& o) {
  const auto& history = o.provider.status.history;
  if (history.empty()) return std::nullopt;
  const HistoryEntry& entry = history.front();
  if (entry.outcome != outcome::kApplying && entry.outcome != outcome::kRollingOut) return std::nullopt;
  Millis elapsed{0}, left = TimeLeft(o, entry, elapsed);
  return left > Millis(0) ? std::optional(left) : std::nullopt;
}

bool HasRolledOut(const Observation& o) {
  const api::ProviderStatus& status = o.provider.status;
  return !status.applied.empty() && !status.history.empty() && Succeeded(status.history.front()) &&
         !o.inventory.has_stale();
}

HistoryEntry BeginRollout(const Observation& o, std::string inputs, std::string version, std::string contract,
                          std::string digest) {
  HistoryEntry entry{std::move(version), std::move(contract), std::move(digest)};
  const HistoryEntry* before = RolloutOf(o.provider.status, inputs);
  bool goes_on = before != nullptr && !Succeeded(*before) && !before->started.empty() && !IsNamedSince(o, *before);
  if (IsChosen(o, entry.version)) entry.instead_of = o.declared_version;
  entry.started = goes_on ? before->started : FormatTime(o.now);
  entry.time = entry.started;
  entry.outcome = outcome::kApplying;
  // What failed has failed until it comes up, however often something of it is put back.
  if (goes_on && before->outcome == outcome::kFailed) {
    entry.outcome = before->outcome;
    entry.time = before->time;
    entry.message = before->message;
  }
  entry.inputs = std::move(inputs);
  return entry;
}

void MarkSent(HistoryEntry& entry, bool rollback) {
  if (rollback) {
    entry.outcome = outcome::kRollingBack;
  } else if (entry.outcome != outcome::kFailed) {
    entry.outcome = outcome::kRollingOut;
  }
}

api::HistoryEntry RollbackEntry(const Observation& o) {
  HistoryEntry entry = o.provider.status.history.front();
  if (entry.outcome != outcome::kRolledBack) entry.time = FormatTime(o.now);
  entry.outcome = outcome::kRollingBack;
  SettleChoice(o, entry);
  if (entry.message.empty()) entry.message = ForEntry(NotReady(o.fleet));
  return entry;
}

void PutEntry(std::vector<HistoryEntry>& history, HistoryEntry entry) {
  // An unfinished change that another one took the place of tells nothing, and must not push out what succeeded.
  while (!history.empty() && !Succeeded(history.front()) &&
         (IsSameChange(history.front().inputs, entry.inputs) || history.front().outcome == outcome::kApplying ||
          history.front().outcome == outcome::kRollingOut)) {
    history.erase(history.begin());
  }
  history.insert(history.begin(), std::move(entry));
  while (history.size() > kHistory) DropOldest(history);
}

void Succeed(std::vector<HistoryEntry>& history, WallTime now) {
  HistoryEntry& entry = history.front();
  entry.outcome = outcome::kSucceeded;
  entry.time = FormatTime(now);
  entry.message.clear();
  if (history.size() < 2) return;
  const HistoryEntry& before = history[1];
  if (Succeeded(before) && before.version == entry.version && before.digest == entry.digest) {
    entry.time = before.time;
    if (entry.instead_of.empty()) entry.instead_of = before.instead_of;  // a policy has come to it all the same (U13)
    history.erase(history.begin() + 1);
  }
}

bool IsRefusedTooLate(const Observation& o, std::string_view reason) {
  if (!IsChoiceHeld(o) || !EndsAChoice(reason)) return false;
  Millis elapsed{0};
  return TimeLeft(o, o.provider.status.history.front(), elapsed) <= Millis(0);
}

HistoryEntry EndTime(const Observation& o) {
  HistoryEntry entry = o.provider.status.history.front();
  entry.message = TimedOut(o, o.fleet);
  return entry;
}

GivenUp GiveUpRollout(const Observation& o, const Fleet& fleet, std::string_view no_rollback) {
  HistoryEntry entry = o.provider.status.history.front();
  std::string message = TimedOut(o, fleet);
  const std::string why = no_rollback.empty() ? WayBackOf(o, entry).why_not : std::string(no_rollback);
  const bool asked_for = o.provider.spec.rollout.on_failure == api::OnFailure::kRollback;
  if (asked_for && !why.empty() && !IsFirstInstallation(o.provider.status)) {
    // Each has the room that the other leaves, and this one a quarter at least.
    message = Shorten(message, kMaxMessage - std::min(why.size(), kMaxMessage / 4));
    const size_t left = kMaxMessage - std::min(message.size(), kMaxMessage * 3 / 4);
    message = fmt::format("{}; it is not rolled back: {}", message, Shorten(why, left));
  }
  entry.outcome = outcome::kFailed;
  SettleChoice(o, entry);
  entry.time = FormatTime(o.now);
  entry.message = message;
  Hold hold = FailedHold(o, entry, std::move(message));
  return {std::move(entry), std::move(hold)};
}

Hold RolledBackHold(const HistoryEntry& failed, std::string_view running) {
  return Hold{std::string(condition::kProviderUpgraded), std::string(reason::kRolledBack),
              fmt::format("{} failed, {} runs again: {}", failed.version, running, failed.message), Retry::kOnChange};
}

std::string NotReady(const Fleet& fleet) {
  std::vector<std::string> parts;
  for (const auto& w : fleet.workloads) {
    if (!w.health.ok()) {
      parts.push_back(fmt::format("{} {}: {}", w.id.kind, w.id.name, w.exists ? w.health.message : "doesn't exist"));
    } else if (w.terminating > 0) {
      parts.push_back(fmt::format("{} {}: {} old pods are going", w.id.kind, w.id.name, w.terminating));
    }
  }
  if (!fleet.pending_crds.empty()) {
    parts.push_back(fmt::format("CRDs not yet established: {}", JoinNames(fleet.pending_crds, 3)));
  }
  return JoinNames(parts, 5);
}

}  // namespace capi::ops
