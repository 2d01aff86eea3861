#include "operator/observe/provider_cache.h"

#include "api/moves/upgrade_policy.h"
#include "base/encoding.h"
#include "operator/observe/tracks.h"

namespace capi::ops {
namespace {

// The version is resolved apart, and so is which one the policy chooses; and a pause scales what is live, so it needs
// no render (P1).
std::string DigestOfInputs(const Json& spec) {
  // No spec is an empty one: writing the version into it must not look like another input.
  Json copy = spec.is_object() ? spec : Json::object();
  copy.erase("version");
  copy.erase("paused");
  copy.erase("upgradePolicy");
  return Sha256Hex(ToJsonText(copy));
}

std::string LabelOf(const api::ProviderId& id) { return api::ManifestLabel(id.type, id.name); }

Json WithoutInventory(Json object) {
  if (Json* status = Find(object, {"status"}); status != nullptr && status->is_object()) status->erase("inventory");
  return object;
}

CachedPtr Parse(const kube::ObjectPtr& object, bool awaited = false) {
  auto cached = std::make_shared<CachedProvider>();
  cached->resource_version = VersionNumber(object->resource_version());
  cached->awaited = awaited;
  auto parsed = api::ParseProvider(*object);
  if (parsed.ok()) {
    api::Provider& provider = *parsed;
    cached->declared_version = provider.spec.version;
    provider.spec.version = api::VersionToRun(cached->declared_version, provider.status, provider.annotations);
    cached->provider = std::make_shared<const api::Provider>(std::move(provider));
  } else {
    cached->spec_error = parsed.error();
    cached->provider = std::make_shared<const api::Provider>(api::ParseProviderMeta(*object));
  }
  const Json* spec = Find(object->json(), {"spec"});
  cached->spec_digest = DigestOfInputs(spec == nullptr ? Json() : *spec);
  cached->packed = WithoutInventory(object->json());
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

kube::Object CachedProvider::Object() const {
  Json object = packed.Unpack();
  const kube::StoredInventory& inventory = provider->status.inventory;
  if (!inventory.is_null()) Ensure(object, {"status", "inventory"}) = inventory.Unpack();
  return kube::Object(std::move(object));
}

bool TakeWritten(Observation& o, const CachedProvider& cached) {
  if (cached.spec_digest != o.spec_digest || cached.provider->uid != o.provider.uid) return false;
  o.provider = *cached.provider;
  o.declared_version = cached.declared_version;
  return true;
}

void ProviderCache::OnEvent(api::ProviderType type, const kube::ObjectPtr& was, const kube::ObjectPtr& is, ToldBy by) {
  const std::uint64_t version = VersionNumber(is->resource_version());
  const bool restored = was && version < VersionNumber(was->resource_version());
  Change change;
  change.by = by;
  change.id = {type, is->ns(), is->name()};
  std::string key = change.id.Key();
  auto parsed = Parse(is);
  {
    MutexLock lock(mu_);
    auto it = providers_.find(key);
    if (it != providers_.end()) {
      change.was = it->second->provider;
      const bool same_object = change.was->uid == parsed->provider->uid;
      const std::uint64_t known = it->second->resource_version;
      if (same_object && !restored && known >= version) {
        if (known == version) it->second = parsed;  // it is shown now, and no news
        return;
      }
    }
    providers_[key] = parsed;
    by_label_[LabelOf(change.id)].insert(key);
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
    auto labelled = by_label_.find(LabelOf(change.id));
    labelled->second.erase(it->first);
    if (labelled->second.empty()) by_label_.erase(labelled);
    providers_.erase(it);
  }
  change.spec = true;
  handler_(change);
}

void ProviderCache::OnWrite(api::ProviderType type, kube::Object written) {
  TakeAnswer(type, std::move(written), true, [](const CachedPtr& known, const CachedPtr& is) {
    return known->provider->uid == is->provider->uid && known->resource_version < is->resource_version;
  });
}

void ProviderCache::OnRestored(api::ProviderType type, const CachedPtr& cached, kube::Object live) {
  if (!cached->awaited) return;
  TakeAnswer(type, std::move(live), false, [&cached](const CachedPtr& known, const CachedPtr& is) {
    return known == cached &&
           is->resource_version < known->resource_version;  // else something has come since: it counts
  });
}

// An object that the watch has already seen deleted doesn't come back.
void ProviderCache::TakeAnswer(api::ProviderType type, kube::Object answer, bool awaited, const Counts& counts) {
  kube::DropManagedFields(answer);
  auto object = std::make_shared<const kube::Object>(std::move(answer));
  Change change;
  change.by = awaited ? ToldBy::kOurWrite : ToldBy::kWatch;
  change.id = {type, object->ns(), object->name()};
  auto parsed = Parse(object, awaited);
  {
    MutexLock lock(mu_);
    auto it = providers_.find(change.id.Key());
    if (it == providers_.end() || !counts(it->second, parsed)) return;
    change.was = it->second->provider;
    it->second = parsed;
  }
  change.is = parsed->provider;
  // The answer to a write may carry somebody else's change that came in between; its own event will then count as old.
  change.spec = !awaited || change.was->generation != change.is->generation ||
                change.was->deleting != change.is->deleting || change.was->annotations != change.is->annotations;
  handler_(change);
}

CachedPtr ProviderCache::Get(const std::string& key) const {
  MutexLock lock(mu_);
  auto it = providers_.find(key);
  return it == providers_.end() ? nullptr : it->second;
}

std::vector<std::string> ProviderCache::KeysOf(const std::string& label) const {
  MutexLock lock(mu_);
  auto found = by_label_.find(label);
  if (found == by_label_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<std::string> ProviderCache::Keys(const std::function<bool(const api::ProviderId&)>& which) const {
  MutexLock lock(mu_);
  std::vector<std::string> keys;
  for (const auto& [key, provider] : providers_) {
    if (which(provider->provider->id)) keys.push_back(key);
  }
  return keys;
}

std::vector<CachedPtr> ProviderCache::All() const {
  MutexLock lock(mu_);
  std::vector<CachedPtr> all;
  for (const auto& [key, provider] : providers_) all.push_back(provider);
  return all;
}

}  // namespace capi::ops
