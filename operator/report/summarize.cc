#include "operator/report/summarize.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "api/reasons.h"
#include "base/strings.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/pause.h"
#include "operator/decide/rollout.h"
#include "operator/decide/rules.h"
#include "operator/report/summarize_updates.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;
using kube::Condition;

constexpr size_t kMaxMessage = 8 * 1024;  // far below the CRD's 32,768, so that a status stays small
constexpr size_t kMaxHeld = 6 * 1024;     // of it, why something is held; the rest is for what comes behind that

constexpr size_t kMaxHeldBeforeDetails = kMaxMessage - kMostDetails - 256;

// The conditions under construction, over those of the last pass.
class Conditions {
 public:
  Conditions(const Observation& o) : o_(o), list_(o.provider.status.conditions) {}

  void Set(std::string_view type, std::string_view status, std::string_view why, std::string message) {
    Remove(type);
    list_.push_back(Condition{std::string(type), std::string(status), std::string(why), Shorten(message, kMaxMessage),
                              o_.provider.generation, ""});
  }
  void Remove(std::string_view type) {
    std::erase_if(list_, [&](const Condition& c) { return c.type == type; });
  }
  const Condition* Get(std::string_view type) const { return kube::FindCondition(list_, type); }
  std::vector<Condition> Settle() {
    kube::SettleConditions(list_, o_.provider.status.conditions, o_.now);
    return std::move(list_);
  }

 private:
  const Observation& o_;
  std::vector<Condition> list_;
};

void ReportInstalled(Conditions& conditions) {
  std::string note = "Provider installed successfully";
  const Condition* warnings = conditions.Get(condition::kWarnings);
  if (warnings != nullptr && !warnings->message.empty()) {
    note += "; see condition " + std::string(condition::kWarnings);
  }
  conditions.Set(condition::kProviderInstalled, "True", reason::kProviderInstalled, note);
}

std::string OnOneLine(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  return text;
}

// F1, F5: and when it is tried again. What is to be applied (T3) begins with the second line then, whatever pods said
// or a release calls its objects, and is whole.
std::string WithNextTry(const Hold& hold) {
  std::string message =
      hold.details.empty() ? Shorten(hold.message, kMaxHeld) : OnOneLine(Shorten(hold.message, kMaxHeldBeforeDetails));
  if (hold.next_try) {
    message += fmt::format(" (next try at {})", FormatTime(*hold.next_try));
  } else if (hold.retry == Retry::kOnChange) {
    message += " (looked at again when an input changes, and now and then)";
  }
  return hold.details.empty() ? message : message + "\n" + hold.details;
}

void ReportHold(Conditions& conditions, const Hold& hold) {
  const std::string message = WithNextTry(hold);
  conditions.Set(hold.condition, "False", hold.reason, message);
  // What failed is the upgrade: what was installed still is, whatever was said on the way.
  if (hold.condition == condition::kProviderUpgraded) ReportInstalled(conditions);
  if (hold.condition != condition::kPreflightCheckPassed) {
    conditions.Set(condition::kPreflightCheckPassed, "True", reason::kPreflightChecksPassed,
                   "All preflight checks passed");
  }
  conditions.Set(condition::kReady, "False", hold.reason, message);
  if (hold.retry == Retry::kOnChange || hold.retry == Retry::kRefused) {
    conditions.Remove(condition::kReconciling);
    conditions.Set(condition::kStalled, "True", hold.reason, message);
  } else {
    conditions.Remove(condition::kStalled);
    conditions.Set(condition::kReconciling, "True", hold.reason, message);
  }
}

