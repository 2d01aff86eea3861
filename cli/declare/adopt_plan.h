// Which providers `clusterctl adopt` takes over, and which it can't. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/declare/fleet.h"

namespace capi::cli {

// A value.
struct AdoptStep {
  InventoryEntry entry;
  bool there = false;  // it has its Provider object already
};

// Those that `names` mean (as IsMeant says), or all that have no object yet; the core first. The error names every
// provider that can't be adopted, with the reason and what to do, or every name that means none.
Result<std::vector<AdoptStep>> PlanAdoption(const Fleet& fleet, const std::vector<std::string>& names, bool all);

}  // namespace capi::cli
