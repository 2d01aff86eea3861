#include "operator/observe/just_stored.h"

namespace capi::ops {
namespace {

const kube::Resource& Maps() { return kube::Builtin("ConfigMap"); }

kube::ObjectId MapOf(const StoredRelease& release) { return {"", "ConfigMap", release.ns, release.name}; }

}  // namespace

void JustStored::Put(const std::string& key, const StoredRelease& stored) {
  // Of StoredRelease.stamp, "UID/VERSION".
  const std::string version = stored.stamp.substr(stored.stamp.find('/') + 1);
  MutexLock lock(mu_);
  maps_.Expect(MapOf(stored), version);
  releases_[key] = stored;
}

void JustStored::Forget(const std::string& key) {
  MutexLock lock(mu_);
  releases_.erase(key);
}

void JustStored::Saw(const kube::ObjectPtr& was, const kube::ObjectPtr& is) { maps_.Saw(Maps(), was, is); }

void JustStored::WatchEnds() { maps_.ForgetWatch(Maps()); }

std::optional<StoredRelease> JustStored::Awaited(const std::string& key) {
  MutexLock lock(mu_);
  auto it = releases_.find(key);
  if (it == releases_.end()) return std::nullopt;
  if (maps_.Read(Maps(), MapOf(it->second), [] { return nullptr; }).awaited) return it->second;
  releases_.erase(it);
  return std::nullopt;
}

}  // namespace capi::ops
