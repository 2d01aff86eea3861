#include "cli/upgrade/rollout.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/moves/contract_plan.h"
#include "api/reasons.h"
#include "api/version.h"
#include "base/strings.h"
#include "cli/upgrade/write.h"

namespace capi::cli {
namespace {

bool IsPausedByUs(const api::Provider& provider) {
  return provider.annotations.contains(std::string(kAnnotationPausedForUpgrade));
}

// At zero replicas, by the operator: it says Paused for other reasons too.
bool IsAtZero(const api::Provider& provider) {
  const auto* paused = kube::FindCondition(provider.status.conditions, api::condition::kPaused);
  return paused != nullptr && paused->status == "True" && paused->reason == api::reason::kPaused;
}

bool IsInstalled(const api::Provider& provider) { return !provider.status.installed_version.empty(); }

const UpgradeTarget* TargetOf(const UpgradeRollout& rollout, const api::ProviderId& id) {
  for (const UpgradeTarget& target : rollout.targets) {
    if (target.object.provider.id == id) return &target;
  }
  return nullptr;
}

// The fleet as the golden rule sees it.
std::vector<api::FleetMember> MembersOf(const std::vector<ProviderObject>& fleet) {
  std::string of_core;
  for (const ProviderObject& one : fleet) {
    if (one.provider.id.type == api::ProviderType::kCore) of_core = one.provider.status.contract;
  }
  std::vector<api::FleetMember> members;
  for (const ProviderObject& one : fleet) {
    const api::ProviderStatus& status = one.provider.status;
    api::FleetMember member{one.provider.id, status.contract, "", IsAtZero(one.provider)};
    if (member.contract.empty() && IsInstalled(one.provider)) {
      member.contract = of_core;
      member.assumed = true;
    }
    members.push_back(std::move(member));
  }
  return members;
}

std::string Contracts(const UpgradeTarget& target) {
  if (target.from_contract == target.to_contract) return "contract " + target.to_contract;
  return fmt::format("contract {} -> {}", target.from_contract, target.to_contract);
}

std::string AsText(const UpgradeTarget& target) {
  const api::Provider& provider = target.object.provider;
  std::string out =
      fmt::format("{}: {} -> {}, {}\n", Describe(provider.id), target.leaves, target.to.ToString(), Contracts(target));
  if (target.store) out += fmt::format("  its release is put into ConfigMaps of namespace {}\n", provider.id.ns);
  if (!target.variables.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : target.variables) names.push_back(name);
    api::ObjectRef ref = SecretOf(provider);
    out += fmt::format("  Secret {}/{} gets {}\n", ref.ns, ref.name, Join(names, ", "));
  }
  if (!target.compared)
    return out + "  what changes of its objects can't be told: the installed release isn't at hand\n";
  return out + (target.changes.empty() ? "  no object changes\n" : AsLines(target.changes));
}

// The spec that a target is to have; nothing where it has that.
SpecChange ChangeOf(const UpgradeRollout& rollout, const UpgradeTarget& target) {
  SpecChange change;
  if (!api::SameVersion(target.object.declared, target.to.ToString())) change.version = target.to.ToString();
  if (target.names_secret) change.secret = SecretOf(target.object.provider).name;
  change.allow_downgrade = rollout.allow_downgrade;
  if (rollout.rollback && (!change.version.empty() || change.allow_downgrade)) {
    // A leave of an earlier run that was broken off is still there, and this one takes it away.
    auto former = RollbackNoteOf(target.object.provider);
    change.begin_rollback = RollbackNote{target.to.ToString(), change.allow_downgrade || (former && former->leave)};
  }
  return change;
}

// Carries out one rollout. Thread-compatible.
class Run {
 public:
  Run(const Context& ctx, ManagementCluster& cluster, const UpgradeRollout& rollout, const RolloutWait& wait,
      Notes& notes)
      : ctx_(ctx), cluster_(cluster), rollout_(rollout), wait_(wait), notes_(notes) {}

  Status All() {
    for (const UpgradeTarget& target : rollout_.targets) {
      TRY(PutVariables(ctx_, cluster_.client(), target));
      TRY(PutRelease(ctx_, cluster_.client(), target));
    }
    for (const ProviderObject& one : rollout_.fleet) TRY(Write(one));
    TRY(AwaitUpgrades(ctx_, cluster_.client(), awaited_, UpgradeStage::kInstalled, wait_.timeout, notes_));
    TRY(EndPause());
    TRY(EndRollback());
    if (!wait_.ready) return Ok();
    return AwaitUpgrades(ctx_, cluster_.client(), awaited_, UpgradeStage::kReady, wait_.timeout, notes_);
  }

