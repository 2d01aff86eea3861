#include "operator/act/install/installer.h"

#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "operator/act/install/materials.h"
#include "operator/act/known_secrets.h"
#include "operator/act/rebuild.h"
#include "operator/act/restorer.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/pause.h"
#include "operator/decide/rollout.h"
#include "operator/decide/rules.h"
#include "operator/observe/clusterctl_inventory.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

Hold NotInstalled(std::string_view why, const Error& error) {
  return HoldFor(std::string(condition::kProviderInstalled), std::string(why), error);
}

// The API server said no, or nothing.
Hold NotAccepted(std::string_view why, const Error& error) {
  return ServerHold(std::string(condition::kProviderInstalled), std::string(why), error);
}

// What was read from the API server: its refusal, or a fault of what it gave, which a change of that ends.
Hold NotRead(std::string_view why, const Error& error) {
  return error.code == Code::kInvalidArgument ? NotInstalled(why, error) : NotAccepted(why, error);
}

// Contracts that a version may have, the preferred first (I3).
std::vector<std::string> WantedContracts(const Observation& o) {
  bool core = o.provider.id.type == api::ProviderType::kCore;
  std::vector<std::string> contracts =
      core || !o.core ? api::KnownContracts() : api::AcceptedBy(o.core->status.contract);
  std::sort(contracts.begin(), contracts.end(), [](const std::string& a, const std::string& b) {
    auto known = api::KnownContracts();
    return std::find(known.begin(), known.end(), a) > std::find(known.begin(), known.end(), b);
  });
  return contracts;
}

std::string_view FetchReason(const Error& error) {
  switch (error.code) {
    case Code::kRateLimited: return reason::kRateLimited;
    case Code::kUnavailable:
    case Code::kDeadlineExceeded: return reason::kSourceUnreachable;
    case Code::kUnauthenticated:
    case Code::kPermissionDenied: return reason::kSourceCredentialsRejected;
    case Code::kFailedPrecondition: return reason::kVerificationFailed;
    default: return reason::kComponentsFetchError;
  }
}

// A source that doesn't have a version (`not_found`: or none at all) may have it later (a release is published, a
// ConfigMap applied): look again now and then.
Hold FetchHold(const Error& error, std::string_view not_found) {
  Hold hold = NotInstalled(error.code == Code::kNotFound ? not_found : FetchReason(error), error);
  if (error.code == Code::kNotFound && hold.retry == Retry::kOnChange) {
    hold.retry = Retry::kAt;
    hold.after = std::chrono::minutes(10);
  }
  // T6: the same wrong file as a rule; but nobody tells when the right one is there.
  if (error.code == Code::kFailedPrecondition) hold.retry = Retry::kRefused;
  return hold;
}

// The way back is to what was applied then (U5): what the spec asks for is the failed version's.
std::string WantedDigest(const Observation& o, bool rollback) {
  if (!rollback) return o.provider.spec.fetch_config ? o.provider.spec.fetch_config->digest : "";
  const api::HistoryEntry* good = LastGood(o.provider.status, o.provider.status.history.front());
  return good == nullptr ? "" : good->digest;
}

bool HasSelector(const Observation& o) {
  return o.provider.spec.fetch_config && o.provider.spec.fetch_config->selector.has_value();
}

Hold NothingSelected(const Observation& o) {
  return Hold{std::string(condition::kProviderInstalled), std::string(reason::kNoReleaseFound),
              fmt::format("no ConfigMaps found with selector {} in namespace {}: create one with the keys metadata and "
                          "components; this provider then goes on",
                          ToJsonText(*o.provider.spec.fetch_config->selector), o.provider.id.ns),
              Retry::kWaiting};
}

Hold VersionNotStored(const Observation& o) {
  std::vector<std::string> found;
  for (const auto& release : o.releases) found.push_back(release.version_text);
  return Hold{std::string(condition::kProviderInstalled), std::string(reason::kVersionNotFound),
              fmt::format("none of the ConfigMaps that the selector finds in namespace {} has version {}; there are {}",
                          o.provider.id.ns, o.provider.spec.version, JoinNames(found, 10)),
              Retry::kWaiting};
}

std::string ReconcileAt(const Observation& o) {
  auto annotation = o.provider.annotations.find(std::string(api::kAnnotationReconcileAt));
  return annotation == o.provider.annotations.end() ? "" : annotation->second;
}

}  // namespace

