#include "cli/airgap/preload.h"

#include <fmt/format.h>

#include <optional>

#include "api/text.h"
#include "base/yaml/yaml.h"
#include "cli/airgap/put.h"
#include "cli/frame/output.h"
#include "cli/frame/structured.h"

namespace capi::cli {
namespace {

Status CheckOutput(const PreloadOptions& options) {
  if (options.output.empty() || options.output == "yaml" || options.output == "json") return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("invalid output format {}, valid values: [json yaml]", api::GoQuote(options.output)),
               {}};
}

Status CheckVersions(const std::vector<CollectedRelease>& releases) {
  for (const CollectedRelease& one : releases) {
    if (!AsksItsSource(one)) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: spec.version: without it the operator asks the source, and doesn't look at a release "
                             "that is there: write {}",
                             one.Name(), one.candidate.found.release.version.ToString()),
                 {}};
  }
  return Ok();
}

// As kubectl applies them, the further parts of a release first.
std::string TextOf(const std::vector<CollectedRelease>& releases, bool as_json) {
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}};
  std::string yaml;
  for (const CollectedRelease& one : releases) {
    for (const kube::Object& map : MapsOf(one)) {
      if (as_json)
        list["items"].push_back(map.json());
      else
        yaml += "---\n" + ToYaml(map.json());
    }
  }
  return as_json ? ToPrettyJson(list) : yaml;
}

}  // namespace

Status Preload(const Context& ctx, const GlobalOptions& global, const PreloadOptions& options, World& world) {
  TRY(CheckOptions(options.collect));
  TRY(CheckOutput(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  const bool prints = !options.output.empty() || !options.to_file.empty();
  std::optional<ManagementCluster> cluster;
  if (!prints || options.collect.existing) cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  auto releases =
      TRY(Collect(ctx, config, options.collect, Clusters::kOne, cluster ? &*cluster : nullptr, world.in, notes));
  TRY(CheckVersions(releases));
  if (!prints) return PutIntoCluster(ctx, *cluster, releases, world);
  const std::string text = TextOf(releases, options.output == "json");
  if (!options.to_file.empty()) return WriteOutputFile(options.to_file, text);
  world.out << text;
  return Ok();
}

}  // namespace capi::cli
