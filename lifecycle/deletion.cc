#include "lifecycle/deletion.h"

namespace capi::lifecycle {

Keep KeepsOthers(const api::ProviderId& id) {
  return [label = api::ManifestLabel(id.type, id.name)](const kube::Object& live) -> std::string {
    std::string owner = live.label(api::kLabelProvider);
    if (owner != label) return owner.empty() ? "it has lost the provider's label" : "it belongs to " + owner;
    const Json* owners = Find(live.json(), {"metadata", "ownerReferences"});
    if (owners != nullptr && owners->is_array() && !owners->empty()) {
      return "it is owned by " + GetString(owners->front(), {"kind"}) + " " + GetString(owners->front(), {"name"});
    }
    return "";
  };
}

// The controller that fills an aggregated ClusterRole applies it whenever one of its parts changes: a part's deletion
// makes the role anew, without labels, when it was deleted just before. It sees both in order, so switching aggregation
// off first is enough.
Status StopAggregation(const Context& ctx, kube::Client& client, const std::vector<kube::ObjectId>& ids,
                       const Keep& keep) {
  const kube::Resource& roles = kube::Builtin("ClusterRole");
  for (const auto& id : ids) {
    if (id.kind != roles.kind || id.group != roles.group) continue;
    auto role = client.Get(ctx, roles, "", id.name);
    if (!role.ok() && role.code() == Code::kNotFound) continue;
    if (!role.ok()) return role.error().With(id.ToString());
    if (!keep(*role).empty() || Find(role->json(), {"aggregationRule"}) == nullptr) continue;
    Json patch = {{"aggregationRule", nullptr}, {"metadata", {{"resourceVersion", role->resource_version()}}}};
    TRY_WITH(client.Patch(ctx, roles, "", id.name, kube::PatchType::kMerge, patch), id.ToString());
  }
  return Ok();
}

}  // namespace capi::lifecycle
