// The provider controller: which event wakes which provider, and the four steps of a pass: observe, decide, act,
// report.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "kube/runtime/manager.h"
#include "operator/act/actor.h"
#include "operator/act/install/sources.h"
#include "operator/act/inventory_key.h"
#include "operator/observe/observe.h"
#include "operator/observe/unseen_writes.h"
#include "operator/report/reporter.h"

namespace capi::ops {

// Who shows providers is told what happens to them. Thread-safe; it neither blocks nor calls back. What it throws is
// logged, and costs nothing but that call (behaviour.md F7).
class Onlooker {
 public:
  virtual ~Onlooker() = default;
  virtual void OnChange(const ProviderCache::Change& change) = 0;
  // What a pass has seen, before its step. Messages of workloads have no Secret's value (I7); `hide` takes it out of
  // what else others wrote: who changed objects, and what of them. It is called before OnPass returns.
  virtual void OnPass(const Observation& o, const std::function<std::string(std::string)>& hide) = 0;
  // So many objects had drifted and are as they were applied (D1).
  virtual void OnRestored(const api::ProviderId& id, size_t objects) = 0;
};

struct ControllerSettings {
  int workers = 4;
  std::string ns;                               // "" for all namespaces
  Millis sync_period = std::chrono::hours(10);  // between two looks at what is Ready (behaviour.md F6)
  // Whether this operator's webhooks judge who writes references. If not, no record of them counts (behaviour.md T1).
  bool webhooks = false;
  Onlooker* onlooker = nullptr;  // outlives the controller
  Logger log = {};               // of what the onlooker throws
};

// Thread-safe. Owns everything that lives as long as the operator leads.
class ProviderController {
 public:
  ProviderController(kube::Client& client, const Settings& settings, const Sources& sources,
                     InventoryKey& inventory_key, ControllerSettings options, kube::Metrics& metrics,
                     kube::EventRecorder& events, Clock& clock);
  ~ProviderController();

  // Adds the informers of the seven kinds, the workers, and those that migrate storage and look for newer versions and
  // unseen writes.
  void AddTo(kube::Manager& manager);

  const ProviderCache& providers() const { return cache_; }

  // One pass. What it throws, and what fails it as a whole, is told in the provider's status (F1, F7); the error that
  // is returned is that of a context that ended.
  Result<kube::Outcome> Pass(const Context& ctx, const std::string& key);

 private:
  void OnProvider(const ProviderCache::Change& change);
  void Tell(const std::string& key, const std::function<void(Onlooker&)>& what) const;
  void OnWatch(const Watches::Event& event);
  // Kinds of providers that the server has and doesn't let be listed.
  std::vector<std::string> Unlisted() const;
  void Wake(const std::function<bool(const api::ProviderId&)>& who, kube::Priority priority);
  Result<kube::Outcome> Failed(const Context& ctx, const std::string& key, const Error& error);
  Result<kube::Outcome> CatchingPass(const Context& ctx, const std::string& key);
  Result<kube::Outcome> TryPass(const Context& ctx, const std::string& key);
  kube::Outcome LookForNewer(const Context& ctx, Observation o, kube::Outcome next, std::string_view tried);
  kube::Outcome CheckUpdates(Observation& o, kube::Outcome next, std::string_view tried);
  void Forget(const api::ProviderId& id);  // it is gone, and so is what is kept in memory for it

  kube::Client& client_;
  ControllerSettings options_;
  Clock& clock_;
  ProviderCache cache_;
  Watches watches_;
  SecretMasks masks_;
  KnownSecrets secrets_;
  Fights fights_;
  UseFinder use_;
  kube::Controller controller_;
  Observer observer_;
  UnseenWrites unseen_;
  StatusWriter writer_;
  Actor actor_;
  Reporter reporter_;
  std::vector<std::unique_ptr<kube::Informer>> informers_;
};

}  // namespace capi::ops
