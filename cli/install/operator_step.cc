#include "cli/install/operator_step.h"

#include <fmt/format.h>

#include "api/schema/crds.h"
#include "base/version.h"
#include "cli/operator_manifests/manifests.h"
#include "kube/meta/health.h"

namespace capi::cli {
namespace {

constexpr std::string_view kImageKey = "capi-operator-image";
constexpr std::chrono::minutes kRolloutLimit{5};

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

// False also where nobody can tell.
bool IsAvailable(const Context& ctx, kube::Client& client, const std::string& ns) {
  auto live = client.Get(ctx, kube::Builtin("Deployment"), ns, std::string(kOperatorDeployment));
  return live.ok() && kube::HealthOf(*live).ok();
}

}  // namespace

Status CheckSameImage(const InstalledOperator& there, const std::string& flag) {
  if (flag.empty() || flag == there.image) return Ok();
  return Refused(
      fmt::format("the operator is there already, with the image {0}: `clusterctl upgrade operator "
                  "--operator-image {1}` changes it",
                  there.image, flag));
}

Status CheckSameVersion(const InstalledOperator& there, const api::Version& own) {
  if (!there.version || *there.version == own) return Ok();
  const std::string theirs = there.version->ToString();
  std::string mend = *there.version > own ? fmt::format("use a clusterctl of {}", theirs)
                                          : std::string("run `clusterctl upgrade operator` first");
  return Refused(fmt::format("the operator {} in namespace {} is installed in part, and this clusterctl is {}: {}",
                             theirs, there.ns, own.ToString(), mend));
}

Result<OperatorUpgrade> DecideUpgrade(const InstalledOperator& there, const api::Version& own,
                                      const std::string& image) {
  if (there.version == own && there.image == image) return OperatorUpgrade::kNothing;
  if (there.by_helm) {
    return Refused(
        fmt::format("Helm installed the operator in namespace {}: upgrade it with `helm upgrade` "
                    "(docs/install.md)",
                    there.ns));
  }
  if (there.ns != api::kOperatorNamespace) {
    return Refused(
        fmt::format("the operator is in namespace {}, and not in {}, where clusterctl installs it: upgrade it in "
                    "the way in which it was installed",
                    there.ns, api::kOperatorNamespace));
  }
  if (there.version && *there.version > own) {
    return Refused(fmt::format("the operator is {}, newer than this clusterctl ({}): use a clusterctl of v{}.{}",
                               there.version->ToString(), own.ToString(), there.version->major, there.version->minor));
  }
  return OperatorUpgrade::kApply;
}

Result<std::string> ConfiguredOperatorImage(const Config& config, const std::string& flag) {
  std::string given = flag.empty() ? TRY(config.Get(std::string(kImageKey))).value_or("") : flag;
  return OperatorImage(given, TRY(config.Images()));
}

Status InstallOperator(const Context& ctx, kube::Client& client, const std::string& image, Notes& notes) {
  auto objects = TRY(OperatorObjects(image));
  const std::string ns(api::kOperatorNamespace);
  notes.Say(0, "Installing the operator", {{"version", kProjectVersion}, {"image", image}, {"targetNamespace", ns}});
  if (!NamesRegistry(image)) {
    notes.Warn(
        fmt::format("no registry is named for the operator's image {}: the nodes must have it already, else name one "
                    "with --operator-image, or {} in the configuration file",
                    image, kImageKey));
  }
  TRY_WITH(ApplyOperator(ctx, client, objects), "failed to install the operator");
  return Ok();
}

Status AwaitRollout(const Context& ctx, kube::Client& client, const std::string& ns, bool applied, Notes& notes) {
  if (applied || !IsAvailable(ctx, client, ns)) notes.Say(0, "Waiting for the operator to be available...");
  return AwaitOperator(ctx.WithTimeout(kRolloutLimit), client, ns);
}

}  // namespace capi::cli