// What a try can come to from its turn on, until all is applied. All else was looked at before the wait, and is over.
bool IsOfATry(std::string_view why) {
  constexpr std::string_view kReasons[] = {
      reason::kSourceUnreachable,
      reason::kRateLimited,
      reason::kSourceCredentialsRejected,
      reason::kVerificationFailed,
      reason::kComponentsFetchError,
      reason::kNoReleaseFound,
      reason::kVersionNotFound,
      reason::kInvalidMetadata,
      reason::kCAPIVersionIncompatibility,
      reason::kWaitingForOrder,
      reason::kWaitingForPause,
      reason::kMissingVariables,
      reason::kInvalidComponents,
      reason::kMultipleNamespaces,
      reason::kComponentsNamespaceError,
      reason::kDuplicateObjects,
      reason::kComponentsCustomizationError,
      reason::kUnsupportedManagerField,
      reason::kComponentsPatchError,
      reason::kComponentsImageOverrideError,
      reason::kObjectOwnedByAnotherProvider,
      reason::kMissingKinds,
      reason::kPermissionsMissing,
      reason::kStoredVersionsInUse,
      reason::kDryRunFailed,
      reason::kAdopting,
      reason::kInstallFailed,
  };
  return std::find(std::begin(kReasons), std::end(kReasons), why) != std::end(kReasons);
}

// T13: who waits for a turn has tried nothing. What the last try of this declaration came to stays told, with the time
// that was told; else each wait would hide it.
bool StaysTold(const Observation& o, const Hold& hold) {
  const Condition* ready = kube::FindCondition(o.provider.status.conditions, condition::kReady);
  if (hold.retry != Retry::kTurn || ready == nullptr) return false;
  if (ready->observed_generation != o.provider.generation) return false;
  return ready->status == "True" ? o.fleet.ready() : IsOfATry(ready->reason);
}

void ReportHeld(Conditions& conditions, const Observation& o, const Hold& hold) {
  if (!StaysTold(o, hold)) return ReportHold(conditions, hold);
  // What is Ready has it only from a pass that saw nothing.
  if (conditions.Get(condition::kReady)->status == "True") conditions.Remove(condition::kReconciling);
}

constexpr const char* kComingBack = "The workloads get their former replicas back";

// What a pause scaled is as it should be at zero, but not once the pause is over: the watch may have shown it only
// after it was decided that nothing is to be scaled up.
Fleet WithoutPaused(Fleet fleet) {
  for (Workload& workload : fleet.workloads) {
    if (workload.former) workload.health = {kube::HealthState::kInProgress, "it gets its former replicas back"};
  }
  return fleet;
}

// Everything is applied: the fleet decides (I10).
void ReportApplied(Conditions& conditions, const Observation& o, const Done& done, bool upgraded) {
  conditions.Set(condition::kPreflightCheckPassed, "True", reason::kPreflightChecksPassed,
                 "All preflight checks passed");
  conditions.Remove(condition::kStalled);
  bool at_zero = AppliesAtZero(o);
  const Fleet& seen = done.fleet ? *done.fleet : o.fleet;
  const Fleet fleet = at_zero ? seen : WithoutPaused(seen);
  bool last_stages = o.provider.status.applied.empty() && !done.applied;  // they follow when the workloads are there
  if (!fleet.ready() || last_stages) {
    std::string message = fleet.rolled_out() ? "The last stages follow" : "Waiting for " + NotReady(fleet);
    std::string_view why = fleet.pending_crds.empty() ? reason::kWorkloadsNotReady : reason::kCRDsNotEstablished;
    if (at_zero && fleet.pending_crds.empty()) why = reason::kPaused;
    if (const auto* change = conditions.Get(condition::kProviderUpgraded); upgraded) {
      std::string words = change->message.substr(0, change->message.find(": "));
      conditions.Set(condition::kProviderUpgraded, "False", reason::kUpgrading, words + ": " + message);
    }
    const Condition* before = conditions.Get(condition::kProviderInstalled);
    // A provider that was installed stays so when a pod of it dies: Ready says that, and why.
    if (before == nullptr || before->status != "True" || done.applied) {
      conditions.Set(condition::kProviderInstalled, "False", why, message);
    }
    conditions.Set(condition::kReady, "False", why, message);
    conditions.Set(condition::kReconciling, "True", why, message);
    return;
  }
  if (!at_zero) conditions.Remove(condition::kReconciling);
  ReportInstalled(conditions);
  if (upgraded) {
    conditions.Set(condition::kProviderUpgraded, "True", reason::kProviderUpgraded, "Provider upgraded successfully");
  }
  if (at_zero) {
    std::string message = "Everything is applied, and paused: set spec.paused to false to bring the workloads back";
    conditions.Set(condition::kReady, "False", reason::kPaused, message);
    conditions.Set(condition::kReconciling, "True", reason::kPaused, message);
    return;
  }
  conditions.Set(condition::kReady, "True", reason::kWorkloadsReady,
                 fleet.workloads.empty() ? "All objects are applied"
                                         : fmt::format("All objects are applied, {} of {} workloads are available",
                                                       fleet.workloads.size(), fleet.workloads.size()));
}

