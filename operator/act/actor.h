// Carries out what was decided: one overload of Take for each Step, so that a step that nobody handles doesn't compile.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "operator/act/certificates/certifier.h"
#include "operator/act/certificates/handing_over.h"
#include "operator/act/install/installer.h"
#include "operator/act/install/sources.h"
#include "operator/act/known_secrets.h"
#include "operator/act/migrations.h"
#include "operator/act/remover.h"
#include "operator/act/restorer.h"
#include "operator/act/scaler.h"
#include "operator/act/update_checks.h"
#include "operator/decide/decide.h"
#include "operator/observe/observe.h"
#include "operator/observe/pod_reasons.h"

namespace capi::ops {

// Thread-safe; one provider is acted on by one thread at a time. What it is given outlives it.
class Actor {
 public:
  struct Needs {
    kube::Client& client;
    Observer& observer;
    ProviderCache& cache;
    StatusWriter& writer;
    const Settings& settings;
    const Sources& sources;
    SecretMasks& masks;
    KnownSecrets& secrets;
    Fights& fights;
    Clock& clock;
    InventoryKey& inventory_key;
    std::function<void(const std::string& key)> wake;  // a migration has news for this provider, or its turn has come
  };
  explicit Actor(Needs needs);

  // What was done. nullopt: what has to be written first is, alone, and the provider is to be looked at again at once.
  // An error: it could not be written, so nothing was done.
  using Acted = Result<std::optional<Done>>;
  Acted Act(const Context& ctx, const Observation& o, const Step& step);

  // The newest version that is known and fits; "" for none. It may read a folder, or ConfigMaps: nothing waits for it.
  std::string NewestVersion(const Context& ctx, const Observation& o) { return installer_.NewestVersion(ctx, o); }

  // What an Observation says of this provider's last render, and of how a CRD's migration stands.
  std::string RenderedInputs(const std::string& key) const { return rendered_.InputsOf(key); }
  MigrationProgress MigrationOf(const std::string& crd) { return migrations_.ProgressOf(crd); }

  // U12: a look for newer versions is due; and what the last one has found.
  void AskForUpdates(const Observation& o) { updates_.Ask(o); }
  std::optional<UpdatesFound> UpdatesFor(const api::Provider& provider) { return updates_.FoundFor(provider); }
  // The worker that looks for them. Blocks until the context stops.
  void RunUpdateChecks(const Context& ctx) { updates_.Run(ctx); }

  // The worker that migrates storage. Blocks until the context stops.
  void RunMigrations(const Context& ctx) { migrations_.Run(ctx); }

  // Whatever came of the pass: others needn't wait for this provider to take its turn (T13).
  void PassEnded(const std::string& key) { turns_.PassEnded(key); }

  // How it went with the provider's certificates (I19).
  CertificateTrouble CertificateTroubleOf(const std::string& key) { return certifier_.TroubleOf(needs_.clock, key); }

  // Drops what is kept for a provider that is gone.
  void Forget(const std::string& key);

 private:
  Acted Take(const Context& ctx, const Observation& o, const HandsOff& step);
  Acted Take(const Context& ctx, const Observation& o, const AddFinalizer& step);
  Acted Take(const Context& ctx, const Observation& o, const Rebuild& step);
  Acted Take(const Context& ctx, const Observation& o, const Remove& step);
  Acted Take(const Context& ctx, const Observation& o, const Install& step);
  Acted Take(const Context& ctx, const Observation& o, const Restore& step);
  Acted Take(const Context& ctx, const Observation& o, const Prune& step);
  Acted Take(const Context& ctx, const Observation& o, const Steady& step);
  Acted Take(const Context& ctx, const Observation& o, const Hold& step);
  Acted Take(const Context& ctx, const Observation& o, const Scale& step);
  Acted Take(const Context& ctx, const Observation& o, const Unpause& step);
  Acted Take(const Context& ctx, const Observation& o, const Await& step);
  Acted Take(const Context& ctx, const Observation& o, const GiveUp& step);
  Acted Take(const Context& ctx, const Observation& o, const Migrate& step);
  std::optional<Millis> AskForMigrations(Observation& now);
  Acted Take(const Context& ctx, const Observation& o, const Adopt& step);
  Acted Take(const Context& ctx, const Observation& o, const Upgrade& step);
  Acted Take(const Context& ctx, const Observation& o, const Certify& step);
  Acted Take(const Context& ctx, const Observation& o, const HandOver& step);
  Acted EndCertificates(const Context& ctx, const Observation& o, const Certifier::Kept& kept);
  // Asks the pods why workloads don't come up (U5).
  void Explain(const Context& ctx, const Observation& o, Fleet& fleet);
  Done RestoreDrift(const Context& ctx, const Observation& o, const Restore& step);
  Done RestoreFromRender(const Context& ctx, const Observation& o, const Restore& step);

  const Needs needs_;
  RenderedCache rendered_;
  lifecycle::StorageMigration storage_;
  Migrations migrations_;
  SourceTurns turns_;
  Certifier certifier_;
  Installer installer_;
  Remover remover_;
  Restorer restorer_;
  HandingOver handing_over_;
  UpdateChecks updates_;
  Scaler scaler_;
  PodReasons pods_;
};

}  // namespace capi::ops
