#include "lifecycle/kind_scopes.h"

namespace capi::lifecycle {

templating::ScopeLookup KindScopes::Lookup() {
  return [this](const kube::GroupKind& kind) -> std::optional<bool> {
    if (auto said = cluster_scoped_.find(kind); said != cluster_scoped_.end()) return said->second;
    if (auto known = mapper_.Known(kind)) return !known->namespaced;
    asked_for_.insert(kind);
    return std::nullopt;
  };
}

std::optional<bool> KindScopes::WasClusterScoped(const kube::GroupKind& kind) const {
  for (const auto& [id, entry] : applied_.entries()) {
    if (id.group_kind() == kind) return id.ns.empty();
  }
  return std::nullopt;
}

Result<bool> KindScopes::Settle(const Context& ctx) {
  bool right = true;
  for (const kube::GroupKind& kind : asked_for_) {
    auto resource = mapper_.For(ctx, kind);
    if (!resource.ok() && resource.code() != Code::kNotFound) return resource.error();
    std::optional<bool> cluster_scoped = resource.ok() ? std::optional(!resource->namespaced) : WasClusterScoped(kind);
    cluster_scoped_[kind] = cluster_scoped;
    right = right && !cluster_scoped.value_or(false);
  }
  asked_for_.clear();
  return right;
}

}  // namespace capi::lifecycle
