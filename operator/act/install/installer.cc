#include "operator/act/install/installer.h"

#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "kube/client/status_error.h"
#include "lifecycle/clusterctl_inventory.h"
#include "operator/act/certificates/handing_over.h"
#include "operator/act/install/installation.h"
#include "operator/act/known_secrets.h"
#include "operator/act/rebuild.h"
#include "operator/act/restorer.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/pause.h"
#include "operator/decide/rollout.h"
#include "operator/decide/rules.h"
#include "operator/decide/upgrades/policy.h"
#include "operator/report/announce.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;

// The way back is to what was applied then (U5): what the spec asks for is the failed version's.
std::string WantedDigest(const Observation& o, bool rollback) {
  if (!rollback) return o.provider.spec.fetch_config ? o.provider.spec.fetch_config->digest : "";
  const api::HistoryEntry* good = LastGood(o.provider.status, o.provider.status.history.front());
  return good == nullptr ? "" : good->digest;
}

constexpr size_t kMostBeforeDetails = 600;

api::HistoryEntry NewRollout(const Observation& o, const std::string& inputs, const Candidate& candidate) {
  return BeginRollout(o, inputs, candidate.version.ToString(), candidate.contract, candidate.digest);
}

std::string ReconcileAt(const Observation& o) {
  auto annotation = o.provider.annotations.find(std::string(api::kAnnotationReconcileAt));
  return annotation == o.provider.annotations.end() ? "" : annotation->second;
}

}  // namespace

Installer::Installer(Needs needs)
    : needs_(needs),
      applier_(needs.client, TrackedApply(needs.observer.tracks()), CertifierFor(needs.settings, needs.certifier)),
      newest_(needs.client, needs.sources) {}

// Which release the texts are, and which they are to be.
void Installer::Identify(const Observation& o, Installation& m) {
  Candidate& candidate = m.candidate;
  candidate.version = m.release.version;
  candidate.source = m.release.source;
  candidate.digest = m.release.Digest();
  candidate.wanted_digest = WantedDigest(o, candidate.rollback);
}

// What can be told from the texts: the right file, the right series and contract.
std::optional<Hold> Installer::Inspect(const Observation& o, Installation& m) {
  Candidate& candidate = m.candidate;
  if (auto refused = CheckInstall(InstallRule::Stage::kComponents, o, candidate)) {
    m.wrong_file = true;
    return refused;
  }
  auto metadata = api::Metadata::Parse(m.release.metadata, o.provider.id.name);
  if (!metadata.ok()) candidate.metadata_error = metadata.error().With(candidate.source);
  if (auto hold = CheckInstall(InstallRule::Stage::kMetadata, o, candidate)) return hold;
  candidate.metadata = std::move(*metadata);
  if (auto hold = CheckInstall(InstallRule::Stage::kRelease, o, candidate)) return hold;
  candidate.contract = *candidate.metadata.ContractOf(candidate.version);
  return std::nullopt;
}

// The others judge by the contract that this provider is to have, and this one by theirs (C3): first it says its own,
// then it looks at theirs, so that of two that move at once at least one sees the other.
std::optional<Hold> Installer::Gate(const Context& ctx, Observation& o, Installation& m) {
  // U13: it was of the installed contract when it was looked at; nobody is told of another one now.
  if (o.chosen && m.candidate.contract != o.provider.status.contract) {
    return NotInstalled(reason::kCAPIVersionIncompatibility,
                        Error{Code::kFailedPrecondition,
                              fmt::format("{} has contract {}: spec.upgradePolicy stays within {}, which is installed",
                                          m.candidate.source, m.candidate.contract, o.provider.status.contract),
                              {}});
  }
  bool news = m.candidate.contract != o.provider.status.contract || (!o.provider.spec.paused && AppliesAtZero(o));
  if (VersionPending(o.provider) && news) {
    auto written = AnnounceContract(ctx, needs_.writer, o.provider, m.candidate.contract);
    if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
  }
  auto others = needs_.observer.ObserveSiblings(ctx, o.provider.id.Key(), o);
  if (!others.ok()) return NotAnswered(others.error());
  return CheckInstall(InstallRule::Stage::kContract, o, m.candidate);
}

