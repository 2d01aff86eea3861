#include "operator/decide/contract_plan.h"

#include <algorithm>
#include <optional>

#include "api/release.h"

namespace capi::ops {
namespace {

using Fleet = std::span<const Member>;

std::optional<size_t> CoreOf(Fleet fleet) {
  for (size_t i = 0; i < fleet.size(); ++i) {
    if (fleet[i].core()) return i;
  }
  return std::nullopt;
}

bool Pending(const Member& member) { return !member.desired.empty() && member.desired != member.contract; }

// What isn't installed keeps every rule.
bool Fits(const std::string& core, const std::string& contract) {
  return core.empty() || contract.empty() || api::Accepts(core, contract);
}

// A move of a member that isn't the core: it ends where the rule holds, or the rule was broken before it.
bool Keeps(const std::string& core, const Member& member) {
  if (Fits(core, member.desired)) return true;
  return !member.contract.empty() && !Fits(core, member.contract);
}

// A move of the core from one contract to another. `first` get those whose own move, before it, keeps the rule;
// `blocked` those that it would break whatever order is taken.
void JudgeCore(Fleet fleet, const Member& core, std::vector<size_t>& first, std::vector<size_t>& blocked) {
  for (size_t i = 0; i < fleet.size(); ++i) {
    const Member& other = fleet[i];
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

Verdict JudgeCoreMove(Fleet fleet, const Member& core) {
  std::vector<size_t> first, blocked;
  JudgeCore(fleet, core, first, blocked);
  if (!blocked.empty()) {
    auto running = NotAtZero(fleet);
    if (running.empty()) return {Verdict::Kind::kChange, {}};
    return {Verdict::Kind::kWaitForPause, running};
  }
  if (!first.empty()) return {Verdict::Kind::kWaitForOrder, first};
  return {};
}

// There is a contract to which the core could move without a pause, and which accepts `wanted`.
bool SomeCoreHelps(Fleet fleet, Member core, const std::string& wanted) {
  for (const std::string& contract : api::KnownContracts()) {
    core.desired = contract;
    std::vector<size_t> first, blocked;
    JudgeCore(fleet, core, first, blocked);
    if (blocked.empty() && api::Accepts(contract, wanted)) return true;
  }
  return false;
}

}  // namespace

std::vector<size_t> Broken(Fleet fleet) {
  std::vector<size_t> broken;
  auto core = CoreOf(fleet);
  for (size_t i = 0; core && i < fleet.size(); ++i) {
    if (!fleet[i].core() && !Fits(fleet[*core].contract, fleet[i].contract)) broken.push_back(i);
  }
  return broken;
}

Verdict Judge(Fleet fleet, size_t who) {
  const Member& me = fleet[who];
  if (me.core()) return JudgeCoreMove(fleet, me);
  auto at = CoreOf(fleet);
  if (!at) return {};
  const Member& core = fleet[*at];
  if (Keeps(core.contract, me)) return {};
  if (Pending(core) && Fits(core.desired, me.desired)) {
    // The core's own way may need others first, and them alone it waits for: whoever waits for the core waits for all.
    Verdict its = JudgeCoreMove(fleet, core);
    if (its.kind == Verdict::Kind::kWaitForPause && !me.contract.empty()) return its;
    return {Verdict::Kind::kWaitForOrder, {*at}};
  }
  auto running = NotAtZero(fleet);
  bool change = !me.contract.empty() && !running.empty() && !SomeCoreHelps(fleet, core, me.desired);
  return change ? Verdict{Verdict::Kind::kWaitForPause, running} : Verdict{Verdict::Kind::kWaitForCore, {*at}};
}

std::vector<size_t> Unfinished(Fleet fleet) {
  std::vector<size_t> unfinished;
  for (size_t i : Broken(fleet)) {
    if (fleet[i].at_zero) unfinished.push_back(i);
  }
  auto core = CoreOf(fleet);
  if (core && JudgeCoreMove(fleet, fleet[*core]).kind == Verdict::Kind::kChange) {
    unfinished.push_back(*core);
  }
  return unfinished;
}

}  // namespace capi::ops
