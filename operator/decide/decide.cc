#include "operator/decide/decide.h"

#include <algorithm>

#include "api/reasons.h"
#include "api/release.h"
#include "api/release_choice.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "operator/decide/certificates/due.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/pause.h"
#include "operator/decide/rollout.h"
#include "operator/decide/rules.h"
#include "operator/decide/upgrades/policy.h"

namespace capi::ops {
namespace {

constexpr char kBeforeKeys = '-';  // in a digest of inputs

using Next = std::optional<Step>;

std::optional<Hold> FirstHold(const Observation& o, std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    if (auto hold = rule.check(o)) return hold;
  }
  return std::nullopt;
}

// D1, but for what a fight is about (D2), and not while the provider is at zero (P2) or its Namespace is going (X5).
std::vector<Drift> ToRestore(const Observation& o) {
  std::vector<Drift> drifts;
  if (AppliesAtZero(o) || o.namespace_going || o.inventory_error || o.spec_error) return drifts;
  for (const Drift& drift : o.fleet.drifts) {
    if (drift.wait == Millis(0)) drifts.push_back(drift);
  }
  return drifts;
}

// Also while a change is under way: then the render at hand is of that change, and what of it was sent already counts.
bool CanRestore(const Observation& o) {
  return !o.rendered.empty() && (o.provider.status.applied.empty() || o.rendered == o.provider.status.applied);
}

// The render at hand, or one made again from the release that is kept: after a restart, or when it had to make room.
bool CanKeep(const Observation& o) { return CanRestore(o) || AppliedRelease(o) != nullptr; }

bool IsApplied(const Observation& o) {
  std::string inputs = InputsDigest(o);
  return !inputs.empty() && inputs == o.provider.status.applied;
}

// ---- always ----

Next HandsOffStops(const Observation& o) {
  if (!IsHandsOff(o.provider)) return std::nullopt;
  return HandsOff{};
}

Next IsReleased(const Observation& o) {
  if (o.provider.has_finalizer) return std::nullopt;
  return Steady{};
}

Next NeedsFinalizer(const Observation& o) {
  if (o.provider.has_finalizer) return std::nullopt;
  return AddFinalizer{};
}

Next UnreadableStatus(const Observation& o) {
  auto hold = StatusIsReadable(o);
  return hold ? Next(std::move(*hold)) : std::nullopt;
}

Next NoAccount(const Observation& o) {
  auto hold = NamesServiceAccount(o);
  return hold ? Next(std::move(*hold)) : std::nullopt;
}

Next AccountIsGone(const Observation& o) {
  auto hold = ServiceAccountExists(o);
  return hold ? Next(std::move(*hold)) : std::nullopt;
}

// ---- while it is being deleted ----

// What wasn't taken over is another tool's: it stays as it was.
Next NeverOurs(const Observation& o) {
  if (!o.former || o.inventory.size() > 0) return std::nullopt;
  return Remove{};
}

Next LostBeforeRemoval(const Observation& o) {
  if (!o.inventory_lost && !o.left_behind) return std::nullopt;
  return Rebuild{};
}

// A removal that was let begin isn't undone because who uses the provider can't be read for a moment: what it restored
// was removed again, over and over.
bool IsUnread(const Hold& hold) { return hold.reason == api::reason::kDeletionFailed; }

// While it is needed, by clusters or to migrate what it leaves behind, it runs as declared: at zero, neither would ever
// end.
Next PauseWhileNeeded(const Observation& o) {
  if (!GuardsDeletion(o)) return std::nullopt;
  auto hold = FirstHold(o, DeletionRules());
  if ((!hold && o.fleet.unmigrated.empty()) || (hold && IsUnread(*hold))) return std::nullopt;
  return DecidePause(o);
}

// And it is kept as it was applied.
Next KeptWhileNeeded(const Observation& o) {
  if (!GuardsDeletion(o)) return std::nullopt;
  auto hold = FirstHold(o, DeletionRules());
  if (!hold) return std::nullopt;
  if (IsUnread(*hold)) return *hold;
  std::vector<Drift> drifts = ToRestore(o);
  if (!drifts.empty() && CanKeep(o)) return Restore{std::move(drifts), std::move(hold)};
  return *hold;
}

Next MigrateBeforeRemoval(const Observation& o) {
  if (!GuardsDeletion(o) || o.fleet.unmigrated.empty()) return std::nullopt;
  return Migrate{};
}

Next RemoveAll(const Observation&) { return Remove{}; }

// ---- while it is there ----

// What was applied is kept even while the next change can't be.
Next HeldByPreflight(const Observation& o) {
  auto hold = FirstHold(o, PreflightRules());
  if (!hold) return std::nullopt;
  std::vector<Drift> drifts = ToRestore(o);
  if (!drifts.empty() && CanKeep(o)) return Restore{std::move(drifts), std::move(hold)};
  return *hold;
}

Next TakesOver(const Observation& o) {
  if (!o.former) return std::nullopt;
  return Adopt{};
}

Next GoesByPolicy(const Observation& o) {
  auto version = ChosenByPolicy(o);
  return version ? Next(Upgrade{*std::move(version)}) : std::nullopt;
}

Next GoesOnFromFailure(const Observation& o) {
  auto version = ChosenAfterFailure(o);
  return version ? Next(Upgrade{*std::move(version)}) : std::nullopt;
}

// A rollout that is waited for, or that failed, is kept as it was applied.
Next GoesOnRollingOut(const Observation& o) {
  Next step = FollowRollout(o, InputsDigest(o));
  if (!step || !CanRestore(o)) return step;
  std::vector<Drift> drifts = ToRestore(o);
  if (Await* wait = std::get_if<Await>(&*step)) {
    wait->drifts = std::move(drifts);
  } else if (Hold* hold = std::get_if<Hold>(&*step); hold != nullptr && !drifts.empty()) {
    return Restore{std::move(drifts), std::move(*hold)};
  } else if (Install* back = std::get_if<Install>(&*step);
             back != nullptr && !IsAnnounced(o.provider.status, back->inputs, /*rollback=*/true)) {
    back->drifts = std::move(drifts);  // a rollback may wait for long
  }
  return step;
}

Next NewInputs(const Observation& o) {
  if (IsApplied(o)) return std::nullopt;
  return Install{InputsDigest(o), CanKeep(o) ? ToRestore(o) : std::vector<Drift>()};
}

Next LostInventory(const Observation& o) {
  if (!o.inventory_lost) return std::nullopt;
  return Install{InputsDigest(o)};
}

// Here the inputs are those that were applied (U1.inputs), so that their release is there to render.
Next Drifted(const Observation& o) {
  std::vector<Drift> drifts = ToRestore(o);
  if (drifts.empty()) return std::nullopt;
  return Restore{std::move(drifts), std::nullopt};
}

Next LeftOver(const Observation& o) {
  if (!o.inventory.has_stale() || !o.fleet.ready()) return std::nullopt;
  return Prune{};
}

// At zero, nobody converts (P3). The status says first that there is something to do: what is told of only afterwards
// is lost with one write that fails.
Next Unmigrated(const Observation& o) {
  bool can = !o.fleet.unmigrated.empty() && o.fleet.ready() && !AppliesAtZero(o);
  if (!can || !SaysUnmigrated(o.provider.status)) return std::nullopt;
  // A newer version may mend the conversion (U13); one that drops what is still stored is held (U3).
  if (SaysMigrationFailed(o.provider.status)) {
    if (Next newer = GoesByPolicy(o)) return newer;
  }
  return Migrate{};
}

// Nothing waits for them, but it is told.
Next CertificatesAreKept(const Observation& o) {
  auto hold = CertificatesFailed(o);
  return hold ? Next(std::move(*hold)) : std::nullopt;
}

// At zero against its declaration: what is left to do is done, and then it says so.
Next StillAtZero(const Observation& o) {
  if (o.provider.spec.paused || ToScaleUp(o).empty()) return std::nullopt;
  auto hold = StaysAtZero(o);
  return hold ? Next(std::move(*hold)) : std::nullopt;
}

Next NothingToDo(const Observation&) { return Steady{}; }

using enum StepRule::When;

// In this order. Names are those of docs/behaviour.md.
constexpr StepRule kRules[] = {
    {"P4.hands-off", kAlways, HandsOffStops},
    {"X1.released", kDeleted, IsReleased},
    {"X1.finalizer", kAlive, NeedsFinalizer},
    {"U11.unreadable-status", kAlways, UnreadableStatus},
    {"T8.account-required", kAlways, NoAccount},
    {"T8.account-exists", kAlive, AccountIsGone},

    {"I19.certificates", kAlways, DecideCertificates},
    {"I19.hand-over", kAlive, DecideHandOver},

    {"A2.never-ours", kDeleted, NeverOurs},
    {"U11.lost-before-removal", kDeleted, LostBeforeRemoval},
    {"X2.pause-while-needed", kDeleted, PauseWhileNeeded},
    {"X2.kept-while-needed", kDeleted, KeptWhileNeeded},
    {"X1.migrate", kDeleted, MigrateBeforeRemoval},
    {"X1.remove", kDeleted, RemoveAll},

    {"P1.pause", kAlive, DecidePause},
    {"I5.preflight", kAlive, HeldByPreflight},
    {"A1.take-over", kAlive, TakesOver},
    {"U13.after-failure", kAlive, GoesOnFromFailure},
    {"U5.rollout", kAlive, GoesOnRollingOut},
    {"U1.inputs", kAlive, NewInputs},
    {"U11.lost-inventory", kAlive, LostInventory},
    {"D1.drift", kAlive, Drifted},
    {"U4.prune", kAlive, LeftOver},
    {"U3.migrate", kAlive, Unmigrated},
    {"I19.failed", kAlive, CertificatesAreKept},
    {"C5.at-zero", kAlive, StillAtZero},
    {"U13.policy", kAlive, GoesByPolicy},
    {"U1.nothing", kAlive, NothingToDo},
};

}  // namespace