Result<Rendered> Installer::RenderInTurn(const Context& ctx, const Observation& o, Installation& m, RenderInputs inputs,
                                         const lifecycle::KindScopes& scopes) {
  auto turn = TRY(rendering_.Take(ctx));
  auto rendered = RenderManifests(o, m.release, std::move(inputs), needs_.settings);
  // The texts are no longer needed, and the trees are gone: give their pages back before the next provider's come.
  if (!m.fetched && scopes.settled()) std::string().swap(m.release.components);
  malloc_trim(0);
  return rendered;
}

// The cluster is asked outside of the turn: whatever it takes, the others go on (I8).
Result<Rendered> Installer::RenderRight(const Context& ctx, const Observation& o, Installation& m,
                                        const RenderInputs& inputs) {
  lifecycle::KindScopes scopes(needs_.client.mapper(), o.inventory);
  auto with_scopes = [&] {
    RenderInputs asked = inputs;
    asked.cluster_scoped = scopes.Lookup();
    return asked;
  };
  Rendered rendered = TRY(RenderInTurn(ctx, o, m, with_scopes(), scopes));
  // Also of a render that failed: it may be right with what the cluster says.
  bool right = TRY_WITH(scopes.Settle(ctx), "asking which kinds have a namespace");
  if (!right) {
    rendered = {};
    rendered = TRY(RenderInTurn(ctx, o, m, with_scopes(), scopes));
  }
  if (!m.fetched) std::string().swap(m.release.components);
  return rendered;
}

std::optional<Hold> Installer::Render(const Context& ctx, const Observation& o, Installation& m) {
  PhaseTimer timer(*ctx.clock, m.times, Phase::kRender);
  auto inputs = ReadRenderInputs(ctx.InOwnName(), needs_.client, o);
  if (!inputs.ok()) return InputsHold(inputs.error());
  auto done = RenderRight(ctx, o, m, *inputs);
  if (!done.ok()) return NotAnswered(done.error());
  Rendered& rendered = *done;
  m.manifests = std::move(rendered.manifests);
  std::vector<kube::ObjectId> ids;
  for (const auto& manifest : m.manifests) ids.push_back(manifest.id);
  auto cached = needs_.cache.Get(o.provider.id.Key());
  m.secrets = std::make_shared<const SecretValues>(WithoutKnown(std::move(rendered.secrets), ids, cached.get()));
  needs_.masks.Add(o.provider.id.Key(), *m.secrets);
  if (rendered.hold) return rendered.hold;
  auto hashed = needs_.key.HashSecrets(ctx, m.manifests, *m.secrets);
  if (!hashed.ok()) return NotAnswered(hashed.error());
  m.manifests.push_back(lifecycle::EntryManifest(o.provider.id, m.candidate.version.ToString()));
  m.warnings = std::move(rendered.warnings);
  if (rendered.namespace_labels.empty()) return std::nullopt;
  auto ns = needs_.client.Get(ctx.InOwnName(), kube::Builtin("Namespace"), "", o.provider.id.ns);
  if (!ns.ok()) return NotAnswered(ns.error());
  std::string missing = MissingNamespaceLabels(*ns, rendered.namespace_labels);
  if (!missing.empty()) m.warnings.push_back(missing);
  return std::nullopt;
}

// A release that comes from the network lies in the cluster before anything of it is applied (I14).
std::optional<Hold> Installer::Store(const Context& ctx, const Observation& o, Installation& m) {
  if (!m.fetched) return std::nullopt;
  // What is there of that version may be of another source (T12), have another digest (T2) or not be signed (T14).
  auto stored = releases::ReplaceRelease(ctx.InOwnName(), needs_.client, o.provider, m.release);
  if (!stored.ok()) return NotAccepted(reason::kComponentsFetchError, stored.error());
  m.stored = *stored;
  needs_.observer.Remember(o.provider.id.Key(), *stored);
  std::string().swap(m.release.components);
  m.inputs = InputsDigest(o, m.candidate.version, m.stored->stamp);
  return std::nullopt;
}

