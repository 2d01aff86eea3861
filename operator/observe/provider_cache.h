// All Provider objects, parsed once per change, with our own last writes before their watch events arrive.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/types.h"
#include "base/mutex.h"
#include "kube/cache/informer.h"
#include "operator/decide/observation.h"

namespace capi::ops {

struct CachedProvider {
  ProviderPtr provider;          // its spec.version is the one that is to run (api::VersionToRun)
  std::string declared_version;  // spec.version as it is written
  std::optional<Error> spec_error;
  std::string spec_digest;  // of the spec but its version, its policy and whether it is paused
  std::uint64_t resource_version = 0;
  bool awaited = false;  // a write of ours that no watch has shown yet

  kube::Object Object() const;  // as the server gave it, without managedFields; made anew each time

  kube::PackedJson packed;  // Object without status.inventory, which `provider` has
};

using CachedPtr = std::shared_ptr<const CachedProvider>;

// What a pass has made of the provider since it saw `o`. False, and nothing is taken: somebody has changed what is
// installed meanwhile, and what was seen with it (its source, its Secrets) is of another spec.
bool TakeWritten(Observation& o, const CachedProvider& cached);

// Thread-safe.
class ProviderCache {
 public:
  enum class ToldBy { kWatch, kFirstList, kOurWrite };
  // What changed about a provider: `spec` is false for a change of status alone.
  struct Change {
    api::ProviderId id;
    ProviderPtr was, is;  // null when added, deleted
    bool spec = false;
    ToldBy by = ToldBy::kWatch;
  };
  using Handler = std::function<void(const Change&)>;

  explicit ProviderCache(Handler handler) : handler_(std::move(handler)) {}

  // For an informer of `type`'s kind. An event that is older than our last write changes nothing; a version smaller
  // than that of `was` is no such event: the cluster was restored from a backup.
  // `by` says of a provider that comes whether it only just came.
  void OnEvent(api::ProviderType type, const kube::ObjectPtr& was, const kube::ObjectPtr& is,
               ToldBy by = ToldBy::kWatch);
  void OnDelete(api::ProviderType type, const kube::ObjectPtr& was);
  // The answer to a write of ours: counts until the watch has caught up with it.
  void OnWrite(api::ProviderType type, kube::Object written);
  // What the server has, instead of `cached`, which is awaited: where its version is the smaller one, the cluster was
  // restored from a backup to what the watch had shown before that write, so that the watch tells of no change.
  void OnRestored(api::ProviderType type, const CachedPtr& cached, kube::Object live);

  CachedPtr Get(const std::string& key) const;
  std::vector<CachedPtr> All() const;
  // The keys of those that clusterctl's label of an object names: more than one where a duplicate was refused (I5).
  // What it costs doesn't depend on how many others there are.
  std::vector<std::string> KeysOf(const std::string& label) const;
  // The keys of those that `which` holds for. It must not call back.
  std::vector<std::string> Keys(const std::function<bool(const api::ProviderId&)>& which) const;

 private:
  using Counts = std::function<bool(const CachedPtr& known, const CachedPtr& is)>;
  void TakeAnswer(api::ProviderType type, kube::Object answer, bool awaited, const Counts& counts);

  Handler handler_;
  mutable Mutex mu_;
  std::map<std::string, CachedPtr> providers_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, std::set<std::string>> by_label_ CAPI_GUARDED_BY(mu_);  // keys of providers_
};

}  // namespace capi::ops
