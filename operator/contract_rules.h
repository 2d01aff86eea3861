// The contract rules of one provider in words: what holds it back and what to do about it (behaviour.md II). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/release.h"
#include "operator/contract_plan.h"
#include "operator/hold.h"
#include "operator/observation.h"

namespace capi::ops {

// This provider, then the others, as the golden rule sees them.
std::vector<Member> FleetOf(const Observation& o);

// spec.version asks for another version than the installed one.
bool VersionPending(const api::Provider& provider);
// Contract of that version as far as the provider's status knows it; "" where it isn't known or nothing is pending.
std::string DesiredContract(const api::Provider& provider);

// C1 to C4: this provider moves to `version`, whose contract is known.
std::optional<Hold> CheckContract(const Observation& o, const api::Version& version, const std::string& contract);

// C5: why a provider at zero replicas stays there, though it isn't declared paused.
std::optional<Hold> StaysAtZero(const Observation& o);

// C1 as a fact: whether the core accepts what is installed; nullopt where nothing can be said.
std::optional<Hold> ContractMismatch(const Observation& o, const std::string& contract);

}  // namespace capi::ops
