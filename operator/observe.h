// Gathers an Observation from the caches, and keeps the watches that feed them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "operator/in_use.h"
#include "operator/observation.h"
#include "operator/provider_cache.h"
#include "operator/rendered_cache.h"
#include "operator/settings.h"
#include "operator/watches.h"

namespace capi::ops {

// Thread-safe.
class Observer {
 public:
  struct Needs {
    kube::Client& client;
    ProviderCache& cache;
    Watches& watches;
    const Settings& settings;
    const RenderedCache& rendered;
    Fights& fights;
    UseFinder& use;
    Clock& clock;
    std::function<std::vector<std::string>()> unlisted = nullptr;  // kinds of providers that can't be listed
  };
  explicit Observer(Needs needs);

  // nullopt: there is no such provider. Blocks until the watches that it needs have their first state; kUnavailable
  // when they can't get it.
  Result<std::optional<Observation>> Observe(const Context& ctx, const std::string& key);

  // The other providers as they are now: what was decided by them is looked at again after a write that they look at.
  Status ObserveSiblings(const Context& ctx, const std::string& key, Observation& o);

  // State of the objects of `inventory`, and no state older than what Expect announced. Watches each kind of them.
  Result<Fleet> ObserveFleet(const Context& ctx, const std::string& key, const kube::Inventory& inventory);

  // The watch must show this version of the object before what the cache says of it counts; until then `scaled_by`,
  // where it is given, says who sets its replicas. Saw is for every event.
  void Expect(const kube::ObjectId& id, const std::string& resource_version,
              std::optional<std::string> scaled_by = std::nullopt);
  void Saw(const kube::Object& object);
  // Nor after a write that may have been done though it failed: the next look reads the object itself, and fails where
  // it can't.
  void Doubt(const kube::ObjectId& id);

  // A release that was just stored for `key`, until the watch shows it.
  void Remember(const std::string& key, const StoredRelease& stored);

  // True when none of the release's CRDs and workloads exists yet, and it has some: a first installation.
  Result<bool> IsFresh(const Context& ctx, const std::string& key, const std::vector<kube::ObjectId>& ids);

  // The CRD as the watch shows it; nullopt where it doesn't exist, or isn't any provider's.
  Result<std::optional<CrdState>> LiveCrd(const Context& ctx, const std::string& key, const std::string& name);

  // From now on `key` is woken by every new CRD in the cluster (I13).
  Status WatchAllCrds(const Context& ctx, const std::string& key);

 private:
  Result<std::shared_ptr<kube::Informer>> Crds(const Context& ctx, const std::string& key);
  Result<std::shared_ptr<kube::Informer>> Workloads(const Context& ctx, const std::string& key,
                                                    const std::string& kind);
  // The watch of an object's kind; null while it has no state, or where the server has no such kind.
  Result<std::shared_ptr<kube::Informer>> Objects(const Context& ctx, const std::string& key, const kube::ObjectId& id,
                                                  const std::string& version);
  bool FirstTime(const std::string& watch);
  Result<bool> NamespaceGoing(const Context& ctx, const std::string& key, const std::string& ns);
  Status ObserveUse(const Context& ctx, const std::string& key, Observation& o);
  // "NAMESPACE/LABEL" of every provider that has workloads, whoever put them there.
  Result<std::set<std::string>> Running(const Context& ctx, const std::string& key);
  // Workloads, and where it is deleted CRDs, with the provider's labels and our entry, where it has no inventory.
  Result<kube::Inventory> LeftBehind(const Context& ctx, const std::string& key, const Observation& o);
  Result<std::optional<Referenced>> Find(const Context& ctx, const std::string& key, const char* kind,
                                         const std::optional<api::ObjectRef>& ref);
  Result<std::vector<StoredRelease>> Releases(const Context& ctx, const std::string& key,
                                              const api::Provider& provider);
  Result<bool> CrdsEstablished(const Context& ctx, const std::string& key, const api::Provider& core);
  Status SettleDoubt(const Context& ctx, const kube::ObjectId& id);
  bool Awaited(const kube::ObjectId& id);
  // As the last write left it, of an object that is awaited.
  std::optional<std::string> ScaledBy(const kube::ObjectId& id);
  Result<std::optional<FormerInstall>> Former(const Context& ctx, const Observation& o);
  Status ObserveInputs(const Context& ctx, const std::string& key, Observation& o);
  Status ObserveNeeds(const Context& ctx, const std::string& key, Observation& o);

  kube::Client& client_;
  ProviderCache& cache_;
  Watches& watches_;
  const Settings& settings_;
  const RenderedCache& rendered_;
  Fights& fights_;
  UseFinder& use_;
  Clock& clock_;
  const std::function<std::vector<std::string>()> unlisted_;
  Mutex mu_;
  std::set<std::string> awaited_ CAPI_GUARDED_BY(mu_);  // watches whose first state was waited for
  // Versions of an object: our last write, and the last that the watch has shown.
  struct Track {
    std::uint64_t written = 0, seen = 0;
    MonoTime until;
    std::optional<std::string> scaled_by;  // until that version is seen
    bool doubted = false;
  };
  std::map<kube::ObjectId, Track> tracks_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, StoredRelease> remembered_ CAPI_GUARDED_BY(mu_);
};

bool IsWorkload(const kube::ObjectId& id);
bool IsCrd(const kube::ObjectId& id);

}  // namespace capi::ops