// True from when nothing runs any more until just before the first pod comes back.
void ReportPause(Conditions& conditions, const Observation& o, const Done& done) {
  bool going = done.removing && !done.hold;  // a deletion that is held back leaves it as it is declared
  if (o.spec_error || going) return;
  if (o.former && done.hold) {  // it isn't ours to scale, so nothing can be said of its pods
    conditions.Remove(condition::kPaused);
    return;
  }
  const Fleet& fleet = done.fleet ? *done.fleet : o.fleet;
  if (done.unpausing) {
    conditions.Set(condition::kPaused, "False", reason::kProgressing, kComingBack);
    return;
  }
  if (!AppliesAtZero(o)) {
    bool coming_back = std::any_of(fleet.workloads.begin(), fleet.workloads.end(),
                                   [](const Workload& w) { return w.former.has_value(); });
    if (!coming_back) conditions.Remove(condition::kPaused);
    return;
  }
  // An apply at zero made it "going to zero" for an instant, in which others took the change of contract for done and
  // started, and it was itself applied with its declared replicas from then on.
  std::string running = StillRunning(fleet, SaysPaused(o.provider.status));
  if (!running.empty()) {
    conditions.Set(condition::kPaused, "False", reason::kProgressing, "Going to zero replicas: " + running);
  } else {
    conditions.Set(condition::kPaused, "True", reason::kPaused,
                   o.provider.spec.paused ? "All workloads are at zero replicas, as spec.paused asks for"
                                          : "All workloads are still at zero replicas; Ready says why");
  }
}

void ReportContract(Conditions& conditions, const Observation& o, const std::string& contract) {
  if (contract.empty() || !o.core) {
    conditions.Remove(condition::kContractCompatible);
  } else if (auto mismatch = ContractMismatch(o, contract)) {
    conditions.Set(mismatch->condition, "False", mismatch->reason, mismatch->message);
  } else {
    conditions.Set(condition::kContractCompatible, "True", reason::kContractAccepted,
                   fmt::format("The core provider accepts contract {}", contract));
  }
}

// What the others judge by is said while it is of use. A provider that is to be unpaused says too that its new contract
// can't be told, so that it doesn't wait for that at zero (C5).
void SettleDesired(api::ProviderStatus& status, const Observation& o, const Done& done) {
  const std::string& wanted = o.provider.spec.version;
  bool pending = !status.installed_version.empty() && !wanted.empty() && !o.spec_error &&
                 !api::SameVersion(wanted, status.installed_version);
  if (pending && api::SameVersion(wanted, status.desired_version)) return;
  status.desired_version = status.desired_contract = "";
  if (pending && done.hold && !o.provider.spec.paused && AppliesAtZero(o)) status.desired_version = wanted;
}

