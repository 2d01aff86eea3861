// Carries out an Install: version, release, render, checks, apply (behaviour.md I2-I14, F2).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lifecycle/kind_scopes.h"
#include "operator/act/install/fetched_releases.h"
#include "operator/act/install/newest_versions.h"
#include "operator/act/install/render_turn.h"
#include "operator/act/install/server_warnings.h"
#include "operator/act/install/source_turns.h"
#include "operator/act/install/sources.h"
#include "operator/act/inventory_key.h"
#include "operator/act/migrations.h"
#include "operator/act/release_applier.h"
#include "operator/act/rendered_cache.h"
#include "operator/decide/missing_rights.h"
#include "operator/observe/observe.h"
#include "operator/report/secret_masks.h"
#include "operator/report/status_writer.h"
#include "operator/report/summarize.h"
#include "releases/release_store.h"
#include "releases/verified.h"

namespace capi::ops {

struct RenderInputs;
struct Rendered;

// Thread-safe.
class Installer {
 public:
  struct Needs {
    kube::Client& client;
    Observer& observer;
    ProviderCache& cache;
    StatusWriter& writer;
    const Settings& settings;
    const Sources& sources;
    RenderedCache& rendered;
    Migrations& migrations;
    SecretMasks& masks;
    InventoryKey& key;
    SourceTurns& turns;
    Certifier& certifier;
  };
  explicit Installer(Needs needs);

  // Errors become holds. `o` is the installation's own: what it writes to the provider's object on the way shows in it,
  // and it ends as the result's `now`. With a version in `rollback_to` that release is applied instead of
  // spec.version's, which failed (U5).
  Done Install(const Context& ctx, Observation o, const std::string& rollback_to = "");
  // The same over what another tool installed (behaviour.md A1 to A2). adopt.cc
  Done Adopt(const Context& ctx, Observation o);
  // Makes the render of what is applied again, from the release that is kept (D1), so that it is at hand. Not where
  // AppliedRelease has none. Adds to `times` what it took. rerender.cc
  std::optional<Hold> RenderAgain(const Context& ctx, const Observation& o, PhaseTimes& times);
  // behaviour.md U4: removes what is marked stale, once everything new is healthy.
  Done Prune(const Context& ctx, const Observation& o);
  // Newer versions than the installed one, as its source has them, verified where that is asked for (U12). load.cc
  Result<std::vector<api::AvailableUpgrade>> NewerVersions(const Context& ctx, const Observation& o);
  // The newest version that is known and fits; "" for none.
  std::string NewestVersion(const Context& ctx, const Observation& o) { return newest_.Of(ctx.InOwnName(), o); }
  // Drops what is kept for a provider that is gone.
  void Forget(const std::string& provider) {
    newest_.Forget(provider);
    warnings_.Forget(provider);
    fetched_.Drop(provider);
  }

 private:
  struct Installation;  // a release and what was made of it

  Done Run(const Context& ctx, Observation& o, const std::string& rollback_to);
  bool TakeLastRender(const Observation& o, Installation& m);
  // load.cc
  std::optional<Hold> ReadKeys(const Context& ctx, const Observation& o, Installation& m);
  static std::unique_ptr<fetch::Repository> Verified(const Observation& o, const Installation& m,
                                                     std::unique_ptr<fetch::Repository> repository);
  std::optional<Hold> OpenSource(const Context& ctx, const Observation& o, Installation& m, bool is_look = false);
  std::optional<Hold> FetchAgain(const Context& ctx, const Observation& o, Installation& m, const Error& why);
  Result<fetch::SourceCredentials> CredentialsOf(const Context& ctx, const Observation& o);
  std::optional<Hold> Resolve(const Context& ctx, Observation& o, Installation& m);
  std::optional<Hold> PickVersion(const Context& ctx, Observation& o, fetch::Repository& repository,
                                  std::optional<MonoTime> until = std::nullopt);
  std::optional<Hold> Declare(const Context& ctx, Observation& o, const std::string& version);
  std::optional<Hold> DeclareWhatRuns(const Context& ctx, Observation& o);
  std::optional<Hold> PickFetched(const Context& ctx, Observation& o, Installation& m);
  std::optional<Hold> BeginFetch(const Context& ctx, const Observation& o, Installation& m);
  std::optional<Hold> Fetch(const Context& ctx, const Observation& o, Installation& m);
  void KeepFetched(const Context& ctx, const Observation& o, const Installation& m);
  std::optional<Hold> Load(const Context& ctx, const Observation& o, Installation& m);
  // installer.cc
  static void Identify(const Observation& o, Installation& m);
  std::optional<Hold> Inspect(const Observation& o, Installation& m);
  std::optional<Hold> Gate(const Context& ctx, Observation& o, Installation& m);
  std::optional<Hold> Render(const Context& ctx, const Observation& o, Installation& m);
  Result<Rendered> RenderRight(const Context& ctx, const Observation& o, Installation& m, const RenderInputs& inputs);
  Result<Rendered> RenderInTurn(const Context& ctx, const Observation& o, Installation& m, RenderInputs inputs,
                                const lifecycle::KindScopes& scopes);
  std::optional<Hold> CheckCluster(const Context& ctx, const Observation& o, Installation& m);
  std::optional<Hold> CheckRights(const Context& ctx, const Observation& o, Installation& m);
  // nullopt where nobody can tell. check_rights.cc
  Result<std::optional<LackingRights>> LackingRightsOf(const Context& ctx, const Observation& o, const Installation& m);
  Result<bool> IsFirst(const Context& ctx, const Observation& o, const Installation& m, bool untouched);
  std::optional<Hold> CheckStoredVersions(const Observation& o, Installation& m);
  std::optional<Hold> ReadLiveCrds(const Context& ctx, const Observation& o, Installation& m);
  void KeepRender(const Observation& o, const std::string& inputs, const Installation& m);
  std::optional<Hold> Announce(const Context& ctx, Observation& o, Installation& m);
  std::optional<Hold> AnnounceChange(const Context& ctx, Observation& o, Installation& m);
  std::optional<Hold> Store(const Context& ctx, const Observation& o, Installation& m);
  std::optional<Hold> Apply(const Context& ctx, Observation& o, Installation& m, Done& done);
  std::optional<Hold> ApplyPart(const Context& ctx, Observation& o, const std::vector<kube::Manifest>& part,
                                Installation& m, Done& done);
  void Complete(const Context& ctx, const Observation& o, Installation& m, Done& done);

  void Reread(Observation& o);
  std::optional<Hold> NoteVersion(const Context& ctx, Observation& o);
  std::optional<Hold> RecoverVariables(const Context& ctx, Observation& o, const Installation& m);
  std::optional<Hold> KeepVariables(const Context& ctx, Observation& o,
                                    const std::map<std::string, std::string>& values);
  std::optional<Hold> Preview(const Context& ctx, const Observation& o, const Installation& m);
  std::optional<Hold> RemoveLeftovers(const Context& ctx, const Observation& o);
  std::optional<Hold> RemoveMarks(const Context& ctx, Observation& o, const Installation& m);

  Needs needs_;
  ReleaseApplier applier_;
  RenderTurns rendering_;
  FetchedReleases fetched_;
  NewestVersions newest_;
  ServerWarnings warnings_;
};

}  // namespace capi::ops