Installer::Installer(Needs needs)
    : needs_(needs), applier_(needs.client, {.field_manager = std::string(api::kFieldManager)}) {}

Result<std::string> Installer::GitHubToken(const Context& ctx, const Observation& o) {
  if (!o.config_secret || !o.config_secret->exists) return std::string();
  Secret secret = TRY(ReadSecret(ctx, needs_.client, o.config_secret->ref));
  return secret.contains("github-token") ? secret.at("github-token") : std::string();
}

// spec.version, or the one that fits, and where that release lies.
std::optional<Hold> Installer::Resolve(const Context& ctx, Observation& o, Installation& m) {
  if (HasSelector(o)) {
    if (o.releases.empty()) return NothingSelected(o);
    if (o.provider.spec.version.empty()) {
      auto repository = StoredRepository(needs_.client, o.releases, "the selected ConfigMaps");
      if (auto hold = PickVersion(ctx, o, *repository)) return hold;
    }
    const StoredRelease* stored = WantedRelease(o);
    if (stored == nullptr) return VersionNotStored(o);
    m.stored = *stored;
    return std::nullopt;
  }
  if (!o.provider.spec.version.empty() && !m.forced) {
    if (const StoredRelease* stored = WantedRelease(o)) {
      m.stored = *stored;
      return std::nullopt;
    }
  }
  auto token = GitHubToken(ctx, o);
  if (!token.ok()) return NotAccepted(reason::kAPIServerUnavailable, token.error());
  auto repository = needs_.sources.Open(o.provider, *token);
  if (!repository.ok()) return NotInstalled(reason::kFetchConfigValidationError, repository.error());
  m.repository = std::move(repository).value();
  if (!o.provider.spec.version.empty()) return std::nullopt;
  if (auto hold = PickVersion(ctx, o, *m.repository)) return hold;
  if (const StoredRelease* stored = WantedRelease(o); stored != nullptr && !m.forced) m.stored = *stored;
  return std::nullopt;
}

std::optional<Hold> Installer::PickVersion(const Context& ctx, Observation& o, fetch::Repository& repository) {
  auto version = fetch::LatestVersion(ctx, repository, WantedContracts(o));
  if (!version.ok()) return FetchHold(version.error().With("choosing a version"), reason::kNoReleaseFound);
  ctx.log.Info("chose a version", {{"version", version->ToString()}, {"from", repository.Describe()}});
  auto written = needs_.writer.WriteVersion(ctx, o.provider, version->ToString());
  if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
  auto cached = needs_.cache.Get(o.provider.id.Key());
  if (cached) o.provider = *cached->provider;
  o.provider.spec.version = version->ToString();
  return std::nullopt;
}

// The texts of the release: from the cluster, else from its source, and then into the cluster (I14).
std::optional<Hold> Installer::Load(const Context& ctx, const Observation& o, Installation& m) {
  if (m.stored) {
    auto release = ReadRelease(ctx, needs_.client, *m.stored);
    if (!release.ok()) return NotRead(reason::kComponentsFetchError, release.error());
    m.release = std::move(release).value();
    return std::nullopt;
  }
  return Fetch(ctx, o, m);
}

std::optional<Hold> Installer::Fetch(const Context& ctx, const Observation& o, Installation& m) {
  auto version = api::Version::Parse(o.provider.spec.version);
  if (!version.ok()) return NotInstalled(reason::kIncorrectVersionFormat, version.error());
  if (auto kept = fetched_.Get(o.provider.id.Key(), InputsDigest(o, *version, ""), ctx.clock->Monotonic())) {
    m.release = std::move(*kept);
    m.fetched = m.remembered = true;
    return std::nullopt;
  }
  auto release = fetch::GetRelease(ctx, *m.repository, *version);
  if (!release.ok()) return FetchHold(release.error().With(m.repository->Describe()), reason::kVersionNotFound);
  m.release = std::move(release).value();
  m.fetched = true;
  ctx.log.Info("fetched", {{"release", m.release.source}, {"bytes", m.release.components.size()}});
  return std::nullopt;
}