std::span<const StepRule> StepRules() { return kRules; }

Step Decide(const Observation& o) {
  for (const StepRule& rule : kRules) {
    if (!rule.AppliesTo(o)) continue;
    if (Next step = rule.next(o)) return std::move(*step);
  }
  return Steady{};  // the last rule always holds
}

const StoredRelease* WantedRelease(const Observation& o, bool of_any_source) {
  return api::ReleaseThatCounts(o.releases, o.provider, o.provider.spec.version, of_any_source);
}

const StoredRelease* AppliedRelease(const Observation& o) {
  if (o.provider.status.applied.empty()) return nullptr;
  for (const auto& release : o.releases) {
    if (release.version && InputsDigest(o, *release.version, release.stamp) == o.provider.status.applied) {
      return &release;
    }
  }
  return nullptr;
}

std::string_view NameOf(const Step& step) {
  constexpr std::string_view kNames[] = {"HandsOff", "AddFinalizer", "Rebuild", "Remove",  "Install", "Restore",
                                         "Prune",    "Steady",       "Hold",    "Scale",   "Unpause", "Await",
                                         "GiveUp",   "Migrate",      "Adopt",   "Upgrade", "Certify", "HandOver"};
  static_assert(std::size(kNames) == std::variant_size_v<Step>);
  return kNames[step.index()];
}

std::string InputsDigest(const Observation& o) {
  const StoredRelease* release = o.provider.spec.version.empty() ? nullptr : WantedRelease(o);
  if (release == nullptr || !release->version) return "";
  return InputsDigest(o, *release->version, release->stamp);
}

std::string InputsDigest(const Observation& o, const api::Version& version, std::string_view release_stamp) {
  auto annotation = o.provider.annotations.find(std::string(api::kAnnotationReconcileAt));
  std::vector<std::string> inputs = {"1",
                                     o.provider.uid,
                                     o.spec_digest,
                                     version.ToString(),
                                     std::string(release_stamp),
                                     o.config_secret ? o.config_secret->stamp : "",
                                     o.additional_manifests ? o.additional_manifests->stamp : "",
                                     o.environment,
                                     annotation == o.provider.annotations.end() ? "" : annotation->second};
  std::string digest = Sha256Hex(Join(inputs, "\n")).substr(0, 32);
  if (o.keys_secret) digest += kBeforeKeys + Sha256Hex(o.keys_secret->stamp).substr(0, 16);
  return digest;
}

std::string_view WithoutKeys(std::string_view inputs) { return inputs.substr(0, inputs.find(kBeforeKeys)); }

}  // namespace capi::ops
