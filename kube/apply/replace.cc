#include "kube/apply/replace.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "kube/apply/foreign_fields.h"
#include "kube/meta/kind.h"

namespace capi::kube {
namespace {

constexpr Millis kPoll{50};
constexpr Seconds kDeletionLimit{30};
constexpr int kMoreTries = 5;  // after a conflict

// Kinds that may be deleted and created again: nothing of a user hangs on them. Never CRDs, Namespaces, volumes, custom
// resources.
const GroupKind kRecreatable[] = {
    {"", "ConfigMap"},
    {"", "Secret"},
    {"", "Service"},
    {"", "Pod"},
    {"apps", "DaemonSet"},
    {"apps", "Deployment"},
    {"apps", "ReplicaSet"},
    {"apps", "StatefulSet"},
    {"batch", "CronJob"},
    {"batch", "Job"},
    {"policy", "PodDisruptionBudget"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"rbac.authorization.k8s.io", "RoleBinding"},
    {"scheduling.k8s.io", "PriorityClass"},
    {"storage.k8s.io", "StorageClass"},
};

bool MayRecreate(const ReplaceRequest& request, const Object& live) {
  GroupKind kind = request.manifest.id.group_kind();
  if (std::find(std::begin(kRecreatable), std::end(kRecreatable), kind) == std::end(kRecreatable)) return false;
  const Json* owners = Find(live.json(), {"metadata", "ownerReferences"});
  return owners == nullptr || owners->empty();  // somebody else's object is not deleted (U4)
}

// Of the requests around the apply: what the server warns of in these isn't of the object as it will be. Each is for
// one state of the object: a second one is refused.
WriteOptions Quietly(const ReplaceRequest& request) {
  WriteOptions options = request.options;
  options.warnings = nullptr;
  options.repeatable = true;
  return options;
}

// Nothing is stored. A field that the kind doesn't have is refused as it is in an apply: a plain replacement would drop
// it.
WriteOptions Trial(const ReplaceRequest& request) {
  WriteOptions options = Quietly(request);
  options.dry_run = options.strict = true;
  return options;
}

Result<Object> Apply(Client& client, const Context& ctx, const ReplaceRequest& request) {
  const Manifest& manifest = request.manifest;
  return client.ApplyText(ctx, request.resource, manifest.id.ns, manifest.id.name, manifest.text, request.options);
}

// A replace makes us an owner by Update of what it changed. Only our Apply entry may stay: what it doesn't name any
// more could never be removed by an apply.
Result<Object> DropUpdateEntry(Client& client, const Context& ctx, const ReplaceRequest& request, Object applied) {
  const std::string& manager = request.options.field_manager;
  const Json* entries = Find(applied.json(), {"metadata", "managedFields"});
  for (size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    const Json& entry = (*entries)[i];
    if (GetString(entry, {"manager"}) != manager || GetString(entry, {"operation"}) != "Update") continue;
    if (!GetString(entry, {"subresource"}).empty()) continue;
    std::string path = fmt::format("/metadata/managedFields/{}", i);
    Json patch = Json::array({{{"op", "test"}, {"path", path + "/manager"}, {"value", manager}},
                              {{"op", "test"}, {"path", path + "/operation"}, {"value", "Update"}},
                              {{"op", "remove"}, {"path", path}}});
    auto dropped = client.Patch(ctx, request.resource, request.manifest.id.ns, request.manifest.id.name,
                                PatchType::kJson, patch, Quietly(request));
    if (dropped.ok() || dropped.code() != Code::kInvalidArgument) return dropped;
    // Somebody has changed the list meanwhile; or this patch did, and the answer was lost.
    return Error{Code::kConflict, dropped.error().message, {}};
  }
  return applied;
}

// The object as it shall be, with what others own of `live`.
Object Replacement(const ReplaceRequest& request, const Json& desired, const Object& live, ForeignFields which) {
  Object object(desired);
  KeepForeignFields(live, request.options.field_manager, which, object);
  Ensure(object.json(), {"metadata", "resourceVersion"}) = live.resource_version();
  Ensure(object.json(), {"metadata", "uid"}) = live.uid();
  return object;
}

// nullopt: the server doesn't take a replacement either.
std::optional<Result<Object>> TryReplace(Client& client, const Context& ctx, const ReplaceRequest& request,
                                         const Json& desired, const Object& live) {
  for (ForeignFields which : {ForeignFields::kAll, ForeignFields::kMetadata}) {
    Object object = Replacement(request, desired, live, which);
    auto accepted = client.Update(ctx, request.resource, object, Trial(request));
    if (!accepted.ok() && accepted.code() == Code::kInvalidArgument) continue;
    if (!accepted.ok() || request.options.dry_run) return accepted;
    auto replaced = client.Update(ctx, request.resource, object, Quietly(request));
    if (!replaced.ok()) return replaced;
    auto applied = Apply(client, ctx, request);
    if (!applied.ok()) return applied;
    return DropUpdateEntry(client, ctx, request, std::move(*applied));
  }
  return std::nullopt;
}

// Would the server take the object if there were none of that name?
Status WouldBeCreated(Client& client, const Context& ctx, const ReplaceRequest& request, const Json& desired) {
  Object object(desired);
  Ensure(object.json(), {"metadata", "name"}) = fmt::format("{:.40}-check", request.manifest.id.name);
  auto created = client.Create(ctx, request.resource, object, Trial(request));
  return created.ok() ? Ok() : Status(created.error());
}

Status AwaitDeletion(Client& client, const Context& ctx, const ReplaceRequest& request, const std::string& uid) {
  const ObjectId& id = request.manifest.id;
  Context bounded = ctx.WithTimeout(kDeletionLimit);
  for (;;) {
    auto live = client.Get(bounded, request.resource, id.ns, id.name, {.metadata_only = true});
    if (!live.ok() && live.code() == Code::kNotFound) return Ok();
    if (!live.ok()) return live.error();
    if (live->uid() != uid) return Ok();
    TRY_WITH(bounded.Check(), "waiting for the deletion of the old object");
    ctx.clock->Sleep(ctx.stop, kPoll);
  }
}

bool IsOwnedBy(const Object& object, const std::string& uid) {
  const Json* owners = Find(object.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return false;
  return std::any_of(owners->begin(), owners->end(), [&](const Json& o) { return GetString(o, {"uid"}) == uid; });
}

// The ReplicaSets of a Deployment get its labels, so that whoever removes them later sees whose they are.
Status LeaveReplicaSets(Client& client, const Context& ctx, const ReplaceRequest& request, const Object& live) {
  const Resource& sets = Builtin("ReplicaSet");
  auto all = TRY(client.List(ctx, sets, request.manifest.id.ns, {.metadata_only = true}));
  const Json* labels = Find(live.json(), {"metadata", "labels"});
  std::vector<ObjectId> left;
  for (const Object& set : all.items) {
    if (!IsOwnedBy(set, live.uid())) continue;
    Json patch = {{"metadata", {{"labels", labels == nullptr ? Json::object() : *labels}}}};
    auto labelled = client.Patch(ctx, sets, set.ns(), set.name(), PatchType::kMerge, patch, Quietly(request));
    if (!labelled.ok() && labelled.code() == Code::kNotFound) continue;
    if (!labelled.ok()) return labelled.error();
    left.push_back(set.id());
  }
  return left.empty() ? Ok() : (*request.left_behind)(left);
}

// A Deployment goes without its pods: they serve until those of the new one do.
Result<Object> Recreate(Client& client, const Context& ctx, const ReplaceRequest& request, const Object& live) {
  const ObjectId& id = request.manifest.id;
  // Not what the server said: it repeats the value that it refuses, of a Secret or a whole pod template (I7).
  ctx.log.Info("creating anew: a field can't be changed", {{"object", id.ToString()}});
  bool orphans = request.left_behind != nullptr && Is(id, "apps", "Deployment");
  if (orphans) TRY_WITH(LeaveReplicaSets(client, ctx, request, live), "keeping the old pods");
  DeleteOptions how{.propagation = orphans ? "Orphan" : "Background", .uid = live.uid()};
  auto deleted = client.Delete(ctx, request.resource, id.ns, id.name, how);
  if (!deleted.ok() && deleted.code() != Code::kNotFound) return deleted.error();
  TRY(AwaitDeletion(client, ctx, request, live.uid()));
  return Apply(client, ctx, request);
}

Result<Object> Once(Client& client, const Context& ctx, const ReplaceRequest& request) {
  const Manifest& manifest = request.manifest;
  auto live = client.Get(ctx, request.resource, manifest.id.ns, manifest.id.name);
  if (!live.ok() && live.code() == Code::kNotFound) return request.refused;
  if (!live.ok()) return live.error();
  Json desired = TRY(ParseJson(manifest.text));
  if (auto replaced = TryReplace(client, ctx, request, desired, *live)) return *replaced;
  if (!MayRecreate(request, *live)) return request.refused;
  auto valid = WouldBeCreated(client, ctx, request, desired);
  if (!valid.ok() && valid.code() == Code::kInvalidArgument) return request.refused;
  if (!valid.ok()) return valid.error();
  if (request.options.dry_run) return *live;
  return Recreate(client, ctx, request, *live);
}

}  // namespace

Result<Object> ApplyByReplacing(Client& client, const Context& ctx, const ReplaceRequest& request) {
  auto answer = Once(client, ctx, request);
  // A controller that writes status at the same time must not win for ever.
  for (int more = kMoreTries; more > 0 && !answer.ok() && answer.code() == Code::kConflict; --more) {
    answer = Once(client, ctx, request);
  }
  return answer;
}

}  // namespace capi::kube
