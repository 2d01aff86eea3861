#include "operator/observe/just_stored.h"

#include "operator/observe/tracks.h"

namespace capi::ops {
namespace {

// Of StoredRelease.stamp, "UID/VERSION".
std::uint64_t VersionOf(const StoredRelease& release) {
  return VersionNumber(release.stamp.substr(release.stamp.find('/') + 1));
}

}  // namespace

void JustStored::Put(const std::string& key, const StoredRelease& stored) {
  MutexLock lock(mu_);
  entries_[key] = {stored, clock_.Monotonic() + kWatchLag};
}

void JustStored::Forget(const std::string& key) {
  MutexLock lock(mu_);
  entries_.erase(key);
}

std::optional<StoredRelease> JustStored::Awaited(const std::string& key, const Cached& cached) {
  MutexLock lock(mu_);
  auto it = entries_.find(key);
  if (it == entries_.end()) return std::nullopt;
  const StoredRelease& release = it->second.release;
  kube::ObjectPtr seen = cached(release.ns, release.name);
  bool shown = seen && VersionNumber(seen->resource_version()) >= VersionOf(release);
  if (!shown && clock_.Monotonic() < it->second.until) return release;
  entries_.erase(it);
  return std::nullopt;
}

}  // namespace capi::ops
