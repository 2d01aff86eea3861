#include "cli/install/upgrade_operator.h"

#include <fmt/format.h>

#include <chrono>

#include "base/version.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/management_cluster.h"
#include "cli/install/operator_step.h"
#include "cli/operator_manifests/manifests.h"

namespace capi::cli {
namespace {

std::string VersionOf(const InstalledOperator& there) {
  return there.version ? there.version->ToString() : fmt::format("an unknown version ({})", there.image);
}

Status Prune(const Context& ctx, kube::Client& client, const std::string& image, Notes& notes) {
  auto objects = TRY(OperatorObjects(image));
  auto left = TRY(OperatorLeftovers(ctx, client, objects));
  for (const kube::ObjectId& id : left)
    notes.Say(0, "Deleting what the new version doesn't have", {{"object", id.ToString()}});
  return RemoveObjects(ctx, client, left);
}

Status Run(const Context& ctx, const GlobalOptions& global, const UpgradeOperatorOptions& options, World& world) {
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  std::string image = TRY(ConfiguredOperatorImage(config, options.operator_image));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  kube::Client& client = cluster.client();
  auto there = TRY(FindOperator(ctx, client));
  if (!there) {
    return Error{Code::kFailedPrecondition, "there is no operator in the cluster: `clusterctl init` installs it", {}};
  }
  if (NamesRegistry(there->image) && !NamesRegistry(image)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the operator runs {}, and no registry is named for the image of {}: name it with "
                             "--operator-image or `images` in the configuration file",
                             there->image, kProjectVersion),
                 {}};
  }
  OperatorUpgrade upgrade = TRY(DecideUpgrade(*there, OwnVersion(), image));
  bool whole = upgrade == OperatorUpgrade::kNothing && !TRY(IsHalfInstalled(ctx, client, *there));
  auto objects = TRY(OperatorObjects(image));
  // An earlier run may have ended before the new one was up. What that one's pods need is pruned only once they are
  // gone.
  if (!whole) TRY(InstallOperator(ctx, client, image, notes));
  TRY(AwaitRollout(ctx, client, there->ns, !whole, notes));
  if (whole && TRY(OperatorLeftovers(ctx, client, objects)).empty()) {
    world.out << fmt::format("The operator is already up to date: {}\n", kProjectVersion);
    return Ok();
  }
  TRY(Prune(ctx, client, image, notes));
  world.out << fmt::format("The operator is upgraded: {} -> {} ({})\n", VersionOf(*there), kProjectVersion, image);
  return Ok();
}

}  // namespace

Status UpgradeOperator(const Context& parent, const GlobalOptions& global, const UpgradeOperatorOptions& options,
                       World& world) {
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  return OrInterrupted(ctx, Run(ctx, global, options, world));
}

}  // namespace capi::cli
