// What is removed of the operator.
#include <fmt/format.h>

#include <set>

#include "api/kinds.h"
#include "cli/operator_manifests/installation.h"
#include "cli/operator_manifests/labels.h"
#include "cli/operator_manifests/manifests.h"
#include "kube/apply/apply.h"
#include "kube/meta/kind.h"

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

Result<std::vector<kube::ObjectId>> OperatorObjectsThere(const Context& ctx, kube::Client& client,
                                                         const std::string& ns, const OperatorRemoval& also) {
  std::vector<kube::ObjectId> out, last;
  for (kube::ObjectId& id : TRY(WithLabels(ctx, client, std::string(kOperatorSelector)))) {
    // Others may have the label elsewhere, say on what watches the operator.
    if (!id.ns.empty() && id.ns != ns) continue;
    (kube::Is(id, "apps", "Deployment") ? last : out).push_back(std::move(id));
  }
  const kube::Resource& crds = kube::Builtin("CustomResourceDefinition");
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    if (!also.kinds) break;
    kube::ObjectId id{crds.group, crds.kind, "", fmt::format("{}.{}", kind.plural, api::kGroup)};
    auto live = client.Get(ctx, crds, "", id.name, {.metadata_only = true});
    if (!live.ok() && live.code() != Code::kNotFound) return live.error().With(id.ToString());
    if (live.ok()) out.push_back(std::move(id));
  }
  out.insert(out.end(), last.begin(), last.end());
  if (also.ns) out.push_back({.group = "", .kind = "Namespace", .ns = "", .name = ns});
  return out;
}

// The webhooks go first of all: by their lack `init` knows what is there in part, and makes it whole again.
Status RemoveOperator(const Context& ctx, kube::Client& client, const std::string& ns, const OperatorRemoval& also) {
  std::vector<kube::ObjectId> webhooks, rest, deployments, last;
  for (kube::ObjectId& id : TRY(OperatorObjectsThere(ctx, client, ns, also))) {
    const bool deployment = kube::Is(id, "apps", "Deployment"), is_last = kube::Is(id, "", "Namespace");
    const bool webhook = kube::StageOf(id.group_kind()) == kube::Stage::kWebhooks;
    (webhook ? webhooks : deployment ? deployments : is_last ? last : rest).push_back(std::move(id));
  }
  TRY(Remove(ctx, client, webhooks));
  for (const kube::ObjectId& id : deployments) {
    auto stopped = client.Patch(ctx, kube::Builtin("Deployment"), id.ns, id.name, kube::PatchType::kMerge,
                                {{"spec", {{"replicas", 0}}}}, {.field_manager = std::string(kOperatorFieldManager)});
    if (!stopped.ok() && stopped.code() != Code::kNotFound) return stopped.error().With(id.ToString());
  }
  const kube::Resource& roles = kube::Builtin("ClusterRole");
  TRY(Remove(ctx, client,
             {{.group = roles.group, .kind = roles.kind, .ns = "", .name = std::string(kAggregatedRole)}}));
  TRY(Remove(ctx, client, rest));
  return Remove(ctx, client, last.empty() ? deployments : last);  // with its namespace the Deployment goes too
}

}  // namespace capi::cli