// For the next look, where something holds the installation back before the release is stored. A folder is read anew.
void Installer::KeepFetched(const Context& ctx, const Observation& o, const Installation& m) {
  const std::string key = o.provider.id.Key();
  if (m.stored) fetched_.Drop(key);
  if (!m.fetched || m.stored || m.remembered || m.repository->IsLocal()) return;
  fetched_.Put(key, InputsDigest(o, m.release.version, ""), m.release, ctx.clock->Monotonic());
}

// What can be told from the texts: the right file, the right series and contract.
std::optional<Hold> Installer::Inspect(const Observation& o, Installation& m) {
  m.digest = m.release.Digest();
  auto metadata = api::Metadata::Parse(m.release.metadata, o.provider.id.name);
  if (!metadata.ok()) return NotInstalled(reason::kInvalidMetadata, metadata.error().With(m.release.source));
  m.candidate = {m.release.version, m.release.source, m.digest, WantedDigest(o, m.rollback), std::move(*metadata)};
  m.candidate.rollback = m.rollback;
  if (auto hold = CheckInstall(InstallRule::Stage::kRelease, o, m.candidate)) return hold;
  m.contract = m.candidate.contract = *m.candidate.metadata.ContractOf(m.release.version);
  return std::nullopt;
}

// The others judge by the contract that this provider is to have, and this one by theirs (C3): first it says its own,
// then it looks at theirs, so that of two that move at once at least one sees the other.
std::optional<Hold> Installer::Gate(const Context& ctx, Observation& o, Installation& m) {
  api::ProviderStatus status = o.provider.status;
  bool news = m.contract != status.contract || (!o.provider.spec.paused && AppliesAtZero(o));
  if (VersionPending(o.provider) && news) {
    status.desired_version = o.provider.spec.version;
    status.desired_contract = m.contract;
    auto written = needs_.writer.WriteStatus(ctx, o.provider, status);
    if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
  }
  auto others = needs_.observer.ObserveSiblings(ctx, o.provider.id.Key(), o);
  if (!others.ok()) return NotAccepted(reason::kAPIServerUnavailable, others.error());
  return CheckInstall(InstallRule::Stage::kContract, o, m.candidate);
}

Result<Rendered> Installer::RenderInTurn(const Context& ctx, const Observation& o, Installation& m, RenderInputs inputs,
                                         const KindScopes& scopes) {
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
  KindScopes scopes(needs_.client.mapper());
  auto with_scopes = [&] {
    RenderInputs asked = inputs;
    asked.cluster_scoped = scopes.Lookup();
    return asked;
  };
  Rendered rendered = TRY(RenderInTurn(ctx, o, m, with_scopes(), scopes));
  bool right = rendered.hold || TRY_WITH(scopes.Settle(ctx), "asking which kinds have a namespace");
  if (!right) {
    rendered = {};
    rendered = TRY(RenderInTurn(ctx, o, m, with_scopes(), scopes));
  }
  if (!m.fetched) std::string().swap(m.release.components);
  return rendered;
}

std::optional<Hold> Installer::Render(const Context& ctx, const Observation& o, Installation& m) {
  auto inputs = ReadRenderInputs(ctx, needs_.client, o);
  if (!inputs.ok()) return InputsHold(inputs.error());
  auto done = RenderRight(ctx, o, m, *inputs);
  if (!done.ok()) return NotAccepted(reason::kAPIServerUnavailable, done.error());
  Rendered& rendered = *done;
  m.manifests = std::move(rendered.manifests);
  std::vector<kube::ObjectId> ids;
  for (const auto& manifest : m.manifests) ids.push_back(manifest.id);
  auto cached = needs_.cache.Get(o.provider.id.Key());
  const SecretValues secrets = WithoutKnown(std::move(rendered.secrets), ids, cached.get());
  needs_.masks.Put(o.provider.id.Key(), secrets);
  if (rendered.hold) return rendered.hold;
  auto hashed = needs_.key.HashSecrets(ctx, m.manifests, secrets);
  if (!hashed.ok()) return NotAccepted(reason::kAPIServerUnavailable, hashed.error());
  m.manifests.push_back(EntryManifest(o.provider.id, m.release.version.ToString()));
  m.warnings = std::move(rendered.warnings);
  if (rendered.namespace_labels.empty()) return std::nullopt;
  auto ns = needs_.client.Get(ctx, kube::Builtin("Namespace"), "", o.provider.id.ns);
  if (!ns.ok()) return NotAccepted(reason::kAPIServerUnavailable, ns.error());
  std::string missing = MissingNamespaceLabels(*ns, rendered.namespace_labels);
  if (!missing.empty()) m.warnings.push_back(missing);
  return std::nullopt;
}

