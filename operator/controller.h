// The provider controller: which event wakes which provider, and the four steps of a pass.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "kube/runtime/manager.h"
#include "operator/act/installer.h"
#include "operator/act/remover.h"
#include "operator/act/restorer.h"
#include "operator/act/scaler.h"
#include "operator/act/sources.h"
#include "operator/decide/decide.h"
#include "operator/observe/observe.h"
#include "operator/observe/pod_reasons.h"
#include "operator/report/resyncs.h"

namespace capi::ops {

struct ControllerSettings {
  int workers = 4;
  std::string ns;                               // "" for all namespaces
  std::string own_ns = "default";               // where the operator keeps what is its own
  Millis sync_period = std::chrono::hours(10);  // between two looks at what is Ready (behaviour.md F6)
};

// Thread-safe. Owns everything that lives as long as the operator leads.
class ProviderController {
 public:
  ProviderController(kube::Client& client, const Settings& settings, const Sources& sources, ControllerSettings options,
                     kube::Metrics& metrics, kube::EventRecorder& events, Clock& clock);
  ~ProviderController();

  // Adds the informers of the seven kinds, the workers, and the worker that migrates storage.
  void AddTo(kube::Manager& manager);

  // One pass: observe, decide, act, report.
  Result<kube::Outcome> Pass(const Context& ctx, const std::string& key);

 private:
  void OnProvider(const ProviderCache::Change& change);
  void OnWatch(const Watches::Key& watch, const std::set<std::string>& users, const kube::ObjectPtr& was,
               const kube::ObjectPtr& is);
  void OnWatchEnd(const Watches::Key& watch);
  // Kinds of providers that the server has and doesn't let be listed.
  std::vector<std::string> Unlisted() const;
  void Wake(const std::function<bool(const api::ProviderId&)>& who);
  Result<std::optional<Done>> RemoveLeftBehind(const Context& ctx, Observation& o);
  Done Act(const Context& ctx, Observation& o, const Step& step);
  Done RestoreDrift(const Context& ctx, Observation& o, const Restore& step);
  // I7: the same words, without the values of the provider's Secrets. Where these aren't known, they are read first.
  void Hide(const Context& ctx, const std::string& key, Fleet& fleet);
  void Hide(const Context& ctx, const std::string& key, Observation& o, Done& done);
  void LearnSecrets(const Context& ctx, const std::string& key);
  // Asks the pods why workloads don't come up (U5).
  void Explain(const Context& ctx, const std::string& key, Fleet& fleet);
  Done ActOnRollout(const Context& ctx, Observation& o, const Step& step);
  Done MigrateStorage(const Observation& o);
  kube::Outcome Schedule(const std::string& key, const Observation& o, Done& done, bool ready);
  Result<kube::Outcome> ReportUnseen(const Context& ctx, const std::string& key, const Error& error);
  Result<kube::Outcome> Report(const Context& ctx, Observation& o, Done done);
  kube::Outcome ReportGone(const Context& ctx, Observation& o, Done done);
  void Announce(const Context& ctx, const api::Provider& provider, const api::ProviderStatus& was,
                const api::ProviderStatus& is, const Done& done);
  std::optional<Millis> Postponed(const std::string& key, const api::ProviderStatus& was, const api::ProviderStatus& is,
                                  const Done& done);
  static kube::Labels LabelsOf(const api::ProviderId& id);
  void Measure(const api::Provider& provider, const api::ProviderStatus& status);
  void CountFoundByResync(const Context& ctx, const std::string& key);
  void Forget(const api::ProviderId& id);  // it is gone, and so is what is kept in memory for it

  Clock& clock_;
  kube::Client& client_;
  kube::Metrics& metrics_;
  kube::EventRecorder& events_;
  const Settings& settings_;
  ControllerSettings options_;
  ProviderCache cache_;
  Watches watches_;
  RenderedCache rendered_;
  SecretMasks masks_;
  InventoryKey inventory_key_;
  Fights fights_;
  UseFinder use_;
  StorageMigration storage_;
  Migrations migrations_;
  Observer observer_;
  StatusWriter writer_;
  Installer installer_;
  Remover remover_;
  Restorer restorer_;
  Scaler scaler_;
  PodReasons pods_;
  Resyncs resyncs_;
  std::vector<std::unique_ptr<kube::Informer>> informers_;
  kube::Controller controller_;
  Mutex mu_;
  std::map<std::string, MonoTime> last_words_ CAPI_GUARDED_BY(mu_);  // time of the last status write, by key
};

}  // namespace capi::ops
