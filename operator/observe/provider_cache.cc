#include "operator/observe/provider_cache.h"

#include "base/encoding.h"
#include "operator/observe/tracks.h"

namespace capi::ops {
namespace {

// The version is resolved apart; and a pause scales what is live, so it needs no render (P1).
std::string DigestOfInputs(const Json& spec) {
  // No spec is an empty one: writing the version into it must not look like another input.
  Json copy = spec.is_object() ? spec : Json::object();
  copy.erase("version");
  copy.erase("paused");
  return Sha256Hex(ToJsonText(copy));
}

std::shared_ptr<const CachedProvider> Parse(const kube::ObjectPtr& object, bool awaited = false) {
  auto cached = std::make_shared<CachedProvider>();
  cached->object = object;
  cached->awaited = awaited;
  auto parsed = api::ParseProvider(*object);
  if (parsed.ok()) {
    cached->provider = std::make_shared<const api::Provider>(std::move(parsed).value());
  } else {
    cached->spec_error = parsed.error();
    cached->provider = std::make_shared<const api::Provider>(api::ParseProviderMeta(*object));
  }
  const Json* spec = Find(object->json(), {"spec"});
  cached->spec_digest = DigestOfInputs(spec == nullptr ? Json() : *spec);
  return cached;
}

// Status alone: nothing that another pass of this provider would decide differently on. A status that was lost
// (restored from a backup, cleared by hand) counts as a change.
bool OnlyStatus(const api::Provider& was, const api::Provider& is) {
  bool lost = (!was.status.applied.empty() && is.status.applied.empty()) ||
              (!was.status.conditions.empty() && is.status.conditions.empty()) ||
              (!was.status.inventory.empty() && is.status.inventory.empty());
  return !lost && was.uid == is.uid && was.generation == is.generation && was.deleting == is.deleting &&
         was.has_finalizer == is.has_finalizer && was.annotations == is.annotations;
}

}  // namespace

void ProviderCache::OnEvent(api::ProviderType type, const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  const std::uint64_t version = VersionNumber(is->resource_version());
  const bool restored = was && version < VersionNumber(was->resource_version());
  Change change;
  change.id = {type, is->ns(), is->name()};
  std::string key = change.id.Key();
  auto parsed = Parse(is);
  {
    MutexLock lock(mu_);
    auto it = providers_.find(key);
    if (it != providers_.end()) {
      change.was = it->second->provider;
      bool same_object = change.was->uid == parsed->provider->uid;
      const std::uint64_t known = VersionNumber(it->second->object->resource_version());
      if (same_object && known == version && !restored) it->second = parsed;  // it is shown now, and no news
      if (same_object && known >= version && !restored) return;
    }
    providers_[key] = parsed;
  }
  change.is = parsed->provider;
  change.spec = !change.was || restored || !OnlyStatus(*change.was, *change.is);
  handler_(change);
}

void ProviderCache::OnDelete(api::ProviderType type, const kube::ObjectPtr& was) {
  Change change;
  change.id = {type, was->ns(), was->name()};
  {
    MutexLock lock(mu_);
    auto it = providers_.find(change.id.Key());
    if (it == providers_.end() || it->second->provider->uid != was->uid()) return;
    change.was = it->second->provider;
    providers_.erase(it);
  }
  change.spec = true;
  handler_(change);
}

void ProviderCache::OnWrite(api::ProviderType type, kube::Object written) {
  written.json()["metadata"].erase("managedFields");
  auto object = std::make_shared<const kube::Object>(std::move(written));
  Change change;
  change.id = {type, object->ns(), object->name()};
  auto parsed = Parse(object, true);
  {
    MutexLock lock(mu_);
    auto it = providers_.find(change.id.Key());
    // An object that the watch has already seen deleted doesn't come back.
    if (it == providers_.end() || it->second->provider->uid != parsed->provider->uid) return;
    if (VersionNumber(it->second->object->resource_version()) >= VersionNumber(object->resource_version())) return;
    change.was = it->second->provider;
    it->second = parsed;
  }
  change.is = parsed->provider;
  // The answer may carry somebody else's change that came in between; its own event will then count as old.
  change.spec = change.was->generation != change.is->generation || change.was->deleting != change.is->deleting ||
                change.was->annotations != change.is->annotations;
  handler_(change);
}

void ProviderCache::OnRestored(api::ProviderType type, const std::shared_ptr<const CachedProvider>& cached,
                               kube::Object live) {
  live.json()["metadata"].erase("managedFields");
  auto object = std::make_shared<const kube::Object>(std::move(live));
  if (!cached->awaited) return;
  if (VersionNumber(object->resource_version()) >= VersionNumber(cached->object->resource_version())) return;
  Change change;
  change.id = {type, object->ns(), object->name()};
  auto parsed = Parse(object);
  {
    MutexLock lock(mu_);
    auto it = providers_.find(change.id.Key());
    if (it == providers_.end() || it->second != cached) return;  // something has come since: it counts
    change.was = it->second->provider;
    it->second = parsed;
  }
  change.is = parsed->provider;
  change.spec = true;
  handler_(change);
}

std::shared_ptr<const CachedProvider> ProviderCache::Get(const std::string& key) const {
  MutexLock lock(mu_);
  auto it = providers_.find(key);
  return it == providers_.end() ? nullptr : it->second;
}

std::vector<std::string> ProviderCache::Keys(const std::function<bool(const api::ProviderId&)>& which) const {
  MutexLock lock(mu_);
  std::vector<std::string> keys;
  for (const auto& [key, provider] : providers_) {
    if (which(provider->provider->id)) keys.push_back(key);
  }
  return keys;
}

std::vector<std::shared_ptr<const CachedProvider>> ProviderCache::All() const {
  MutexLock lock(mu_);
  std::vector<std::shared_ptr<const CachedProvider>> all;
  for (const auto& [key, provider] : providers_) all.push_back(provider);
  return all;
}

}  // namespace capi::ops