// A release that comes from the network lies in the cluster before anything of it is applied (I14).
std::optional<Hold> Installer::Store(const Context& ctx, const Observation& o, Installation& m) {
  if (!m.fetched) return std::nullopt;
  auto stored = m.forced ? ReplaceRelease(ctx, needs_.client, o.provider, m.release)
                         : StoreRelease(ctx, needs_.client, o.provider, m.release);
  if (!stored.ok()) return NotAccepted(reason::kComponentsFetchError, stored.error());
  m.stored = *stored;
  needs_.observer.Remember(o.provider.id.Key(), *stored);
  std::string().swap(m.release.components);
  m.inputs = InputsDigest(o, m.release.version, m.stored->stamp);
  return std::nullopt;
}

// Old and new together, before the first apply: whatever happens from here on, every object of ours is known (U7), and
// so is that a change has begun, and when.
std::optional<Hold> Installer::Announce(const Context& ctx, Observation& o, Installation& m) {
  if (auto hold = Store(ctx, o, m)) return hold;
  auto entries = EnsureEntryCrd(ctx, needs_.client);
  if (!entries.ok()) return NotAccepted(reason::kAPIServerUnavailable, entries.error());
  if (!m.cached) {
    needs_.rendered.Put(o.provider.id.Key(), InputsDigest(o, m.release.version, m.stored ? m.stored->stamp : ""),
                        m.manifests,
                        {m.release.version.ToString(), m.contract, m.release.source, m.digest, m.warnings});
  }
  LeaveReplicas(o, m.manifests);
  bool decided = m.found || IsAnnounced(o.provider.status, m.inputs, m.rollback);
  m.inventory = MergeInventory(m.found ? *m.found : o.inventory, m.manifests, decided);
  m.changes = Differs(o.inventory, m.inventory, m.manifests);
  if (m.changes) {
    if (auto hold = AnnounceChange(ctx, o, m)) return hold;
  }
  ForgetDrifted(o, m.inventory);
  if (m.forced) ForgetFields(m.inventory);
  return std::nullopt;
}

// In one write, before the first of the change itself.
std::optional<Hold> Installer::AnnounceChange(const Context& ctx, Observation& o, Installation& m) {
  m.rollout = BeginRollout(o, m.inputs, m.release.version.ToString(), m.contract, m.digest);
  if (m.rollback) m.rollout = RollbackEntry(o);
  api::ProviderStatus status = o.provider.status;
  status.inventory = m.inventory.ToJson();
  status.applied = "";
  PutEntry(status.history, *m.rollout);
  auto written = needs_.writer.WriteStatus(ctx, o.provider, status);
  if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
  return std::nullopt;
}

// Everything, or what the old pods can live with: then the rest follows when they are gone (U2).
std::optional<Hold> Installer::Apply(const Context& ctx, Observation& o, Installation& m, Done& done) {
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
               {{"version", m.release.version.ToString()}, {"objects", plan.now.size()}, {"later", plan.later}});
  done.rollout = m.rollout ? *m.rollout : BeginRollout(o, m.inputs, m.release.version.ToString(), m.contract, m.digest);
  done.rollout->outcome = m.rollback ? api::outcome::kRollingBack : api::outcome::kRollingOut;
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
    api::ProviderStatus status = o.provider.status;
    status.inventory = m.inventory.ToJson();
    return needs_.writer.WriteStatus(ctx, o.provider, status);
  };
  const kube::Inventory current = m.inventory;
  auto applied = applier_.Apply(ctx, part, current, changes, left_behind);
  needs_.observer.tracks().ExpectWritten(changes);
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
  if (!applied.ok()) return NotAccepted(reason::kInstallFailed, applied.error());
  auto fleet = needs_.observer.ObserveFleet(ctx, o.provider.id.Key(), m.inventory);
  if (!fleet.ok()) return NotAccepted(reason::kAPIServerUnavailable, fleet.error());
  done.fleet = *fleet;
  return std::nullopt;
}

