// The stages in which `local apply` makes a cluster, and what flags say of them. Pure.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace capi::cli::local_clusters {

// In this order (behaviour.md G11).
enum class Stage { kPreProvision, kInfrastructure, kInfraReady, kIgnition, kMachines, kPostProvision };

inline constexpr std::array<Stage, 6> kStages = {Stage::kPreProvision, Stage::kInfrastructure, Stage::kInfraReady,
                                                 Stage::kIgnition,     Stage::kMachines,       Stage::kPostProvision};

// A value.
struct StageInfo {
  std::string_view name;  // as flags and files have it: "infra-ready"
  bool hook;              // whether a program of the user's runs in it
  Seconds timeout;        // where no flag says another
};
const StageInfo& InfoOf(Stage stage);

// nullopt for a word that names none.
std::optional<Stage> StageByName(std::string_view name);
// "pre-provision, infrastructure, ..."; with `hooks` those of hooks alone.
std::string StageNames(bool hooks);

// How long each stage may take. A value.
using Timeouts = std::map<Stage, Millis>;
// Of "STAGE=DURATION", each stage once. kInvalidArgument names the flag.
Result<Timeouts> ParseTimeouts(const std::vector<std::string>& flags);

// The program of each hook that there is. A value.
using Hooks = std::map<Stage, std::string>;
// Of "STAGE=PATH". kInvalidArgument names the flag; whether the file is there isn't looked at.
Result<Hooks> ParseHooks(const std::vector<std::string>& flags);

}  // namespace capi::cli::local_clusters