// The record of the change, and its end when everything that was sent is healthy.
void KeepHistory(api::ProviderStatus& status, const Observation& o, const Done& done) {
  if (done.rollout) PutEntry(status.history, *done.rollout);
  if (status.history.empty() || done.hold) return;
  const api::HistoryEntry& front = status.history.front();
  bool open = front.outcome == api::outcome::kRollingOut || front.outcome == api::outcome::kFailed;
  bool complete = RolloutOf(status, status.applied) != nullptr;
  if (open && complete && (done.fleet ? *done.fleet : o.fleet).rolled_out()) Succeed(status.history, o.now);
}

// Absent where there never was anything to migrate.
void ReportMigration(Conditions& conditions, const Observation& o, const Fleet& fleet) {
  bool known = conditions.Get(condition::kStorageMigrated) != nullptr;
  if (fleet.unmigrated.empty()) {
    if (known) {
      conditions.Set(condition::kStorageMigrated, "True", reason::kStorageMigrated,
                     "Every object is stored at the version that its CRD stores");
    }
    return;
  }
  std::vector<std::string> names;
  size_t objects = 0;
  const Error* error = nullptr;
  for (const CrdState& crd : fleet.unmigrated) {
    names.push_back(crd.name);
    objects += crd.migration.objects;
    if (crd.migration.error && error == nullptr) error = &*crd.migration.error;
  }
  std::string what = "Objects of " + JoinNames(names, 3) + " may be stored at older versions";
  if (objects > 0) what += fmt::format(", {} are written anew", objects);
  if (AppliesAtZero(o)) {  // whatever the last try said: there is none at zero (P3)
    conditions.Set(condition::kStorageMigrated, "False", reason::kMigratingStorage,
                   what + ": they are migrated when the provider's workloads run again");
  } else if (error != nullptr) {
    conditions.Set(condition::kStorageMigrated, "False", reason::kStorageMigrationFailed,
                   what + "; the provider works, and it is tried again: " + error->message);
  } else {
    conditions.Set(condition::kStorageMigrated, "False", reason::kMigratingStorage, what);
  }
}

void ReportWarnings(Conditions& conditions, const Done& done) {
  if (!done.warnings) return;
  if (done.warnings->empty()) {
    conditions.Remove(condition::kWarnings);
  } else {
    conditions.Set(condition::kWarnings, "True", reason::kRenderWarnings, Join(*done.warnings, "; "));
  }
}

// D2: a fight is told of until it ends; that there was one, until the status is made anew.
void ReportFights(Conditions& conditions, const Observation& o) {
  if (o.fights.empty()) {
    if (conditions.Get(condition::kDrifted) == nullptr) return;
    conditions.Set(condition::kDrifted, "False", reason::kNoDrift, "Nobody changes what was applied any more");
    return;
  }
  std::vector<std::string> parts;
  for (const Fight& fight : o.fights) {
    parts.push_back(fmt::format("{}, again and again: restored {} times, {} {}", fight.what, fight.restored,
                                fight.waiting ? "next at" : "the last one holds; over at",
                                FormatTime(o.now + fight.next)));
  }
  conditions.Set(condition::kDrifted, "True", reason::kFieldFight,
                 Join(parts, "; ") + ". Stop who does that, or declare in the Provider's spec what it should be");
}

void ReportDeleting(Conditions& conditions) {
  std::string message = "The provider's objects are being removed";
  conditions.Remove(condition::kStalled);
  conditions.Set(condition::kReady, "False", reason::kDeleting, message);
  conditions.Set(condition::kReconciling, "True", reason::kDeleting, message);
}

// What a pass that saw nothing said is no longer so, and its next try never comes: hands are off (P4).
void TakeBackUnseen(Conditions& conditions, const std::string& message) {
  auto unseen = [&](std::string_view type) {
    const Condition* said = conditions.Get(type);
    return said != nullptr && (said->reason == reason::kAPIServerUnavailable || said->reason == reason::kInternalError);
  };
  for (std::string_view type : {condition::kReconciling, condition::kStalled}) {
    if (unseen(type)) conditions.Remove(type);
  }
  if (unseen(condition::kReady)) conditions.Set(condition::kReady, "False", reason::kHandsOff, message);
}

