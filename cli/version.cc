#include "cli/version.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"

namespace capi::cli {
namespace {

std::string Number(const std::vector<std::string>& parts, size_t i) { return i < parts.size() ? parts[i] : ""; }

// Keys are those of clusterctl, which scripts read; there is no Go here, so goVersion is empty.
Json ToJson(const BuildInfo& build) {
  std::string version = build.version.starts_with('v') ? build.version.substr(1) : build.version;
  std::vector<std::string> parts = Split(version, '.');
  return {{"major", Number(parts, 0)}, {"minor", Number(parts, 1)},        {"gitVersion", build.version},
          {"gitCommit", build.commit}, {"gitTreeState", build.tree_state}, {"buildDate", build.date},
          {"goVersion", ""},           {"compiler", build.compiler},       {"platform", build.platform}};
}

}  // namespace

Result<std::string> FormatVersion(const BuildInfo& build, std::string_view output) {
  Json info = ToJson(build);
  if (output == "short") return build.version + "\n";
  if (output == "yaml") return ToYaml(Json{{"clusterctl", info}});
  if (output == "json") return Json{{"clusterctl", info}}.dump(2) + "\n";
  if (!output.empty()) return Error{Code::kInvalidArgument, fmt::format("invalid output format: {}", output), {}};
  return fmt::format(
      "clusterctl version: &version.Info{{Major:\"{}\", Minor:\"{}\", GitVersion:\"{}\", GitCommit:\"{}\", "
      "GitTreeState:\"{}\", "
      "BuildDate:\"{}\", GoVersion:\"\", Compiler:\"{}\", Platform:\"{}\"}}\n",
      GetString(info, {"major"}), GetString(info, {"minor"}), build.version, build.commit, build.tree_state, build.date,
      build.compiler, build.platform);
}

}  // namespace capi::cli
