#include "operator/observe/in_use.h"

#include <algorithm>

namespace capi::ops {

using lifecycle::BelongsToCluster;
using lifecycle::ByUid;
using lifecycle::SlimToOwners;

Result<std::vector<std::string>> UseFinder::UsersIn(const Context& ctx, const std::string& key,
                                                    const std::vector<kube::Resource>& kinds) {
  ByUid known;
  std::vector<std::vector<kube::ObjectPtr>> objects;
  for (const kube::Resource& resource : kinds) {
    auto watch = TRY(watches_.Need(ctx, {Watches::Purpose::kInUse, resource, "", "", "", true}, key, SlimToOwners));
    objects.push_back(watch->List());
    for (const auto& object : objects.back()) known[object->uid()] = object.get();
  }
  std::vector<std::string> used;
  for (const auto& of_kind : objects) {
    for (const auto& object : of_kind) {
      if (BelongsToCluster(*object, known)) used.push_back(NameOf(*object));
    }
  }
  return used;
}

Result<std::vector<kube::Resource>> UseFinder::KindsInUse(const Context& ctx,
                                                          const std::vector<kube::ObjectPtr>& crds) {
  std::vector<std::pair<kube::Resource, std::vector<kube::ObjectPtr>>> kinds;
  ByUid known;
  for (const auto& crd : crds) {
    ReadObjects read = TRY(ListReadable(client_, ctx, *crd));
    std::vector<kube::ObjectPtr> objects;
    for (kube::Object& object : read.items) {
      SlimToOwners(object);
      objects.push_back(std::make_shared<const kube::Object>(std::move(object)));
    }
    for (const auto& object : objects) known[object->uid()] = object.get();
    if (!objects.empty()) kinds.emplace_back(std::move(read.resource), std::move(objects));
  }
  std::vector<kube::Resource> in_use;
  for (const auto& [resource, objects] : kinds) {
    bool any = std::any_of(objects.begin(), objects.end(), [&](const auto& o) { return BelongsToCluster(*o, known); });
    if (any) in_use.push_back(resource);
  }
  return in_use;
}

// As long as one of the kinds that were in use still is, the others don't matter; when none is, all are read once more.
// An object belongs to a cluster by itself or through others that do, so the kinds in use tell all of their objects'.
Result<std::vector<std::string>> UseFinder::Find(const Context& ctx, const std::string& key,
                                                 const std::vector<kube::ObjectPtr>& crds) {
  std::vector<kube::Resource> kinds;
  {
    MutexLock lock(mu_);
    kinds = in_use_[key];
  }
  if (!kinds.empty()) {
    auto used = UsersIn(ctx, key, kinds);
    // At another version of the CRD another one may be readable.
    if (used.ok() && !used->empty()) return used;
    TRY(ctx.Check());
  }
  kinds = TRY(KindsInUse(ctx, crds));
  {
    MutexLock lock(mu_);
    in_use_[key] = kinds;
  }
  return UsersIn(ctx, key, kinds);
}

void UseFinder::Forget(const std::string& key) {
  MutexLock lock(mu_);
  in_use_.erase(key);
}

}  // namespace capi::ops