  bool wrote() const { return wrote_; }
  bool paused() const { return paused_; }

 private:
  Status Write(const ProviderObject& seen) {
    const UpgradeTarget* target = TargetOf(rollout_, seen.provider.id);
    const ProviderObject& object = target == nullptr ? seen : target->object;
    const api::Provider& provider = object.provider;
    SpecChange change = target == nullptr ? SpecChange{} : ChangeOf(rollout_, *target);
    change.pause = rollout_.pause && IsInstalled(provider) && !provider.spec.paused;
    paused_ = paused_ || change.pause || IsPausedByUs(provider);
    std::int64_t generation = provider.generation;
    // Where nothing is written, what the status says is the answer; but not to a run that was broken off just now.
    const bool answers = PatchOf(change).empty() && !RollbackNoteOf(provider);
    if (!PatchOf(change).empty()) {
      generation = TRY(ChangeSpec(ctx_, cluster_.client(), object, change)).provider.generation;
      wrote_ = true;
      Say(object, target, change);
    }
    // An earlier run that was broken off may have left others on their way.
    std::string version = target != nullptr ? target->to.ToString() : object.wanted;
    bool left = target == nullptr && IsPausedByUs(provider) && !version.empty();
    if (target != nullptr || left)
      awaited_.push_back({provider.id, version, generation, answers ? std::nullopt : std::optional(provider.status)});
    return Ok();
  }

  void Say(const ProviderObject& object, const UpgradeTarget* target, const SpecChange& change) {
    std::string label = api::ManifestLabel(object.provider.id.type, object.provider.id.name);
    if (change.pause) notes_.Say(0, "Pausing", {{"provider", label}, {"namespace", object.provider.id.ns}});
    if (!change.version.empty()) {
      auto from = api::Version::Parse(target->leaves);
      bool back = from.ok() && target->to < *from;
      notes_.Say(0, back ? "Rolling back" : "Upgrading",
                 {{"provider", label},
                  {"namespace", object.provider.id.ns},
                  {"from", target->leaves},
                  {"to", change.version}});
    }
  }

  // All have a contract that the core accepts: what was paused for that comes back, as it is now.
  Status EndPause() {
    if (!paused_) return Ok();
    for (const ProviderObject& one : TRY(AllProviders(ctx_, cluster_, ""))) {
      if (!IsPausedByUs(one.provider)) continue;
      SpecChange change;
      change.unpause = true;
      std::int64_t generation = TRY(ChangeSpec(ctx_, cluster_.client(), one, change)).provider.generation;
      notes_.Say(0, "Unpausing",
                 {{"provider", api::ManifestLabel(one.provider.id.type, one.provider.id.name)},
                  {"namespace", one.provider.id.ns}});
      SetGeneration(one, generation);
    }
    paused_ = false;
    return Ok();
  }

  void SetGeneration(const ProviderObject& object, std::int64_t generation) {
    for (AwaitedUpgrade& one : awaited_) {
      if (one.id == object.provider.id) {
        one.generation = generation;
        return;
      }
    }
    awaited_.push_back({object.provider.id, object.wanted, generation});
  }

  // Also of a run before this one that was broken off.
  Status EndRollback() {
    for (const UpgradeTarget& target : rollout_.targets) {
      if (!rollout_.rollback && !RollbackNoteOf(target.object.provider)) continue;
      const api::ProviderId& id = target.object.provider.id;
      auto now = cluster_.client().Get(ctx_, api::ResourceOf(id.type), id.ns, id.name);
      if (!now.ok()) return now.error().With(Describe(id));
      ProviderObject object = ReadProviderObject(*now);
      auto note = RollbackNoteOf(object.provider);
      if (!note) continue;
      SpecChange change;
      change.end_rollback = true;
      change.forbid_downgrade = note->leave;
      TRY(ChangeSpec(ctx_, cluster_.client(), object, change));
    }
    return Ok();
  }

