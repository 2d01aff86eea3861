#include "cli/upgrade/operator_version.h"

#include <fmt/format.h>

#include "api/version.h"

namespace capi::cli {
namespace {

constexpr std::string_view kSelector = "app.kubernetes.io/name=capi-operator";
constexpr std::string_view kVersionLabel = "app.kubernetes.io/version";

// "v0.1.0" of "registry.example.com:5000/capi-operator:v0.1.0@sha256:...".
std::string TagOf(std::string image) {
  if (size_t digest = image.find('@'); digest != image.npos) image.resize(digest);
  size_t colon = image.rfind(':'), slash = image.rfind('/');
  bool tagged = colon != image.npos && (slash == image.npos || colon > slash);
  return tagged ? image.substr(colon + 1) : "";
}

}  // namespace

OperatorDeployment ReadOperatorDeployment(const kube::Object& deployment) {
  OperatorDeployment out{deployment.ns(), deployment.name(), deployment.label(kVersionLabel), false};
  out.available = GetInt(deployment.json(), {"status", "availableReplicas"}) > 0;
  const Json* containers = Find(deployment.json(), {"spec", "template", "spec", "containers"});
  if (out.version.empty() && containers != nullptr && containers->is_array()) {
    for (const Json& container : *containers) {
      if (GetString(container, {"name"}) == "manager") out.version = TagOf(GetString(container, {"image"}));
    }
  }
  auto version = api::Version::Parse(out.version);
  out.version = version.ok() ? version->ToString() : "";
  return out;
}

Result<std::optional<OperatorDeployment>> FindOperatorDeployment(const Context& ctx, ManagementCluster& cluster) {
  auto list =
      TRY_WITH(cluster.client().List(ctx, kube::Builtin("Deployment"), "", {.label_selector = std::string(kSelector)}),
               "failed to look for the operator's Deployment");
  if (list.items.empty()) return std::optional<OperatorDeployment>();
  return std::optional(ReadOperatorDeployment(list.items.front()));
}

Status CheckOperator(const OperatorDeployment& found, std::string_view own) {
  auto theirs = api::Version::Parse(found.version), ours = api::Version::Parse(own);
  if (!theirs.ok() || !ours.ok() || theirs->SameSeries(*ours)) return Ok();
  std::string next =
      *theirs < *ours ? "run clusterctl upgrade operator first" : fmt::format("use clusterctl {}", theirs->ToString());
  return Error{Code::kFailedPrecondition,
               fmt::format("the operator {}/{} has version {}, and this clusterctl is {}: {}", found.ns, found.name,
                           found.version, own, next),
               {}};
}

}  // namespace capi::cli
