#include "operator/decide/contract_rules.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/moves/contract_plan.h"
#include "api/moves/version_moves.h"
#include "api/reasons.h"
#include "base/strings.h"
#include "operator/decide/pause.h"
#include "operator/decide/rules.h"

namespace capi::ops {
namespace {

using api::FleetMember;

namespace condition = api::condition;
namespace reason = api::reason;

constexpr size_t kInFull = 20;  // providers that a message names

Hold Waits(std::string_view type, std::string_view why, std::string message) {
  return Hold{std::string(type), std::string(why), std::move(message), Retry::kWaiting};
}

FleetMember ToMember(const api::Provider& provider) {
  return {provider.id, provider.status.contract, DesiredContract(provider), SaysPaused(provider.status)};
}

// What runs was accepted by the core once, at a contract that nobody knows now (C6).
FleetMember WithContract(FleetMember member, const Observation& o) {
  if (!o.unjudged.contains(member.id) || !o.core) return member;
  member.contract = o.core->status.contract;
  member.assumed = true;
  return member;
}

// "CoreProvider capi-system/cluster-api (v1alpha4)"
std::string Name(const FleetMember& member) {
  std::string contract = member.contract.empty() ? "not installed" : member.contract;
  if (member.assumed) contract = "it runs, but its status names no contract: see its conditions";
  return fmt::format("{} {}/{} ({})", api::KindOf(member.id.type).kind, member.id.ns, member.id.name, contract);
}

std::string Names(const std::vector<FleetMember>& fleet, const std::vector<size_t>& which) {
  std::vector<std::string> names;
  for (size_t i : which) names.push_back(Name(fleet[i]));
  return JoinNames(names, kInFull);
}

const FleetMember* CoreOf(const std::vector<FleetMember>& fleet) {
  for (const FleetMember& member : fleet) {
    if (member.core()) return &member;
  }
  return nullptr;
}

Hold Incompatible(const Observation& o, const std::string& version, const std::string& contract) {
  const std::string& core = o.core->status.contract;
  return Waits(condition::kProviderInstalled, reason::kCAPIVersionIncompatibility,
               fmt::format("{} {} has contract {}, but the core provider (contract {}) accepts only {}: choose a "
                           "version with one of these, or upgrade the core provider",
                           o.provider.id.ToString(), version, contract, core, JoinNames(api::AcceptedBy(core), 9)));
}

// What the core would have to do, for a provider that can't move before it.
std::string CoreMustMove(const std::vector<FleetMember>& fleet) {
  const FleetMember* core = CoreOf(fleet);
  if (core == nullptr || !core->desired.empty()) return "";
  return fmt::format("; and set spec.version of {} to one whose contract accepts {}", Name(*core),
                     fleet.front().desired);
}

std::string NameOf(const Observation& o, const Candidate& to) {
  return fmt::format("{} {} (contract {})", o.provider.id.ToString(), to.version.ToString(), to.contract);
}

// This provider, then the others, as the golden rule sees them.
std::vector<FleetMember> FleetOf(const Observation& o) {
  std::vector<FleetMember> fleet = {ToMember(o.provider)};
  for (const ProviderPtr& sibling : o.siblings) {
    // A second core object is refused (I5), and has no say.
    bool other_core = sibling->id.type == api::ProviderType::kCore && sibling != o.core;
    if (!other_core) fleet.push_back(WithContract(ToMember(*sibling), o));
  }
  return fleet;
}

// The fleet, with this provider on its way to the candidate's contract, and what the golden rule says of that.
struct Move {
  std::vector<FleetMember> fleet;
  api::MoveVerdict verdict;
  std::string Others() const { return Names(fleet, verdict.others); }
};

Move MoveOf(const Observation& o, const Candidate& to) {
  Move move{FleetOf(o), {}};
  move.fleet.front().desired = to.contract;
  move.verdict = api::JudgeMove(move.fleet, 0);
  return move;
}

std::optional<Hold> WaitsForOthers(const Observation& o, const Candidate& to, const Move& move) {
  if (move.verdict.kind != api::MoveVerdict::Kind::kWaitForOrder) return std::nullopt;
  return Waits(condition::kPreflightCheckPassed, reason::kWaitingForOrder,
               fmt::format("{} comes after {}; this provider then goes on", NameOf(o, to), move.Others()));
}

std::optional<Hold> WaitsForPause(const Observation& o, const Candidate& to, const Move& move) {
  if (move.verdict.kind != api::MoveVerdict::Kind::kWaitForPause) return std::nullopt;
  return Waits(condition::kPreflightCheckPassed, reason::kWaitingForPause,
               fmt::format("{} changes the contract: not before every provider is paused. Set spec.paused: true on "
                           "those that aren't (or whose pods are still going): {}{}; nothing is changed until then",
                           NameOf(o, to), move.Others(), CoreMustMove(move.fleet)));
}

}  // namespace

bool VersionPending(const api::Provider& provider) {
  const std::string& installed = provider.status.installed_version;
  return !installed.empty() && !provider.spec.version.empty() && !api::SameVersion(provider.spec.version, installed);
}

std::string DesiredContract(const api::Provider& provider) {
  const api::ProviderStatus& status = provider.status;
  if (!VersionPending(provider) || !api::SameVersion(provider.spec.version, status.desired_version)) return "";
  return status.desired_contract;
}

std::optional<Hold> CoreAccepts(const Observation& o, const Candidate& to) {
  const Move move = MoveOf(o, to);
  if (move.verdict.kind != api::MoveVerdict::Kind::kWaitForCore) return std::nullopt;
  if (move.fleet.front().contract.empty()) return Incompatible(o, to.version.ToString(), to.contract);
  return Waits(condition::kPreflightCheckPassed, reason::kWaitingForOrder,
               fmt::format("{} comes after the core provider: set spec.version of {} to one whose contract accepts {}; "
                           "this provider then goes on",
                           NameOf(o, to), Name(*CoreOf(move.fleet)), to.contract));
}

std::optional<Hold> CoreComesFirst(const Observation& o, const Candidate& to) {
  const Move move = MoveOf(o, to);
  const bool changing = std::all_of(move.fleet.begin(), move.fleet.end(), [](const FleetMember& member) {
    return member.at_zero || member.contract.empty();
  });
  if (!changing || move.fleet.front().core()) return std::nullopt;
  return WaitsForOthers(o, to, move);
}

std::optional<Hold> ComesInOrder(const Observation& o, const Candidate& to) {
  return WaitsForOthers(o, to, MoveOf(o, to));
}

std::optional<Hold> AllSayTheirContract(const Observation& o, const Candidate& to) {
  const Move move = MoveOf(o, to);
  const bool unsaid = std::any_of(move.verdict.others.begin(), move.verdict.others.end(),
                                  [&](size_t i) { return move.fleet[i].assumed; });
  return unsaid ? WaitsForPause(o, to, move) : std::nullopt;
}

std::optional<Hold> AllArePaused(const Observation& o, const Candidate& to) {
  return WaitsForPause(o, to, MoveOf(o, to));
}

std::optional<Hold> AllCanBeSeen(const Observation& o, const Candidate& to) {
  if (o.provider.id.type != api::ProviderType::kCore || o.unlisted.empty()) return std::nullopt;
  std::vector<std::string> accepted = api::AcceptedBy(o.provider.status.contract);
  bool drops = std::any_of(accepted.begin(), accepted.end(),
                           [&](const std::string& former) { return !api::Accepts(to.contract, former); });
  if (!drops) return std::nullopt;
  return Hold{std::string(condition::kPreflightCheckPassed), std::string(reason::kWaitingForPause),
              fmt::format("{} changes the contract: not before every provider is paused, and whether there are any of "
                          "these kinds can't be told: {}; let the operator list them",
                          NameOf(o, to), JoinNames(o.unlisted, kInFull)),
              Retry::kBackoff};
}

std::optional<Hold> StaysAtZero(const Observation& o) {
  std::vector<FleetMember> fleet = FleetOf(o);
  // Whether its status has caught up or not: it isn't to come back.
  fleet.front().at_zero = true;
  std::vector<size_t> unfinished = api::UnfinishedMembers(fleet);
  const api::Provider& me = o.provider;
  auto stays = [](std::string message) {
    return Waits(condition::kReady, reason::kWaitingForContracts, std::move(message));
  };
  if (!unfinished.empty()) {
    const FleetMember& core = *CoreOf(fleet);  // without one no contract is unfinished
    return stays(
        fmt::format("spec.paused is false, but the contract is being changed: all workloads stay at zero "
                    "replicas until every provider has a contract that the core provider ({}) accepts. Not "
                    "there yet: {}",
                    core.desired.empty() ? core.contract : core.desired, Names(fleet, unfinished)));
  }
  std::string desired = DesiredContract(me);
  if (!desired.empty() && desired != me.status.contract) {
    return stays(
        fmt::format("spec.paused is false, but {} with contract {} is still to be installed: all workloads "
                    "stay at zero replicas until then; set spec.version back to {} to unpause before",
                    me.spec.version, desired, me.status.installed_version));
  }
  if (VersionPending(me) && !api::SameVersion(me.spec.version, me.status.desired_version)) {
    return stays(fmt::format("spec.paused is false; the contract of {} is looked at first", me.spec.version));
  }
  return std::nullopt;
}

std::string UpgradeNeeds(const Observation& o, const std::string& from, const std::string& to) {
  std::vector<FleetMember> fleet = FleetOf(o);
  for (FleetMember& member : fleet) {
    member.desired.clear();
    member.at_zero = false;
  }
  fleet.front().contract = from;
  fleet.front().desired = to;
  switch (api::JudgeMove(fleet, 0).kind) {
    case api::MoveVerdict::Kind::kWaitForPause: return std::string(api::need::kPause);
    case api::MoveVerdict::Kind::kWaitForCore: return std::string(api::need::kCoreUpgrade);
    default: return "";
  }
}

std::optional<Hold> ContractMismatch(const Observation& o, const std::string& contract) {
  if (contract.empty() || !o.core || o.core->status.contract.empty()) return std::nullopt;
  if (o.provider.id.type == api::ProviderType::kCore || api::Accepts(o.core->status.contract, contract)) {
    return std::nullopt;
  }
  return Waits(condition::kContractCompatible, reason::kCAPIVersionIncompatibility,
               fmt::format("contract {} is not one that the core provider (contract {}) accepts: upgrade to a version "
                           "with one of {}",
                           contract, o.core->status.contract, JoinNames(api::AcceptedBy(o.core->status.contract), 9)));
}

// C7: what Cluster API itself supports.
std::optional<Hold> SkipsMinorVersions(const Observation& o) {
  if (!VersionPending(o.provider)) return std::nullopt;
  auto wanted = api::Version::Parse(o.provider.spec.version);
  auto installed = api::Version::Parse(o.provider.status.installed_version);
  if (!wanted.ok() || !installed.ok()) return std::nullopt;
  auto furthest = api::TooFar(o.provider.id, *installed, *wanted);
  if (!furthest) return std::nullopt;
  return Hold{std::string(condition::kPreflightCheckPassed), std::string(reason::kUnsupportedVersionSkip),
              fmt::format("{} {} to {} is too far: from v1.{} on, a provider of Cluster API moves at most {} minor "
                          "versions at a time. Set spec.version to a v1.{} release first",
                          o.provider.id.ToString(), installed->ToString(), wanted->ToString(), api::kFirstCountedMinor,
                          api::kMostMinorsAtOnce, *furthest)};
}

}  // namespace capi::ops