// For what is applied in several passes (U2), or restored later (D1).
void Installer::KeepRender(const Observation& o, const std::string& inputs, const Installation& m) {
  needs_.rendered.Put(o.provider.id.Key(), inputs, m.manifests, m.Facts());
}

// Old and new together, before the first apply: whatever happens from here on, every object of ours is known (U7), and
// so is that a change has begun, and when.
std::optional<Hold> Installer::Announce(const Context& ctx, Observation& o, Installation& m) {
  if (auto hold = Store(ctx, o, m)) return hold;
  auto entries = lifecycle::EnsureEntryCrd(ctx.InOwnName(), needs_.client);
  if (!entries.ok()) return NotAnswered(entries.error());
  if (!m.cached) {
    KeepRender(o, InputsDigest(o, m.candidate.version, m.stored ? m.stored->stamp : ""), m);
    // Here an apply of its values begins. RenderAgain begins none: what is secret since the last one stays so (I7).
    needs_.masks.ApplyBegins(o.provider.id.Key(), m.secrets);
  }
  LeaveReplicas(o, m.manifests);
  bool decided = m.found || IsAnnounced(o.provider.status, m.inputs, m.candidate.rollback);
  m.inventory = MergeInventory(m.found ? *m.found : o.inventory, m.manifests, decided);
  if (!o.builtin_certificates) LeaveToCertManager(m.manifests, m.inventory);
  if (o.former && o.builtin_certificates) {
    auto added = AddLiveRequests(ctx, needs_.client, m.manifests, m.inventory);
    if (!added.ok()) return NotAnswered(added.error());
  }
  m.changes = Differs(o.inventory, m.inventory, m.manifests);
  DropGone(o, m.manifests, m.inventory);  // after that: it makes no change of what is applied
  if (m.changes) {
    if (auto hold = AnnounceChange(ctx, o, m)) return hold;
  }
  return std::nullopt;
}

// In one write, before the first of the change itself.
std::optional<Hold> Installer::AnnounceChange(const Context& ctx, Observation& o, Installation& m) {
  api::HistoryEntry rollout = m.candidate.rollback ? RollbackEntry(o) : NewRollout(o, m.inputs, m.candidate);
  auto written = ops::AnnounceChange(ctx, needs_.writer, o.provider, m.inventory, rollout);
  if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
  m.rollout = std::move(rollout);  // now it has begun
  return std::nullopt;
}

// Everything, or what the old pods can live with: then the rest follows when they are gone (U2).
std::optional<Hold> Installer::Apply(const Context& ctx, Observation& o, Installation& m, Done& done) {
  PhaseTimer timer(*ctx.clock, m.times, Phase::kApply);
  if (m.first || RolledOut(m.manifests, m.before, o.fleet)) {
    auto last = m.first ? std::vector<kube::Manifest>() : TakeSwitchingCrds(m.manifests, m.before, m.live);
    if (auto hold = ApplyPart(ctx, o, m.manifests, m, done)) return hold;
    if (!last.empty()) {
      if (auto hold = ApplyPart(ctx, o, last, m, done)) return hold;
    }
    Complete(ctx, o, m, done);
    return std::nullopt;
  }
  StagePlan plan = PlanStages(std::move(m.manifests), m.before, m.live);
  if (auto hold = ApplyPart(ctx, o, plan.now, m, done)) return hold;
  if (plan.later == 0) {
    Complete(ctx, o, m, done);
    return std::nullopt;
  }
  ctx.log.Info("applied what the old pods can live with",
               {{"version", m.candidate.version.ToString()}, {"objects", plan.now.size()}, {"later", plan.later}});
  done.rollout = m.rollout ? *m.rollout : NewRollout(o, m.inputs, m.candidate);
  MarkSent(*done.rollout, m.candidate.rollback);
  if (done.fleet->rolled_out()) done.again_after = Millis(0);
  return std::nullopt;
}