// Every object is sent.
void Installer::Complete(const Context& ctx, const Observation& o, Installation& m, Done& done) {
  done.contract = m.contract;
  done.installed_version = m.release.version.ToString();
  done.source = m.release.source;
  done.release_digest = m.digest;
  ctx.log.Info("applied", {{"version", *done.installed_version}, {"rollback", m.rollback}});
  if (m.rollback) {
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
    done.rollout = BeginRollout(o, m.inputs, m.release.version.ToString(), m.contract, m.digest);
  }
  if (done.rollout) done.rollout->outcome = api::outcome::kRollingOut;
}

// When the workloads of an upgrade have rolled out, what the first pass rendered still counts (U2).
bool Installer::TakeLastRender(const Observation& o, Installation& m) {
  const std::string key = o.provider.id.Key(), inputs = InputsDigest(o);
  const api::HistoryEntry* rollout = RolloutOf(o.provider.status, inputs);
  const StoredRelease* stored = WantedRelease(o);
  if (rollout == nullptr || rollout->outcome != api::outcome::kRollingOut || stored == nullptr) return false;
  auto facts = needs_.rendered.Facts(key, inputs);
  auto manifests = needs_.rendered.All(key, inputs);
  if (!facts || !manifests) return false;
  auto version = api::Version::Parse(facts->version);
  if (!version.ok()) return false;
  m.stored = *stored;
  m.release.version = *version;
  m.release.source = facts->source;
  m.contract = facts->contract;
  m.digest = facts->digest;
  m.warnings = std::move(facts->warnings);
  m.manifests = std::move(*manifests);
  return true;
}

Done Installer::Install(const Context& ctx, Observation& o, const std::string& rollback_to) {
  Installation m;
  Done done;
  m.rollback = !rollback_to.empty();
  m.forced = !m.rollback && !ReconcileAt(o).empty() && ReconcileAt(o) != o.provider.status.handled_reconcile_at;
  if (m.rollback) {
    m.inputs = InputsDigest(o);
    o.provider.spec.version = rollback_to;
  }
  std::optional<Hold> hold = [&]() -> std::optional<Hold> {
    m.cached = !m.rollback && !m.forced && TakeLastRender(o, m);
    if (!m.cached) {
      if (auto hold = Resolve(ctx, o, m)) return hold;
      if (auto hold = Load(ctx, o, m)) return hold;
      if (auto hold = Inspect(o, m)) return hold;
      if (auto hold = Gate(ctx, o, m)) return hold;
      if (auto hold = Render(ctx, o, m)) return hold;
    }
    if (auto hold = CheckCluster(ctx, o, m)) return hold;
    if (auto hold = Announce(ctx, o, m)) return hold;
    return Apply(ctx, o, m, done);
  }();
  KeepFetched(ctx, o, m);
  if (!hold) return done;
  // A rollback that can't be: the failure is held instead, and remembered.
  bool terminal = hold->retry == Retry::kOnChange || hold->retry == Retry::kRefused;
  bool refused = terminal && m.rollback && !m.rollout;
  if (refused) {
    GivenUp given_up = GiveUpRollout(o, o.fleet);
    given_up.hold.message += fmt::format("; it can't be rolled back to {}: {}", rollback_to, hold->message);
    given_up.entry.message = given_up.hold.message;
    done = Done{.hold = std::move(given_up.hold), .fleet = o.fleet, .rollout = std::move(given_up.entry)};
  } else if (!done.hold) {
    done.hold = hold;
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
  auto removed = applier_.Delete(ctx, stale, KeepsOthers(o.provider.id), changes);
  for (const auto& change : changes) {
    if (change.action == kube::Change::Action::kFailed) continue;
    inventory.Remove(change.id);
    if (change.action == kube::Change::Action::kUnchanged && !change.error.empty()) {
      done.kept.push_back(fmt::format("{} ({})", change.id.ToString(), change.error));
    }
    if (change.asked) done.removed.push_back(change.id.ToString());
  }
  done.inventory = inventory;
  if (!removed.ok()) done.hold = NotAccepted(reason::kOldComponentsDeletionError, removed.error());
  done.again = removed.ok();  // what comes after it waits for no event: nothing watches the kinds that just went
  return done;
}

}  // namespace capi::ops
