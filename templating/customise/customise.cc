#include "templating/customise/customise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/meta/kind.h"
#include "templating/customise/args.h"
#include "templating/customise/deployment.h"
#include "templating/customise/manager.h"

namespace capi::templating {
namespace {

bool HasMainName(std::string_view name) { return name.starts_with("ca") && name.ends_with("-controller-manager"); }

// Flags that `spec` gives to the manager's container, without dashes.
std::set<std::string> GivenArgs(kube::Object& deployment, const api::DeploymentSpec& spec) {
  std::set<std::string> out;
  const Json* manager = ManagerContainer(deployment);
  if (manager == nullptr) return out;
  for (const api::ContainerSpec& container : spec.containers) {
    if (container.name != GetString(*manager, {"name"})) continue;
    for (const auto& arg : container.args) out.emplace(FlagName(arg.first));
  }
  return out;
}

Status CustomiseOne(kube::Object& object, const std::optional<api::DeploymentSpec>& deployment,
                    const std::optional<api::ManagerSpec>& manager, const KnownManager* known, std::string_view path,
                    std::vector<std::string>& warnings) {
  std::set<std::string> given_args;
  if (deployment) {
    TRY(CustomiseDeployment(object, *deployment, fmt::format("{}.deployment", path), warnings));
    given_args = GivenArgs(object, *deployment);
  }
  if (manager) TRY(CustomiseManager(object, *manager, known, fmt::format("{}.manager", path), given_args, warnings));
  return Ok();
}

}  // namespace

const api::DeploymentSpec* DeploymentSpecOf(const api::ProviderSpec& spec, const std::string& name, bool only_one) {
  if (only_one || HasMainName(name)) return spec.deployment ? &*spec.deployment : nullptr;
  auto found = spec.additional_deployments.find(name);
  return found != spec.additional_deployments.end() && found->second.deployment ? &*found->second.deployment : nullptr;
}

Status Customise(std::vector<kube::Object>& objects, const api::ProviderSpec& spec, const KnownManager* known,
                 std::vector<std::string>& warnings) {
  bool only_one = std::count_if(objects.begin(), objects.end(), kube::IsDeployment) == 1;
  std::set<std::string> used;
  for (kube::Object& object : objects) {
    if (!IsDeployment(object)) continue;
    std::string name = object.name();
    if (only_one || HasMainName(name)) {
      TRY(CustomiseOne(object, spec.deployment, spec.manager, known, "spec", warnings));
      continue;
    }
    auto found = spec.additional_deployments.find(name);
    if (found == spec.additional_deployments.end()) continue;
    used.insert(name);
    TRY(CustomiseOne(object, found->second.deployment, found->second.manager, nullptr,
                     fmt::format("spec.additionalDeployments[\"{}\"]", name), warnings));
  }
  for (const auto& [name, unused] : spec.additional_deployments) {
    if (used.contains(name)) continue;
    warnings.push_back(fmt::format(
        "spec.additionalDeployments[\"{}\"] has no effect: the release has no further Deployment of that name", name));
  }
  return Ok();
}

}  // namespace capi::templating
