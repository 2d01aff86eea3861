#include "cli/local_clusters/stages.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "api/types.h"
#include "base/strings.h"
#include "cli/local/durations.h"

namespace capi::cli::local_clusters {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// "STAGE=VALUE" of a flag.
Result<std::pair<Stage, std::string>> SplitFlag(std::string_view flag, const std::string& text, bool hooks) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (name.empty() || value.empty()) return Invalid(fmt::format("{} {}: write STAGE=VALUE", flag, text));
  auto stage = StageByName(name);
  if (!stage || (hooks && !InfoOf(*stage).hook))
    return Invalid(
        fmt::format("{} {}: no such {}; there are {}", flag, text, hooks ? "hook" : "stage", StageNames(hooks)));
  return std::pair(*stage, std::move(value));
}

}  // namespace

const StageInfo& InfoOf(Stage stage) {
  static constexpr std::array<StageInfo, 6> kInfos = {{{"pre-provision", true, Seconds(600)},
                                                       {"infrastructure", false, Seconds(1800)},
                                                       {"infra-ready", true, Seconds(600)},
                                                       {"ignition", true, Seconds(600)},
                                                       {"machines", false, Seconds(1800)},
                                                       {"post-provision", true, Seconds(600)}}};
  return kInfos[static_cast<size_t>(stage)];
}

std::optional<Stage> StageByName(std::string_view name) {
  for (Stage stage : kStages) {
    if (InfoOf(stage).name == name) return stage;
  }
  return std::nullopt;
}

std::string StageNames(bool hooks) {
  std::vector<std::string> names;
  for (Stage stage : kStages) {
    if (!hooks || InfoOf(stage).hook) names.emplace_back(InfoOf(stage).name);
  }
  return Join(names, ", ");
}

Result<Timeouts> ParseTimeouts(const std::vector<std::string>& flags) {
  Timeouts out;
  for (Stage stage : kStages) out[stage] = InfoOf(stage).timeout;
  std::set<Stage> named;
  for (const std::string& flag : flags) {
    auto split = TRY(SplitFlag("--timeout", flag, false));
    if (!named.insert(split.first).second)
      return Invalid(fmt::format("--timeout {}: {} has two timeouts", flag, InfoOf(split.first).name));
    out[split.first] = TRY(PositiveDuration("--timeout " + flag, split.second));
  }
  return out;
}

Result<Hooks> ParseHooks(const std::vector<std::string>& flags) {
  Hooks out;
  for (const std::string& flag : flags) {
    auto split = TRY(SplitFlag("--hook", flag, true));
    if (!out.emplace(split.first, split.second).second)
      return Invalid(fmt::format("--hook {}: {} has two programs", flag, InfoOf(split.first).name));
  }
  return out;
}

}  // namespace capi::cli::local_clusters
