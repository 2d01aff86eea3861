#include "operator/installer.h"

#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>

#include "api/reasons.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "operator/contract_rules.h"
#include "operator/materials.h"
#include "operator/pause.h"
#include "operator/rebuild.h"
#include "operator/restorer.h"
#include "operator/rules.h"

namespace capi::ops {
namespace {

namespace condition = api::condition;
namespace reason = api::reason;

Hold NotInstalled(std::string_view why, const Error& error) {
  return HoldFor(std::string(condition::kProviderInstalled), std::string(why), error);
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
    case Code::kNotFound: return reason::kVersionNotFound;
    case Code::kUnauthenticated:
    case Code::kPermissionDenied: return reason::kSourceCredentialsRejected;
    default: return reason::kComponentsFetchError;
  }
}

// A source that doesn't have a version may have it later (a release is published, a ConfigMap applied): look again now
// and then.
Hold FetchHold(const Error& error) {
  Hold hold = NotInstalled(FetchReason(error), error);
  if (error.code == Code::kNotFound && hold.retry == Retry::kOnChange) {
    hold.retry = Retry::kAt;
    hold.after = std::chrono::minutes(10);
  }
  return hold;
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

// What drifted is applied again (D1). In memory alone: after a crash it is found to have drifted still.
void ForgetDrifted(const Observation& o, kube::Inventory& inventory) {
  for (const Drift& drift : o.fleet.drifts) {
    const kube::InventoryEntry* entry = inventory.Find(drift.id);
    if (entry != nullptr) inventory.Put(drift.id, {entry->version, "", "", entry->stale});
  }
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
Installer::Step Installer::Resolve(const Context& ctx, Observation& o, Material& m) {
  if (HasSelector(o)) {
    if (o.releases.empty()) return NothingSelected(o);
    if (o.provider.spec.version.empty()) {
      auto repository = StoredRepository(needs_.client, o.releases, "the selected ConfigMaps");
      if (Step hold = PickVersion(ctx, o, *repository, m)) return hold;
    }
    const StoredRelease* stored = WantedRelease(o);
    if (stored == nullptr) return VersionNotStored(o);
    m.stored = *stored;
    return std::nullopt;
  }
  if (!o.provider.spec.version.empty()) {
    if (const StoredRelease* stored = WantedRelease(o)) {
      m.stored = *stored;
      return std::nullopt;
    }
  }
  auto token = GitHubToken(ctx, o);
  if (!token.ok()) return NotInstalled(reason::kAPIServerUnavailable, token.error());
  auto repository = needs_.sources.Open(o.provider, *token);
  if (!repository.ok()) return NotInstalled(reason::kFetchConfigValidationError, repository.error());
  m.repository = std::move(repository).value();
  if (!o.provider.spec.version.empty()) return std::nullopt;
  if (Step hold = PickVersion(ctx, o, *m.repository, m)) return hold;
  if (const StoredRelease* stored = WantedRelease(o)) m.stored = *stored;
  return std::nullopt;
}

Installer::Step Installer::PickVersion(const Context& ctx, Observation& o, fetch::Repository& repository, Material&) {
  auto version = fetch::LatestVersion(ctx, repository, WantedContracts(o));
  if (!version.ok()) return FetchHold(version.error().With("choosing a version"));
  ctx.log.Info("chose a version", {{"version", version->ToString()}, {"from", repository.Describe()}});
  auto written = needs_.writer.WriteVersion(ctx, o.provider, version->ToString());
  if (!written.ok()) return NotInstalled(reason::kAPIServerUnavailable, written.error());
  auto cached = needs_.cache.Get(o.provider.id.Key());
  if (cached) o.provider = *cached->provider;
  o.provider.spec.version = version->ToString();
  return std::nullopt;
}

// The texts of the release: from the cluster, else from its source, and then into the cluster (I14).
Installer::Step Installer::Load(const Context& ctx, const Observation& o, Material& m) {
  if (m.stored) {
    auto release = ReadRelease(ctx, needs_.client, *m.stored);
    if (!release.ok()) return NotInstalled(reason::kComponentsFetchError, release.error());
    m.release = std::move(release).value();
    return std::nullopt;
  }
  auto version = api::Version::Parse(o.provider.spec.version);
  if (!version.ok()) return NotInstalled(reason::kIncorrectVersionFormat, version.error());
  auto release = fetch::GetRelease(ctx, *m.repository, *version);
  if (!release.ok()) return FetchHold(release.error().With(m.repository->Describe()));
  m.release = std::move(release).value();
  m.fetched = true;
  ctx.log.Info("fetched", {{"release", m.release.source}, {"bytes", m.release.components.size()}});
  return std::nullopt;
}

// What can be told from the texts: the right file, the right series and contract.
Installer::Step Installer::Inspect(const Observation& o, Material& m) {
  const auto& fetch = o.provider.spec.fetch_config;
  m.digest = m.release.Digest();
  if (fetch && !fetch->digest.empty() && fetch->digest != m.digest) {
    return NotInstalled(reason::kVerificationFailed,
                        Error{Code::kInvalidArgument,
                              fmt::format("the components of {} have digest {}, spec.fetchConfig.digest asks for {}: "
                                          "nothing is applied",
                                          m.release.source, m.digest, fetch->digest),
                              {}});
  }
  auto metadata = api::Metadata::Parse(m.release.metadata, o.provider.id.name);
  if (!metadata.ok()) return NotInstalled(reason::kInvalidMetadata, metadata.error().With(m.release.source));
  if (auto hold = CheckMetadata(o, m.release.version, *metadata)) return hold;
  m.contract = *metadata->ContractOf(m.release.version);
  return std::nullopt;
}

// The others judge by the contract that this provider is to have, and this one by theirs (C3): first it says its own,
// then it looks at theirs, so that of two that move at once at least one sees the other.
Installer::Step Installer::Gate(const Context& ctx, Observation& o, Material& m) {
  api::ProviderStatus status = o.provider.status;
  bool news = m.contract != status.contract || (!o.provider.spec.paused && AppliesAtZero(o));
  if (VersionPending(o.provider) && news) {
    status.desired_version = o.provider.spec.version;
    status.desired_contract = m.contract;
    auto written = needs_.writer.WriteStatus(ctx, o.provider, status);
    if (!written.ok()) return NotInstalled(reason::kAPIServerUnavailable, written.error());
    o.provider.status = status;
  }
  needs_.observer.ObserveSiblings(o);
  return CheckContract(o, m.release.version, m.contract);
}

Installer::Step Installer::Render(const Context& ctx, const Observation& o, Material& m) {
  auto inputs = ReadRenderInputs(ctx, needs_.client, o);
  if (!inputs.ok()) return NotInstalled(reason::kComponentsCustomizationError, inputs.error());
  rendering_.acquire();
  auto rendered = RenderManifests(o, m.release, std::move(inputs).value(), needs_.settings);
  // The texts are no longer needed, and the trees are gone: give their pages back before the next provider's come.
  if (!m.fetched) std::string().swap(m.release.components);
  malloc_trim(0);
  rendering_.release();
  if (rendered.hold) return rendered.hold;
  m.manifests = std::move(rendered.manifests);
  m.warnings = std::move(rendered.warnings);
  if (rendered.namespace_labels.empty()) return std::nullopt;
  auto ns = needs_.client.Get(ctx, kube::Builtin("Namespace"), "", o.provider.id.ns);
  if (!ns.ok()) return NotInstalled(reason::kAPIServerUnavailable, ns.error());
  std::string missing = MissingNamespaceLabels(*ns, rendered.namespace_labels);
  if (!missing.empty()) m.warnings.push_back(missing);
  return std::nullopt;
}

// Everything that needs the cluster and comes before the first write (I5, I13).
Installer::Step Installer::CheckCluster(const Context& ctx, const Observation& o, Material& m) {
  std::vector<kube::ObjectId> ids;
  for (const auto& manifest : m.manifests) ids.push_back(manifest.id);
  if (auto hold = CheckOwners(o, ids)) return hold;
  auto missing = applier_.MissingKinds(ctx, m.manifests);
  if (missing.ok() && !missing->empty()) {
    // Watch first, look again after: a CRD that comes in between isn't missed.
    auto watching = needs_.observer.WatchAllCrds(ctx, o.provider.id.Key());
    if (!watching.ok()) return NotInstalled(reason::kAPIServerUnavailable, watching.error());
    needs_.client.mapper().Invalidate();
    missing = applier_.MissingKinds(ctx, m.manifests);
  }
  if (!missing.ok()) return NotInstalled(reason::kAPIServerUnavailable, missing.error());
  if (!missing->empty()) return MissingKindsHold(*missing);
  auto fresh = needs_.observer.IsFresh(ctx, o.provider.id.Key(), ids);
  if (!fresh.ok()) return NotInstalled(reason::kAPIServerUnavailable, fresh.error());
  if (*fresh && o.inventory.size() == 0) return std::nullopt;
  if (o.inventory.size() == 0) {
    auto found = RebuildInventory(ctx, needs_.client, o);
    if (!found.ok())
      return NotInstalled(reason::kAPIServerUnavailable, found.error().With("looking for what is installed"));
    m.found = std::move(found).value();
    ctx.log.Info("rebuilt the inventory from labels", {{"objects", m.found->size()}});
  }
  std::vector<kube::Manifest> changed;
  for (const auto& manifest : m.manifests) {
    const auto* entry = o.inventory.Find(manifest.id);
    if (entry == nullptr || entry->hash != manifest.hash) changed.push_back(manifest);
  }
  auto accepted = applier_.DryRun(ctx, changed);
  if (!accepted.ok()) return NotInstalled(reason::kDryRunFailed, accepted.error());
  return std::nullopt;
}

// Old and new together, before the first apply: whatever happens from here on, every object of ours is known (U7).
Installer::Step Installer::Announce(const Context& ctx, Observation& o, Material& m) {
  if (m.fetched) {
    auto stored = StoreRelease(ctx, needs_.client, o.provider, m.release);
    if (!stored.ok()) return NotInstalled(reason::kComponentsFetchError, stored.error());
    m.stored = *stored;
    needs_.observer.Remember(o.provider.id.Key(), *stored);
    std::string().swap(m.release.components);
  }
  needs_.rendered.Put(o.provider.id.Key(), InputsDigest(o, m.release.version, m.stored ? m.stored->stamp : ""),
                      m.manifests, {m.release.version.ToString(), m.contract, m.release.source, m.digest, m.warnings});
  LeaveReplicas(o, m.manifests);
  m.inventory = MergeInventory(m.found ? *m.found : o.inventory, m.manifests, m.found.has_value());
  if (m.inventory == o.inventory) return ForgetDrifted(o, m.inventory), std::nullopt;
  api::ProviderStatus status = o.provider.status;
  status.inventory = m.inventory.ToJson();
  status.applied = "";
  auto written = needs_.writer.WriteStatus(ctx, o.provider, status);
  if (!written.ok()) return NotInstalled(reason::kAPIServerUnavailable, written.error());
  o.provider.status = status;
  return ForgetDrifted(o, m.inventory), std::nullopt;
}

Installer::Step Installer::Apply(const Context& ctx, Observation& o, Material& m, Done& done) {
  std::vector<kube::Change> changes;
  auto applied = applier_.Apply(ctx, m.manifests, m.inventory, changes);
  bool waiting = false;
  for (const auto& change : changes) {
    bool written =
        change.action == kube::Change::Action::kCreated || change.action == kube::Change::Action::kConfigured;
    if (change.action == kube::Change::Action::kFailed) continue;
    m.inventory.Put(change.id, change.entry);
    if (!written) continue;
    waiting = waiting || IsWorkload(change.id) || IsCrd(change.id);
    needs_.observer.Expect(change.id, change.resource_version);
  }
  done.inventory = m.inventory;
  if (!applied.ok()) return NotInstalled(reason::kInstallFailed, applied.error());
  done.applied = InputsDigest(o, m.release.version, m.stored ? m.stored->stamp : "");
  done.contract = m.contract;
  done.installed_version = m.release.version.ToString();
  done.source = m.release.source;
  done.release_digest = m.digest;
  done.warnings = m.warnings;
  auto fleet = needs_.observer.ObserveFleet(ctx, o.provider.id.Key(), m.inventory);
  if (!fleet.ok()) return NotInstalled(reason::kAPIServerUnavailable, fleet.error());
  done.fleet = *fleet;
  ctx.log.Info("applied", {{"version", *done.installed_version}, {"objects", changes.size()}, {"waiting", waiting}});
  return std::nullopt;
}

Done Installer::Install(const Context& ctx, Observation& o) {
  Material m;
  Done done;
  done.hold = [&]() -> Step {
    if (Step hold = Resolve(ctx, o, m)) return hold;
    if (Step hold = Load(ctx, o, m)) return hold;
    if (Step hold = Inspect(o, m)) return hold;
    if (Step hold = Gate(ctx, o, m)) return hold;
    if (Step hold = Render(ctx, o, m)) return hold;
    if (Step hold = CheckCluster(ctx, o, m)) return hold;
    if (Step hold = Announce(ctx, o, m)) return hold;
    return Apply(ctx, o, m, done);
  }();
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
    if (change.action == kube::Change::Action::kDeleted) done.removed.push_back(change.id.ToString());
  }
  done.inventory = inventory;
  if (!removed.ok()) done.hold = NotInstalled(reason::kOldComponentsDeletionError, removed.error());
  return done;
}

}  // namespace capi::ops