bool IsRollingOut(const api::ProviderStatus& status) {
  return !status.history.empty() && status.history.front().outcome == api::outcome::kRollingOut;
}

// A change of version whose workloads were just sent.
bool BeginsUpgrade(const Observation& o, const Done& done) {
  return done.rollout && done.rollout->outcome == api::outcome::kRollingOut &&
         !o.provider.status.installed_version.empty() &&
         !api::SameVersion(done.rollout->version, o.provider.status.installed_version);
}

}  // namespace

api::ProviderStatus Summarize(const Observation& o, const Done& done) {
  api::ProviderStatus status = o.provider.status;
  Conditions conditions(o);
  if (done.hands_off) {
    const std::string message =
        fmt::format("Annotation {} is set: nothing is written until it is removed", api::kAnnotationPaused);
    conditions.Set(condition::kPaused, "True", reason::kHandsOff, message);
    TakeBackUnseen(conditions, message);
    status.conditions = conditions.Settle();
    return status;
  }
  if (const Condition* paused = conditions.Get(condition::kPaused); paused && paused->reason == reason::kHandsOff) {
    conditions.Remove(condition::kPaused);
  }
  bool changed_version = done.installed_version && !status.installed_version.empty() &&
                         !api::SameVersion(*done.installed_version, status.installed_version);
  if (done.inventory) status.inventory = done.inventory->ToJson();
  if (done.unpausing) status.applied.clear();
  if (done.applied) status.applied = *done.applied;
  if (done.contract) status.contract = *done.contract;
  if (done.installed_version) status.installed_version = *done.installed_version;
  if (done.source) status.source = *done.source;
  if (done.handled_reconcile_at) status.handled_reconcile_at = *done.handled_reconcile_at;
  SettleUpgrades(status, o, done);
  KeepHistory(status, o, done);
  ReportWarnings(conditions, done);
  ReportFights(conditions, o);
  ReportPause(conditions, o, done);
  ReportContract(conditions, o, status.contract);
  if (auto upgrade = UpgradeCondition(o, status)) {
    conditions.Set(upgrade->type, upgrade->status, upgrade->reason, upgrade->message);
  } else {
    conditions.Remove(condition::kUpgradeAvailable);
  }
  SettleDesired(status, o, done);
  if (changed_version || BeginsUpgrade(o, done)) {
    conditions.Set(condition::kProviderUpgraded, "False", reason::kUpgrading,
                   fmt::format("Upgrading to {}", done.rollout ? done.rollout->version : status.installed_version));
  }
  const Condition* upgraded = conditions.Get(condition::kProviderUpgraded);
  bool upgrading = upgraded != nullptr && upgraded->status != "True" && !TellsOfAChoice(*upgraded, status);
  if (done.hold) {
    ReportHeld(conditions, o, *done.hold);
  } else if (done.unpausing) {
    conditions.Set(condition::kReady, "False", reason::kWorkloadsNotReady, kComingBack);
    conditions.Set(condition::kReconciling, "True", reason::kWorkloadsNotReady, kComingBack);
  } else if (done.removing) {
    ReportDeleting(conditions);
  } else if (!status.applied.empty() || IsRollingOut(status)) {
    ReportApplied(conditions, o, done, upgrading);
  }
  if (!o.provider.deleting) ReportMigration(conditions, o, done.fleet ? *done.fleet : o.fleet);
  status.observed_generation = o.provider.generation;
  status.conditions = conditions.Settle();
  return status;
}

