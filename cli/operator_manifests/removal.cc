// What is removed of the operator.
#include <fmt/format.h>

#include <set>

#include "api/kinds.h"
#include "cli/operator_manifests/installation.h"
#include "cli/operator_manifests/labels.h"
#include "cli/operator_manifests/manifests.h"
#include "kube/apply/apply.h"

namespace capi::cli {
namespace {

// The API server puts it together of others, and might do so once more while those go first.
constexpr std::string_view kAggregatedRole = "capi-operator-providers";

// Kinds of which the operator has objects, but for its own kinds and its namespace.
constexpr std::string_view kKinds[] = {
    "Deployment",
    "Service",
    "PodDisruptionBudget",
    "NetworkPolicy",
    "Role",
    "RoleBinding",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
};

Result<std::vector<kube::ObjectId>> WithLabels(const Context& ctx, kube::Client& client, const std::string& selector) {
  std::vector<kube::ObjectId> out;
  for (std::string_view name : kKinds) {
    const kube::Resource& kind = kube::Builtin(name);
    auto list = TRY_WITH(client.List(ctx, kind, "", {.label_selector = selector, .metadata_only = true}),
                         fmt::format("failed to list {}", kind.plural));
    for (const kube::Object& object : list.items)
      out.push_back({.group = kind.group, .kind = kind.kind, .ns = object.ns(), .name = object.name()});
  }
  return out;
}

Status Remove(const Context& ctx, kube::Client& client, const std::vector<kube::ObjectId>& ids) {
  std::vector<kube::Change> changes;
  return kube::Applier(client, {}).Delete(ctx, ids, nullptr, changes);
}

}  // namespace

Result<std::vector<kube::ObjectId>> OperatorLeftovers(const Context& ctx, kube::Client& client,
                                                      const std::vector<kube::Object>& objects) {
  std::set<kube::ObjectId> wanted;
  for (const kube::Object& object : objects) wanted.insert(object.id());
  auto there = TRY(WithLabels(ctx, client, fmt::format("{},{}={}", kOperatorSelector, kLabelManagedByTool, kThisTool)));
  std::vector<kube::ObjectId> out;
  for (const kube::ObjectId& id : there) {
    if (!wanted.contains(id)) out.push_back(id);
  }
  return out;
}

Status RemoveObjects(const Context& ctx, kube::Client& client, const std::vector<kube::ObjectId>& ids) {
  return Remove(ctx, client, ids);
}

Status RemoveOperator(const Context& ctx, kube::Client& client, const std::string& ns, const OperatorRemoval& also) {
  std::vector<kube::ObjectId> ids = TRY(WithLabels(ctx, client, std::string(kOperatorSelector)));
  const kube::Resource& roles = kube::Builtin("ClusterRole");
  TRY(Remove(ctx, client,
             {{.group = roles.group, .kind = roles.kind, .ns = "", .name = std::string(kAggregatedRole)}}));
  TRY(Remove(ctx, client, ids));
  const kube::Resource& crds = kube::Builtin("CustomResourceDefinition");
  std::vector<kube::ObjectId> kinds;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    if (!also.kinds) break;
    kinds.push_back(
        {.group = crds.group, .kind = crds.kind, .ns = "", .name = fmt::format("{}.{}", kind.plural, api::kGroup)});
  }
  TRY(Remove(ctx, client, kinds));
  if (!also.ns) return Ok();
  return Remove(ctx, client, {{.group = "", .kind = "Namespace", .ns = "", .name = ns}});
}

}  // namespace capi::cli
