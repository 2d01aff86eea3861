#include "api/moves/contract_plan.h"

#include <algorithm>
#include <optional>

#include "api/release.h"

namespace capi::api {
namespace {

using Fleet = std::span<const FleetMember>;

std::optional<size_t> CoreOf(Fleet fleet) {
  for (size_t i = 0; i < fleet.size(); ++i) {
    if (fleet[i].core()) return i;
  }
  return std::nullopt;
}

bool Pending(const FleetMember& member) { return !member.desired.empty() && member.desired != member.contract; }

// What isn't installed keeps every rule.
bool Fits(const std::string& core, const std::string& contract) {
  return core.empty() || contract.empty() || Accepts(core, contract);
}

// A move of a member that isn't the core: it ends where the rule holds, or the rule was broken before it.
bool Keeps(const std::string& core, const FleetMember& member) {
  if (Fits(core, member.desired)) return true;
  return !member.contract.empty() && !Fits(core, member.contract);
}

// A move of the core from one contract to another. `first` get those whose own move, before it, keeps the rule;
// `blocked` those that it would break whatever order is taken.
void JudgeCore(Fleet fleet, const FleetMember& core, std::vector<size_t>& first, std::vector<size_t>& blocked) {
  for (size_t i = 0; i < fleet.size(); ++i) {
    const FleetMember& other = fleet[i];
    if (other.core() || Fits(core.desired, other.contract) || !Fits(core.contract, other.contract)) continue;
    bool goes_first = Pending(other) && Fits(core.contract, other.desired) && Fits(core.desired, other.desired);
    (goes_first ? first : blocked).push_back(i);
  }
}

std::vector<size_t> NotAtZero(Fleet fleet) {
  std::vector<size_t> running;
  for (size_t i = 0; i < fleet.size(); ++i) {
    if (!fleet[i].contract.empty() && !fleet[i].at_zero) running.push_back(i);
  }
  return running;
}

MoveVerdict JudgeCoreMove(Fleet fleet, const FleetMember& core) {
  std::vector<size_t> first, blocked;
  JudgeCore(fleet, core, first, blocked);
  if (!blocked.empty()) {
    auto running = NotAtZero(fleet);
    if (running.empty()) return {MoveVerdict::Kind::kChange, {}};
    return {MoveVerdict::Kind::kWaitForPause, running};
  }
  if (!first.empty()) return {MoveVerdict::Kind::kWaitForOrder, first};
  return {};
}

// There is a contract to which the core could move without a pause, and which accepts `wanted`.
bool SomeCoreHelps(Fleet fleet, FleetMember core, const std::string& wanted) {
  for (const std::string& contract : KnownContracts()) {
    core.desired = contract;
    std::vector<size_t> first, blocked;
    JudgeCore(fleet, core, first, blocked);
    if (blocked.empty() && Accepts(contract, wanted)) return true;
  }
  return false;
}

}  // namespace

std::vector<size_t> BrokenMembers(Fleet fleet) {
  std::vector<size_t> broken;
  auto core = CoreOf(fleet);
  for (size_t i = 0; core && i < fleet.size(); ++i) {
    if (!fleet[i].core() && !Fits(fleet[*core].contract, fleet[i].contract)) broken.push_back(i);
  }
  return broken;
}

MoveVerdict JudgeMove(Fleet fleet, size_t who) {
  const FleetMember& me = fleet[who];
  if (me.core()) return JudgeCoreMove(fleet, me);
  auto at = CoreOf(fleet);
  if (!at) return {};
  const FleetMember& core = fleet[*at];
  if (Keeps(core.contract, me)) return {};
  if (Pending(core) && Fits(core.desired, me.desired)) {
    // The core's own way may need others first, and them alone it waits for: whoever waits for the core waits for all.
    MoveVerdict its = JudgeCoreMove(fleet, core);
    if (its.kind == MoveVerdict::Kind::kWaitForPause && !me.contract.empty()) return its;
    return {MoveVerdict::Kind::kWaitForOrder, {*at}};
  }
  auto running = NotAtZero(fleet);
  bool change = !me.contract.empty() && !running.empty() && !SomeCoreHelps(fleet, core, me.desired);
  return change ? MoveVerdict{MoveVerdict::Kind::kWaitForPause, running}
                : MoveVerdict{MoveVerdict::Kind::kWaitForCore, {*at}};
}

std::vector<size_t> UnfinishedMembers(Fleet fleet) {
  std::vector<size_t> unfinished;
  for (size_t i : BrokenMembers(fleet)) {
    if (fleet[i].at_zero) unfinished.push_back(i);
  }
  auto core = CoreOf(fleet);
  if (core && JudgeCoreMove(fleet, fleet[*core]).kind == MoveVerdict::Kind::kChange) {
    unfinished.push_back(*core);
  }
  return unfinished;
}

}  // namespace capi::api
