// The golden rule over a whole fleet: may this provider move to its new contract now, and if not, what has to come
// first (behaviour.md C1 to C6). Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/kinds.h"

namespace capi::api {

// One provider as the rule sees it. A value.
struct FleetMember {
  ProviderId id;
  std::string contract;  // of what is installed; "" for nothing, which the rule doesn't touch
  std::string desired;   // that it is to move to; "" for none, or where that isn't known
  bool at_zero = false;  // paused, and nothing of it runs
  bool assumed = false;  // it runs, but says no contract: `contract` is the core's, the one that a move breaks first
  bool core() const { return id.type == ProviderType::kCore; }
};

struct MoveVerdict {
  enum class Kind {
    kGo,            // the rule holds as before (C2)
    kChange,        // it breaks the rule, and may: every provider is at zero (C4)
    kWaitForOrder,  // no pause is needed: `others` move first
    kWaitForPause,  // `others` aren't at zero (C3)
    kWaitForCore,   // at zero or not: only another version of the core helps, and nobody has asked for one
  };
  Kind kind = Kind::kGo;
  std::vector<size_t> others;  // indices into the fleet
};

// At most one member is the core, and `who` has a desired contract. A fleet without a core has no rule.
MoveVerdict JudgeMove(std::span<const FleetMember> fleet, size_t who);

// Installed members whose contract the core doesn't accept.
std::vector<size_t> BrokenMembers(std::span<const FleetMember> fleet);

// C5: members that have to move before anybody at zero may come back: broken ones that are at zero themselves (a rule
// that was broken before the pause blocks nobody, C6), and the core while it changes its contract.
std::vector<size_t> UnfinishedMembers(std::span<const FleetMember> fleet);

}  // namespace capi::api
