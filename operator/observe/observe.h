// Gathers an Observation from the caches, and keeps the watches that feed them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "operator/decide/observation.h"
#include "operator/observe/fights.h"
#include "operator/observe/in_use.h"
#include "operator/observe/just_stored.h"
#include "operator/observe/provider_cache.h"
#include "operator/observe/references.h"
#include "operator/observe/settings.h"
#include "operator/observe/tracks.h"
#include "operator/observe/watches.h"

namespace capi::ops {

// Thread-safe.
class Observer {
 public:
  struct Needs {
    kube::Client& client;
    ProviderCache& cache;
    Watches& watches;
    const Settings& settings;
    Fights& fights;
    UseFinder& use;
    Clock& clock;
    std::function<MigrationProgress(const std::string& crd)> migration_of;  // how a CRD's migration stands (U3)
    std::function<std::string(const std::string& key)> rendered_inputs;     // Observation.rendered
    std::function<std::vector<std::string>()> unlisted;                     // kinds of providers that can't be listed
    ReferenceKey reference_key;                                             // null: no record counts (T1)
    std::function<std::optional<UpdatesFound>(const std::string& key)> updates_found = {};  // U12; null: nothing is
    std::function<std::string(const api::Provider&)> source_of = {};  // Observation.source; null: it isn't known
    std::function<CertificateTrouble(const std::string& key)> certificate_trouble = {};  // I19; null: there is none
  };
  explicit Observer(Needs needs);

  // nullopt: there is no such provider. Blocks until the watches that it needs have their first state; kUnavailable
  // when they can't get it.
  Result<std::optional<Observation>> Observe(const Context& ctx, const std::string& key);

  // The other providers as they are now: what was decided by them is looked at again after a write that they look at.
  Status ObserveSiblings(const Context& ctx, const std::string& key, Observation& o);

  // State of the objects of `inventory`, and no state older than our own writes. Watches each kind of them.
  Result<Fleet> ObserveFleet(const Context& ctx, const std::string& key, const kube::Inventory& inventory);

  // What of our writes the watches have shown: nothing older than that is observed.
  Tracks& tracks() { return tracks_; }
  // A release that was just stored for `key`, until the watch shows it.
  void Remember(const std::string& key, const StoredRelease& stored);
  // For every event of the watches, before anybody is woken by it; and for the end of each.
  void Saw(const Watches::Key& watch, const kube::ObjectPtr& was, const kube::ObjectPtr& is);
  void WatchEnds(const Watches::Key& watch);

  // Drops what is kept for a provider that is gone.
  void Forget(const std::string& key);

  // True when none of the release's CRDs and workloads exists yet, and it has some: a first installation.
  Result<bool> IsFresh(const Context& ctx, const std::string& key, const std::vector<kube::ObjectId>& ids);

  // The CRD that is to be written, as the watch shows it; one that isn't any provider's is read. nullopt where there is
  // none.
  Result<std::optional<CrdState>> LiveCrd(const Context& ctx, const std::string& key, const kube::Manifest& crd);

  // From now on `key` is woken by every CRD that comes, goes or changes (I13): of these API groups, where it is known
  // which it waits for.
  Status WatchAllCrds(const Context& ctx, const std::string& key);
  void AwaitGroups(const std::string& key, std::set<std::string> groups);
  bool Awaits(const std::string& key, const std::string& crd);  // by its name, PLURAL.GROUP

 private:
  Result<std::shared_ptr<kube::Informer>> Crds(const Context& ctx, const std::string& key);
  Result<std::shared_ptr<kube::Informer>> Workloads(const Context& ctx, const std::string& key,
                                                    const std::string& kind);
  // A kind that can't be watched holds up everything where it is needed, and else only what concerns it.
  struct ObjectWatch {
    Watches::Key key;
    void (*transform)(kube::Object&);
    bool needed;
  };
  // Of an object's kind; nullopt where no server has such a kind now.
  Result<std::optional<ObjectWatch>> WatchOf(const Context& ctx, const kube::ObjectId& id, const std::string& version);
  // The watches of an inventory's kinds, by kind and version; null where one has no state. All of them begin before the
  // first is waited for.
  using KindWatches = std::map<std::pair<kube::GroupKind, std::string>, std::shared_ptr<kube::Informer>>;
  Result<KindWatches> WatchesOf(const Context& ctx, const std::string& key, const kube::Inventory& inventory);
  Result<bool> NamespaceGoing(const Context& ctx, const std::string& key, const std::string& ns);
  // Past the watch, which shows those with our label alone; null where there is none.
  Result<kube::ObjectPtr> ReadCrd(const Context& ctx, const kube::ObjectId& id);
  Result<std::vector<kube::ObjectPtr>> CrdsInUse(const Context& ctx, const std::string& key,
                                                 const kube::Inventory& inventory);
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
  void ObserveCrd(const std::string& name, const kube::ObjectPtr& crd, Fleet& fleet);
  Status ReadUncertain(const Context& ctx, const kube::ObjectId& id);
  Result<std::optional<FormerInstall>> Former(const Context& ctx, Observation& o);
  Status ObserveInputs(const Context& ctx, const std::string& key, Observation& o);
  void ObserveCertificates(const Context& ctx, const std::string& key, Observation& o);
  Status ObserveNeeds(const Context& ctx, const std::string& key, Observation& o);

  kube::Client& client_;
  ProviderCache& cache_;
  Watches& watches_;
  const Settings& settings_;
  Fights& fights_;
  UseFinder& use_;
  Clock& clock_;
  Tracks tracks_;
  JustStored just_stored_;
  const std::function<MigrationProgress(const std::string&)> migration_of_;
  const std::function<std::string(const std::string&)> rendered_inputs_;
  const std::function<std::vector<std::string>()> unlisted_;
  const ReferenceKey reference_key_;
  const std::function<std::optional<UpdatesFound>(const std::string&)> updates_found_;
  const std::function<std::string(const api::Provider&)> source_of_;
  const std::function<CertificateTrouble(const std::string&)> certificate_trouble_;
  Mutex mu_;
  std::map<std::string, std::set<std::string>> awaited_groups_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
