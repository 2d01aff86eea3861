#include "kube/apply/read_live.h"

namespace capi::kube {

Result<std::map<ObjectId, Object>> ReadLive(const Context& ctx, Client& client, const std::vector<Object>& objects) {
  std::map<ObjectId, Object> live;
  for (const Object& object : objects) {
    ObjectId id = object.id();
    auto resource = client.mapper().For(ctx, id.group_kind(), object.group_version().version);
    if (!resource.ok() && resource.code() == Code::kNotFound) continue;
    if (!resource.ok()) return resource.error();
    auto found = client.Get(ctx, *resource, id.ns, id.name);
    if (!found.ok() && found.code() == Code::kNotFound) continue;
    if (!found.ok()) return found.error().With(id.ToString());
    live[id] = std::move(*found);
  }
  return live;
}

}  // namespace capi::kube
