// The pieces of an installation that are functions of their arguments: inputs of a render, its result as manifests, and
// the inventory that is announced for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fetch/repository.h"
#include "kube/apply/apply.h"
#include "lifecycle/deletion.h"
#include "operator/act/install/installer.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/decide.h"
#include "operator/decide/install_rules.h"
#include "operator/observe/provider_cache.h"
#include "operator/observe/settings.h"
#include "operator/report/secret_values.h"
#include "verify/keys.h"

namespace capi::ops {

using Secret = std::map<std::string, std::string>;  // decoded

// What an installation gathers on its way.
struct Installer::Installation {
  std::optional<verify::PublicKeys> keys;  // that `repository` is verified with (T14): they outlive it
  std::unique_ptr<fetch::Repository> repository;
  SourceTurns::Turn turn;               // while `repository` is asked over the network
  std::optional<MonoTime> fetch_until;  // all of that
  std::optional<StoredRelease> stored;
  bool may_fetch_again = false;  // where `stored` isn't verified
  bool fetched = false;          // from its source, not from the cluster
  bool remembered = false;       // and not in this pass
  bool wrong_file = false;       // its components aren't those that are asked for (T2)
  api::Release release;
  Candidate candidate;  // what the rules of an installation judge: whether rendered now or by the last pass
  std::vector<kube::Manifest> manifests;
  std::shared_ptr<const SecretValues> secrets;  // of that render
  std::vector<std::string> warnings;
  PhaseTimes times;
  std::optional<kube::Inventory> found;  // rebuilt from labels, for a provider that has lost its status (U11)
  kube::Inventory before;                // as it was when the pass began
  kube::Inventory inventory;             // old and new together
  CrdStates live;                        // the release's CRDs that exist
  bool first = false;    // nothing to be careful with: no object was there, or only what a first apply left
  bool forced = false;   // by annotation reconcile-at: fetched again, every object sent again (U8)
  bool cached = false;   // the last pass rendered it: only the last stages are to come (U2)
  bool changes = false;  // something differs from what was applied
  std::string inputs;    // of spec.version, also in a rollback
  std::optional<api::HistoryEntry> rollout;

  RenderFacts Facts() const {
    return {candidate.version.ToString(), candidate.contract, candidate.source, candidate.digest, warnings};
  }
};

// Values stay in memory for the render and nowhere else (I7).
Result<Secret> ReadSecret(const Context& ctx, kube::Client& client, const api::ObjectRef& ref);

struct RenderInputs {
  Secret variables;
  std::string additional_manifests;
  templating::ImageOverrides images;
  templating::ScopeLookup cluster_scoped;  // KindScopes
};
// All but `cluster_scoped`. kFailedPrecondition where the ConfigMap of additional manifests lacks its key: that is not
// an empty one, of which everything is pruned.
Result<RenderInputs> ReadRenderInputs(const Context& ctx, kube::Client& client, const Observation& o);
// What comes before the first write was not answered, or refused: F5 tells an outage from the rest.
Hold NotAnswered(const Error& error);
// The condition for an error of ReadRenderInputs.
Hold InputsHold(const Error& error);

// The arguments must outlive the result.
templating::RenderInput ToRenderInput(const Observation& o, const api::Release& release, RenderInputs inputs,
                                      const Settings& settings);

struct Rendered {
  std::optional<Hold> hold;
  std::vector<kube::Manifest> manifests;
  std::vector<std::string> warnings;
  std::map<std::string, std::string> namespace_labels;  // Pod Security levels that the release's Namespace asks for
  SecretValues secrets;  // of the variables' Secret, and of rendered ones; also on a hold
};
Rendered RenderManifests(const Observation& o, const api::Release& release, RenderInputs inputs,
                         const Settings& settings);

// What of the labels that the release's Namespace asks for the provider's own lacks (I8); "" for nothing.
std::string MissingNamespaceLabels(const kube::Object& ns, const std::map<std::string, std::string>& wanted);

// The condition for a failed render: reason by step, and for missing variables the place to put them (I5).
Hold RenderHold(const Observation& o, const templating::RenderError& error);

// Old and new: entries without a hash where something else than before is to be applied (U7), entries that the release
// no longer has marked stale. CRDs and Namespaces are never pruned (U4): they leave the inventory's care only with the
// provider. With `keep_marks`, what isn't in the release stays as marked as it was: a change has decided once what it
// leaves behind, and a rebuilt inventory holds things that wait for the next change (U11).
kube::Inventory MergeInventory(const kube::Inventory& old, const std::vector<kube::Manifest>& manifests,
                               bool keep_marks = false);

// I19: Secrets that a Certificate of the release names are cert-manager's from now on, with their keys: they aren't
// pruned.
void LeaveToCertManager(const std::vector<kube::Manifest>& manifests, kube::Inventory& inventory);
// Drops what is gone and isn't in the render: no apply brings it back, and as a drift it would ask for one at every
// look.
void DropGone(const Observation& o, const std::vector<kube::Manifest>& manifests, kube::Inventory& inventory);
// What drifted is applied again (D1). For one apply alone: what that can't put back is found to have drifted still.
void ForgetDrifted(const Observation& o, kube::Inventory& inventory);
// Whatever is applied next is sent, though it is what was applied before (U8).
void ForgetFields(kube::Inventory& inventory);

// Whether anything of the render isn't what was applied: then there is something to announce, and to send.
bool Differs(const kube::Inventory& before, const kube::Inventory& merged,
             const std::vector<kube::Manifest>& manifests);

using lifecycle::KeepsOthers;

// What a deletion with KeepsOthers did, for events: adds the ids of what was asked to go, and of what is kept, with
// why.
void TellDeleted(const std::vector<kube::Change>& changes, std::vector<std::string>& removed,
                 std::vector<std::string>& kept);

}  // namespace capi::ops