std::optional<Hold> Installer::ApplyPart(const Context& ctx, Observation& o, const std::vector<kube::Manifest>& part,
                                         Installation& m, Done& done) {
  std::vector<kube::Change> changes;
  Mutex mu;
  // Old pods that serve on are known before their Deployment goes (U7, U9); Prune removes them.
  auto left_behind = [&](const std::vector<kube::ObjectId>& replica_sets) -> Status {
    MutexLock lock(mu);
    for (const auto& id : replica_sets) m.inventory.Put(id, {"v1", "", "", true});
    return AnnounceInventory(ctx, needs_.writer, o.provider, m.inventory);
  };
  // For this apply alone: what fails is still to be found to have drifted, and to be sent.
  kube::Inventory current = m.inventory;
  ForgetDrifted(o, current);
  if (m.forced) ForgetFields(current);
  auto applied = applier_.Apply(ctx, o.provider.id, part, current, changes, left_behind);
  for (const auto& change : changes) {
    if (change.action != kube::Change::Action::kFailed) m.inventory.Put(change.id, change.entry);
  }
  const std::string key = o.provider.id.Key();
  bool all_known = warnings_.Note(key, changes, m.inventory);
  done.inventory = m.inventory;
  if (all_known || !AreTold(o.provider.status, m.warnings)) {
    done.warnings = m.warnings;
    warnings_.AddTo(key, *done.warnings);
  }
  if (m.forced && applied.ok()) done.handled_reconcile_at = ReconcileAt(o);
  if (!applied.ok()) return NotTaken(reason::kInstallFailed, kube::AnyRefused(changes), applied.error());
  auto fleet = needs_.observer.ObserveFleet(ctx, o.provider.id.Key(), m.inventory);
  if (!fleet.ok()) return NotTaken(reason::kInstallFailed, !kube::IsOutage(fleet.error()), fleet.error());
  done.fleet = *fleet;
  return std::nullopt;
}

// Every object is sent.
void Installer::Complete(const Context& ctx, const Observation& o, Installation& m, Done& done) {
  done.contract = m.candidate.contract;
  done.installed_version = m.candidate.version.ToString();
  done.source = m.candidate.source;
  done.release_digest = m.candidate.digest;
  needs_.masks.ApplyEnds(o.provider.id.Key());
  ctx.log.Info("applied", {{"version", *done.installed_version}, {"rollback", m.candidate.rollback}});
  if (m.candidate.rollback) {
    done.applied = "";
    done.rollout = m.rollout ? *m.rollout : RollbackEntry(o);
    done.rollout->outcome = api::outcome::kRolledBack;
    done.hold = RolledBackHold(*done.rollout, *done.installed_version);
    return;
  }
  done.applied = m.inputs;
  bool known = !o.provider.status.history.empty() && !m.changes;
  done.rollout = m.rollout;
  if (!known && !done.rollout) {
    done.rollout = NewRollout(o, m.inputs, m.candidate);
  }
  if (done.rollout) MarkSent(*done.rollout, /*rollback=*/false);
}

// When the workloads of an upgrade have rolled out, what the first pass rendered still counts (U2).
bool Installer::TakeLastRender(const Observation& o, Installation& m) {
  const std::string key = o.provider.id.Key(), inputs = InputsDigest(o);
  const api::HistoryEntry* rollout = RolloutOf(o.provider.status, inputs);
  const StoredRelease* stored = WantedRelease(o);
  if (rollout == nullptr || rollout->outcome != api::outcome::kRollingOut || stored == nullptr) return false;
  // With the keys of now (T14): what was verified with one that is taken away counts no more, also in the middle.
  auto facts = needs_.rendered.Facts(key, inputs);
  auto manifests = needs_.rendered.All(key, inputs);
  if (!facts || !manifests) return false;
  auto version = api::Version::Parse(facts->version);
  if (!version.ok()) return false;
  m.stored = *stored;
  m.candidate.version = *version;
  m.candidate.source = std::move(facts->source);
  m.candidate.contract = std::move(facts->contract);
  m.candidate.digest = std::move(facts->digest);
  m.warnings = std::move(facts->warnings);
  m.manifests = std::move(*manifests);
  return true;
}

Done Installer::Install(const Context& ctx, Observation o, const std::string& rollback_to) {
  Done done = Run(ctx, o, rollback_to);
  done.now = std::move(o);
  return done;
}

