#include "cli/operator_manifests/installation.h"

#include <fmt/format.h>

#include "base/version.h"
#include "cli/operator_manifests/labels.h"
#include "cli/operator_manifests/manifests.h"
#include "kube/apply/apply.h"
#include "kube/meta/health.h"
#include "kube/meta/kind.h"
#include "templating/customise/image_reference.h"

namespace capi::cli {
namespace {

constexpr std::string_view kPeerSelector = "clusterctl.cluster.x-k8s.io/core=capi-operator";
constexpr Millis kPause{100};

Error Precondition(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

std::string ImageOf(const kube::Object& deployment) {
  const Json* containers = Find(deployment.json(), {"spec", "template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array() || containers->empty()) return "";
  for (const Json& container : *containers) {
    if (GetString(container, {"name"}) == "manager") return GetString(container, {"image"});
  }
  return GetString(containers->front(), {"image"});
}

// The tag behind the last element of the image's path.
std::string TagOf(std::string_view image) {
  image = image.substr(0, image.find('@'));
  size_t colon = image.rfind(':'), slash = image.rfind('/');
  bool has_tag = colon != image.npos && (slash == image.npos || colon > slash);
  return has_tag ? std::string(image.substr(colon + 1)) : "";
}

std::optional<api::Version> VersionOf(const kube::Object& deployment, const std::string& image) {
  std::string label = deployment.label(kLabelVersion);
  auto version = api::Version::Parse(label.empty() ? TagOf(image) : label);
  return version.ok() ? std::optional(*version) : std::nullopt;
}

// Why the pods don't come up, as far as they say; "" where they don't.
std::string PodsSay(const Context& ctx, kube::Client& client, const std::string& ns) {
  auto pods = client.List(ctx, kube::Builtin("Pod"), ns, {.label_selector = std::string(kOperatorSelector)});
  if (!pods.ok()) return "";
  for (const kube::Object& pod : pods->items) {
    const Json* statuses = Find(pod.json(), {"status", "containerStatuses"});
    for (const Json& status : statuses == nullptr ? Json::array() : *statuses) {
      std::string reason = GetString(status, {"state", "waiting", "reason"});
      if (reason.empty() || reason == "ContainerCreating") continue;
      return fmt::format("; Pod {}: {}: {}", pod.name(), reason, GetString(status, {"state", "waiting", "message"}));
    }
  }
  return "";
}

bool Outage(const Error& error) { return error.Transient(); }

}  // namespace

Result<std::optional<InstalledOperator>> OperatorOf(const std::vector<kube::Object>& ours,
                                                    const std::vector<kube::Object>& peers) {
  if (!peers.empty()) {
    return Precondition(
        fmt::format("cluster-api-operator is installed in namespace {}, which looks after the same objects; see "
                    "docs/adopting.md for how to take over from it",
                    peers.front().ns()));
  }
  if (ours.empty()) return std::optional<InstalledOperator>();
  if (ours.size() > 1) {
    return Precondition(fmt::format("there are {} operators, in the namespaces {} and {}; remove one of them first",
                                    ours.size(), ours[0].ns(), ours[1].ns()));
  }
  InstalledOperator out;
  out.ns = ours.front().ns();
  out.image = ImageOf(ours.front());
  out.version = VersionOf(ours.front(), out.image);
  out.name = ours.front().name();
  out.available = GetInt(ours.front().json(), {"status", "availableReplicas"}) > 0;
  out.by_helm = ours.front().label(kLabelManagedByTool) == "Helm";
  out.by_clusterctl = ours.front().label(kLabelManagedByTool) == kThisTool;
  return std::optional(std::move(out));
}

Result<std::optional<InstalledOperator>> FindOperator(const Context& ctx, kube::Client& client) {
  const kube::Resource& deployments = kube::Builtin("Deployment");
  auto ours = TRY_WITH(client.List(ctx, deployments, "", {.label_selector = std::string(kOperatorSelector)}),
                       "failed to look for capi-operator");
  auto peers = TRY_WITH(client.List(ctx, deployments, "", {.label_selector = std::string(kPeerSelector)}),
                        "failed to look for cluster-api-operator");
  return OperatorOf(ours.items, peers.items);
}

api::Version OwnVersion() {
  auto version = api::Version::Parse(kProjectVersion);
  return version.ok() ? *version : api::Version();
}

Status CheckSkew(const InstalledOperator& there, const api::Version& own) {
  if (!there.version || there.version->SameSeries(own)) return Ok();
  const std::string theirs = there.version->ToString();
  if (*there.version > own) {
    return Precondition(
        fmt::format("the operator in namespace {} is {}, newer than this clusterctl ({}): use a clusterctl of "
                    "v{}.{}",
                    there.ns, theirs, own.ToString(), there.version->major, there.version->minor));
  }
  return Precondition(
      fmt::format("the operator in namespace {} is {}, and this clusterctl {}: run `clusterctl upgrade operator` "
                  "first",
                  there.ns, theirs, own.ToString()));
}

Result<bool> IsHalfInstalled(const Context& ctx, kube::Client& client, const InstalledOperator& there) {
  if (!there.by_clusterctl) return false;
  const std::string version = there.version ? there.version->ToString() : "";
  for (const kube::Object& object : TRY(OperatorObjects(there.image))) {
    if (!IsLast(object) && version != kProjectVersion) continue;  // an older one may have others
    auto live = client.Get(ctx, kube::Builtin(object.kind()), object.ns(), object.name(), {.metadata_only = true});
    if (!live.ok() && live.code() == Code::kNotFound) return true;
    if (!live.ok()) return live.error().With(fmt::format("failed to look for {}", object.id().ToString()));
    if (IsLast(object) && live->label(kLabelVersion) != version) return true;
  }
  return false;
}

Status ApplyOperator(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& objects) {
  std::vector<kube::Manifest> manifests;
  for (const kube::Object& object : objects) manifests.push_back(kube::ToManifest(object));
  kube::ApplyOptions options;
  options.field_manager = kOperatorFieldManager;
  std::vector<kube::Change> changes;
  return kube::Applier(client, options).Apply(ctx, manifests, {}, changes);
}

Status AwaitOperator(const Context& ctx, kube::Client& client, const std::string& ns) {
  std::string said = "it wasn't looked at";
  while (ctx.Check().ok()) {
    auto live = client.Get(ctx, kube::Builtin("Deployment"), ns, kOperatorDeployment);
    if (!live.ok() && !Outage(live.error())) return live.error().With("waiting for the operator");
    kube::Health health = live.ok() ? kube::HealthOf(*live) : kube::Health{};
    if (live.ok() && health.ok()) return Ok();
    said = live.ok() ? health.message : live.error().message;
    if (!ctx.clock->Sleep(ctx.stop, kPause)) break;
  }
  Context last;  // one more look, for the message
  return Error{ctx.stop.stop_requested() ? Code::kCancelled : Code::kDeadlineExceeded,
               fmt::format("the operator (Deployment {}/{}) is not available: {}{}", ns, kOperatorDeployment, said,
                           PodsSay(last.WithTimeout(Seconds(5)), client, ns)),
               {}};
}

}  // namespace capi::cli
