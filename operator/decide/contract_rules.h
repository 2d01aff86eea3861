// The contract rules of one provider in words: what holds it back and what to do about it (behaviour.md II). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/decide/hold.h"
#include "operator/decide/install_rules.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// spec.version asks for another version than the installed one.
bool VersionPending(const api::Provider& provider);
// Contract of that version as far as the provider's status knows it; "" where it isn't known or nothing is pending.
std::string DesiredContract(const api::Provider& provider);

// Whether this provider may move to a version whose contract is known: rows of the table in install_rules.cc, of which
// the first that holds it back counts. C1: only another version of the core would help.
std::optional<Hold> CoreAccepts(const Observation& o, const Candidate& to);
// C4: everything is at zero for the change of contract, in which the core goes first.
std::optional<Hold> CoreComesFirst(const Observation& o, const Candidate& to);
// C2: others move first; no pause is needed.
std::optional<Hold> ComesInOrder(const Observation& o, const Candidate& to);
// C6: what runs and says no contract counts as if it had the core's, which this would change.
std::optional<Hold> AllSayTheirContract(const Observation& o, const Candidate& to);
// C3: it changes the contract, so that every provider has to be at zero.
std::optional<Hold> AllArePaused(const Observation& o, const Candidate& to);
// C3: a core gives up a contract, while there may be providers that nobody can see.
std::optional<Hold> AllCanBeSeen(const Observation& o, const Candidate& to);

// C5: why a provider at zero replicas stays there, though it isn't declared paused.
std::optional<Hold> StaysAtZero(const Observation& o);

// U12: what has to come before this provider, with contract `from`, goes to a version with contract `to`, by what is
// installed of the others; one of api::need, "" for nothing.
std::string UpgradeNeeds(const Observation& o, const std::string& from, const std::string& to);

// C1 as a fact: whether the core accepts what is installed; nullopt where nothing can be said.
std::optional<Hold> ContractMismatch(const Observation& o, const std::string& contract);

}  // namespace capi::ops