Done Installer::Run(const Context& ctx, Observation& o, const std::string& rollback_to) {
  Installation m;
  Done done;
  m.candidate.rollback = !rollback_to.empty();
  m.forced =
      !m.candidate.rollback && !ReconcileAt(o).empty() && ReconcileAt(o) != o.provider.status.handled_reconcile_at;
  if (m.candidate.rollback) {
    // Whatever has changed since, it is that change which is taken back.
    m.inputs = IsChoiceGoingBack(o) ? o.provider.status.history.front().inputs : InputsDigest(o);
    o.provider.spec.version = rollback_to;
  }
  std::optional<Hold> held = [&]() -> std::optional<Hold> {
    done.loaded = m.cached = !m.candidate.rollback && !m.forced && TakeLastRender(o, m);
    if (!m.cached) {
      if (auto hold = Resolve(ctx, o, m)) return hold;
      if (auto hold = Load(ctx, o, m)) return hold;
      done.loaded = true;
      if (auto hold = Inspect(o, m)) return hold;
      if (auto hold = Gate(ctx, o, m)) return hold;
      if (auto hold = Render(ctx, o, m)) return hold;
    }
    if (auto hold = CheckCluster(ctx, o, m)) return hold;
    if (auto hold = Announce(ctx, o, m)) return hold;
    return Apply(ctx, o, m, done);
  }();
  KeepFetched(ctx, o, m);
  done.times = m.times;
  if (!held) return done;
  // A rollback that can't begin: the failure is held instead, and remembered. What is refused of one that has begun, or
  // of the release that runs since, is tried again: the failed release must not come back.
  const bool lacks_rights = held->reason == reason::kPermissionsMissing;  // somebody may give them (T3)
  bool terminal = held->retry == Retry::kOnChange || (held->retry == Retry::kRefused && !lacks_rights);
  bool begun = m.rollout || IsAnnounced(o.provider.status, m.inputs, /*rollback=*/true);
  // Before anything is cut off: of half a value nobody knows that it is secret (I7). What pods say has been hidden.
  if (m.candidate.rollback && !begun) held->message = needs_.masks.Hide(o.provider.id.Key(), held->message);
  if (m.candidate.rollback && !begun && !terminal) {
    done.rollout = EndTime(o);
    // Before details there is room for less, and what pods say is only half of it.
    const std::string& failure = done.rollout->message;
    held->message =
        fmt::format("{}; it is rolled back to {} when that can be: {}",
                    held->details.empty() ? failure : Shorten(failure, kMostBeforeDetails), rollback_to, held->message);
  }
  if (m.candidate.rollback && !begun && terminal) {
    GivenUp given_up = GiveUpRollout(o, o.fleet, fmt::format("{} can't be installed: {}", rollback_to, held->message));
    done = Done{
        .hold = std::move(given_up.hold), .fleet = o.fleet, .rollout = std::move(given_up.entry), .times = m.times};
  } else if (!done.hold) {
    // The next pass gives it up, or rolls it back.
    if (!m.candidate.rollback && IsRefusedTooLate(o, held->reason)) {
      done.rollout = EndTime(o);
      done.again_after = Millis(0);
    }
    done.hold = held;
  }
  return done;
}

Done Installer::Prune(const Context& ctx, const Observation& o) {
  Done done;
  std::vector<kube::ObjectId> stale;
  kube::Inventory inventory = o.inventory;
  for (const auto& [id, entry] : o.inventory.entries()) {
    if (!entry.stale) continue;
    stale.push_back(id);
  }
  std::vector<kube::Change> changes;
  auto removed = applier_.Delete(ctx, o.provider.id, stale, KeepsOthers(o.provider.id), changes);
  for (const auto& change : changes) {
    if (change.action != kube::Change::Action::kFailed) inventory.Remove(change.id);
  }
  TellDeleted(changes, done.removed, done.kept);
  done.inventory = inventory;
  if (!removed.ok()) done.hold = NotAccepted(reason::kOldComponentsDeletionError, removed.error());
  done.again = removed.ok();  // what comes after it waits for no event: nothing watches the kinds that just went
  return done;
}

}  // namespace capi::ops
