// The checks that Decide goes through, in order: each a pure function of one Observation, in groups of one file each.
// What Install judges later, of the release itself: install_rules.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/decide/hold.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// A named check; the first that holds ends the pass.
struct Rule {
  std::string_view name;  // "I5.unique": the rule of docs/behaviour.md
  std::optional<Hold> (*check)(const Observation&);
};

// Before the release is known (behaviour.md I2, I4, I5, U6, F2). preflight_rules.cc
std::span<const Rule> PreflightRules();

// What stands in the way of a deletion (behaviour.md X2, X3), and whether that matters (X4, X5). delete_rules.cc
std::span<const Rule> DeletionRules();
bool GuardsDeletion(const Observation& o);
// Its status says that something of it may be removed already: it is said before the first object goes.
bool RemovalBegan(const Observation& o);
// Objects that stay behind at versions which nobody converts any more could not even be deleted (X1, P3).
// Nothing while that is no question; else how bringing them to one version stands, which the removal waits for.
std::optional<Hold> MigrationHold(const Observation& o);

// What a deletion that has lost its inventory can't look for (U11). `unread` are kinds, each with why.
Hold UnreadHold(const Observation& o, const std::vector<std::string>& unread);

// An inventory that can't be read stops every write: it is never taken for an empty one.
std::optional<Hold> StatusIsReadable(const Observation& o);

// In whose name a provider is kept, before anything is done in that (T8): where the operator does nothing in its own it
// has to be named, and a ServiceAccount that is named has to be there.
std::optional<Hold> NamesServiceAccount(const Observation& o);
std::optional<Hold> ServiceAccountExists(const Observation& o);

// C7. contract_rules.cc
std::optional<Hold> SkipsMinorVersions(const Observation& o);

}  // namespace capi::ops
