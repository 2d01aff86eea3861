// Which providers `clusterctl adopt` takes over, and which it can't. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/declare/fleet.h"
#include "cli/declare/recovery.h"

namespace capi::cli {

// A value.
struct AdoptStep {
  InventoryEntry entry;
  bool there = false;  // it has its Provider object already
};

// Those that `names` mean (as IsMeant says), or all that have no object yet; the core first. The error names every
// provider that can't be adopted, with the reason and what to do, or every name that means none.
Result<std::vector<AdoptStep>> PlanAdoption(const Fleet& fleet, const std::vector<std::string>& names, bool all);

// What keeps a Secret that is there from being the one that is needed: names of keys, never values. "" for nothing. A
// variable that is set to nothing needn't be there; where its default is something else, the take-over says so (A2).
// `given`: what needn't be there, but has to be this where it is.
std::string MismatchOf(const SecretValuesByKey& there, const SecretValuesByKey& needed,
                       const SecretValuesByKey& given = {});

}  // namespace capi::cli