  const Context& ctx_;
  ManagementCluster& cluster_;
  const UpgradeRollout& rollout_;
  const RolloutWait& wait_;
  Notes& notes_;
  std::vector<AwaitedUpgrade> awaited_;
  bool wrote_ = false, paused_ = false;
};

// What is true of the cluster after a run that was broken off.
std::string WhatGoesOn(const UpgradeRollout& rollout, bool wrote, bool paused) {
  if (!wrote && !paused && rollout.targets.empty()) return "";
  std::string out = wrote ? "; the operator goes on with what was written" : "";
  if (paused) {
    out += fmt::format("; providers with annotation {} stay paused until this command is run again",
                       kAnnotationPausedForUpgrade);
  }
  if (rollout.allow_downgrade && wrote)
    out += fmt::format("; annotation {} stays on it until then", api::kAnnotationAllowDowngrade);
  out += "; to go on, " + rollout.again;
  if (!rollout.targets.empty()) {
    const api::ProviderId& id = rollout.targets.front().object.provider.id;
    out += fmt::format("; to look at it: clusterctl why {}", api::ManifestLabel(id.type, id.name));
  }
  return out;
}

}  // namespace

Result<bool> NeedsPause(const std::vector<ProviderObject>& fleet, const std::vector<UpgradeTarget>& targets) {
  using Kind = api::MoveVerdict::Kind;
  std::vector<api::FleetMember> members = MembersOf(fleet);
  for (api::FleetMember& member : members) {
    for (const UpgradeTarget& target : targets) {
      if (target.object.provider.id == member.id) member.desired = target.to_contract;
    }
  }
  bool pause = false;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].desired.empty() || members[i].desired == members[i].contract) continue;
    api::MoveVerdict verdict = api::JudgeMove(members, i);
    pause = pause || verdict.kind == Kind::kWaitForPause || verdict.kind == Kind::kChange;
    if (verdict.kind != Kind::kWaitForCore) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} with contract {} isn't accepted by the core provider: upgrade that too",
                             Describe(members[i].id), members[i].desired),
                 {}};
  }
  return pause;
}

Status CheckPausable(const std::vector<ProviderObject>& fleet) {
  std::vector<std::string> why;
  for (const ProviderObject& one : fleet) {
    const api::Provider& provider = one.provider;
    if (!IsInstalled(provider) || IsAtZero(provider)) continue;
    if (provider.deleting) why.push_back(fmt::format("{} is being deleted", Describe(provider.id)));
    if (!provider.deleting && provider.annotations.contains(std::string(api::kAnnotationPaused)))
      why.push_back(fmt::format("{} has annotation {}", Describe(provider.id), api::kAnnotationPaused));
  }
  if (why.empty()) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("the contract changes, for which all providers go to zero replicas, and the operator leaves "
                           "these as they are: {}. Take the annotation away, or wait until they are gone, then run "
                           "this again",
                           JoinNames(why, 10)),
               {}};
}

bool IsUnfinished(const std::vector<ProviderObject>& fleet) {
  return std::any_of(fleet.begin(), fleet.end(), [](const auto& one) { return IsPausedByUs(one.provider); });
}

bool IsAllWritten(const std::vector<ProviderObject>& fleet) {
  bool waits = false, runs = false;
  for (const ProviderObject& one : fleet) {
    const api::Provider& provider = one.provider;
    bool is_there = one.wanted.empty() || api::SameVersion(provider.status.installed_version, one.wanted);
    waits = waits || (IsPausedByUs(provider) && !is_there);
    runs = runs || (IsInstalled(provider) && !provider.spec.paused);
  }
  return !waits || !runs;
}

std::string AsText(const UpgradeRollout& rollout) {
  std::string out;
  if (rollout.pause) out += "The contract changes: all providers are at zero replicas until that is done.\n";
  for (const UpgradeTarget& target : rollout.targets) out += AsText(target);
  return out;
}

Status CarryOut(const Context& ctx, ManagementCluster& cluster, const UpgradeRollout& rollout, const RolloutWait& wait,
                Notes& notes) {
  Run run(ctx, cluster, rollout, wait, notes);
  auto done = run.All();
  if (done.ok()) return done;
  Error error = done.error();
  if (error.code == Code::kCancelled) error.message = "interrupted";
  error.message += WhatGoesOn(rollout, run.wrote(), run.paused());
  return error;
}

}  // namespace capi::cli