api::ProviderStatus SummarizeUnseen(const api::Provider& provider, const Hold& hold, WallTime now) {
  Observation o;
  o.provider = provider;
  o.now = now;
  Conditions conditions(o);
  const Condition* ready = conditions.Get(condition::kReady);
  const std::string message = WithNextTry(hold);
  bool passes = hold.retry == Retry::kBackoff;
  if (!passes || ready == nullptr || ready->status != "True") {
    // The reason is what the next pass knows a begun removal by.
    std::string_view why = RemovalBegan(o) ? reason::kDeletionFailed : std::string_view(hold.reason);
    conditions.Set(condition::kReady, "False", why, message);
  }
  conditions.Remove(passes ? condition::kStalled : condition::kReconciling);
  conditions.Set(passes ? condition::kReconciling : condition::kStalled, "True", hold.reason, message);
  api::ProviderStatus status = provider.status;
  status.conditions = conditions.Settle();
  if (!passes) status.observed_generation = provider.generation;  // Ready is of this one, too
  return status;
}

namespace {

// As all do that are applied together with the core, and with many others. For all else somebody may have to do
// something.
bool WaitsForItsTurn(const Hold& hold) {
  return hold.reason == reason::kWaitingForCoreProviderReady || hold.reason == reason::kWaitingForSource;
}

// An event has room for 1,024 bytes: YAML that is cut off is none, or another one.
std::string ForEvent(const Condition& c, const Done& done) {
  if (!done.hold || done.hold->details.empty() || c.reason != done.hold->reason) return c.message;
  return c.message.substr(0, c.message.find('\n')) + "; the message of condition Ready has what gives them";
}

}  // namespace

std::vector<Event> EventsOf(const api::ProviderStatus& was, const api::ProviderStatus& is, const Done& done) {
  std::vector<Event> events;
  for (const Condition& c : is.conditions) {
    const Condition* before = kube::FindCondition(was.conditions, c.type);
    bool same = before != nullptr && before->status == c.status && before->reason == c.reason;
    // All warnings share a condition and its reason: another patch without effect is news.
    if (same && c.type == condition::kWarnings) same = before->message == c.message;
    if (same) continue;
    bool failure = (c.type == condition::kStalled || c.type == condition::kDrifted) && c.status == "True";
    bool held = c.type == condition::kReconciling && c.status == "True" && done.hold;
    if (held && WaitsForItsTurn(*done.hold)) {
      events.push_back({"Normal", c.reason, ForEvent(c, done)});
    } else if (failure || held || (c.type == condition::kWarnings && c.status == "True")) {
      events.push_back({"Warning", c.reason, ForEvent(c, done)});
    } else if (c.status == "True" &&
               (c.type == condition::kProviderInstalled || c.type == condition::kProviderUpgraded)) {
      events.push_back({"Normal", c.reason, fmt::format("{} {}", c.message, is.installed_version)});
    }
  }
  AddUpdateEvents(was, is, events);
  return events;
}

std::vector<Event> EventsOfDone(const api::ProviderStatus& is, const Done& done) {
  std::vector<Event> events;
  for (const std::string& what : done.restored) {
    events.push_back({"Normal", std::string(reason::kDriftCorrected), what + "; it is as it was applied again"});
  }
  for (const std::string& what : done.certified) {
    events.push_back({"Normal", std::string(reason::kCertificateIssued), what});
  }
  if (!done.chosen.empty()) events.push_back(ChoiceEvent(done.chosen));
  if (!done.adopted.empty()) {
    events.push_back({"Normal", std::string(reason::kAdopting), done.adopted + " " + is.installed_version});
  }
  if (!done.removed.empty()) {
    events.push_back({"Normal", std::string(done.removing ? reason::kDeleting : reason::kPruned),
                      fmt::format("Removed {}", JoinNames(done.removed, 5))});
  }
  if (!done.kept.empty()) {
    events.push_back({"Normal", std::string(done.removing ? reason::kDeleting : reason::kPruned),
                      fmt::format("Kept {}", JoinNames(done.kept, 5))});
  }
  return events;
}

}  // namespace capi::ops
