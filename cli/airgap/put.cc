#include "cli/airgap/put.h"

#include <fmt/format.h>

#include "cli/frame/provider_objects.h"
#include "cli/install/carry.h"

namespace capi::cli {
namespace {

// Not that of `init` (cli/install/carry.h): what was put there by hand doesn't go with a provider.
constexpr std::string_view kFieldManager = "clusterctl-preload";

}  // namespace

Status PutIntoCluster(const Context& ctx, ManagementCluster& cluster, const std::vector<CollectedRelease>& releases,
                      World& world) {
  std::vector<bool> lacks;
  for (const CollectedRelease& one : releases) {
    auto lacking = TRY_WITH(LackingMaps(ctx, cluster.client(), MapsOf(one)), Describe(one.candidate.id));
    lacks.push_back(!lacking.empty());
  }
  const kube::WriteOptions write{.field_manager = std::string(kFieldManager)};
  for (size_t i = 0; i < releases.size(); ++i) {
    const Candidate& candidate = releases[i].candidate;
    const auto maps = MapsOf(releases[i]);
    if (lacks[i]) {
      TRY(EnsureNamespace(ctx, cluster.client(), candidate.id.ns, candidate.namespace_labels));
      TRY_WITH(MakeMaps(ctx, cluster.client(), maps, write), Describe(candidate.id));
    }
    world.out << fmt::format("configmap/{} in namespace {} {}\n", maps.back().name(), candidate.id.ns,
                             lacks[i] ? "created" : "unchanged");
  }
  return Ok();
}

}  // namespace capi::cli
