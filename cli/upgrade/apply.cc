#include "cli/upgrade/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/moves/version_moves.h"
#include "base/strings.h"
#include "cli/cert_manager/upgrade.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/provider_release.h"
#include "cli/upgrade/known_versions.h"
#include "cli/upgrade/operator_version.h"
#include "cli/upgrade/rollout.h"
#include "cli/upgrade/upgrade_reference.h"
#include "cli/upgrade/without_operator.h"
#include "lifecycle/direct/install.h"

namespace capi::cli {
namespace {

constexpr std::string_view kDryRun = "This was a dry run: nothing was written.\n";
constexpr std::string_view kFlags =
    "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon";

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }
Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

Status CheckFlags(const UpgradeApplyOptions& options) {
  bool named = std::any_of(options.providers.begin(), options.providers.end(),
                           [](const auto& entry) { return !entry.second.empty(); });
  if (options.contract.empty() && !named) {
    return Invalid(
        fmt::format("Either the --contract flag or at least one of the following flags has to be set: {}", kFlags));
  }
  if (!options.contract.empty() && named)
    return Invalid(fmt::format("The --contract flag can't be used in combination with {}", kFlags));
  if (!options.contract.empty() && options.contract != kContract) {
    return Invalid(
        fmt::format("current version of clusterctl could only upgrade to {} contract, requested {} (name "
                    "the providers to go to another one)",
                    kContract, options.contract));
  }
  if (options.wait_provider_timeout <= 0)
    return Invalid("--wait-provider-timeout is a number of seconds, and more than 0");
  return Ok();
}

// What the cluster has.
struct Installed {
  std::vector<InstalledProvider> providers;
  std::vector<ProviderObject> objects;
  std::vector<UpgradeCandidate> candidates;
};

Result<std::vector<WantedVersion>> WantedByName(const UpgradeApplyOptions& options, const Installed& has) {
  std::vector<WantedVersion> out;
  for (const auto& [type, names] : options.providers) {
    for (const std::string& text : names) {
      UpgradeReference reference = TRY(UpgradeReference::Parse(text));
      size_t at = TRY(FindInstalled(has.providers, type, reference, text));
      api::Version version = TRY(ParseVersion(reference.version));
      bool twice = std::any_of(out.begin(), out.end(), [&](const auto& one) { return one.candidate == at; });
      if (twice) return Invalid(fmt::format("provider {} is named twice", InstanceName(has.providers[at])));
      out.push_back({at, std::move(version)});
    }
  }
  return out;
}

Result<std::vector<WantedVersion>> WantedByContract(const std::string& contract, const Installed& has) {
  std::vector<WantedVersion> out;
  for (const UpgradePlan& plan : TRY(MakePlans(has.candidates))) {
    if (plan.contract != contract) continue;
    for (size_t i = 0; i < plan.items.size(); ++i) {
      if (plan.items[i].next) out.push_back({i, *plan.items[i].next});
    }
    return out;
  }
  return Refused(fmt::format(
      "not all providers can go to contract {}: clusterctl upgrade plan prints to which they can", contract));
}

// Those that a contract's upgrade leaves out, since nobody knows what they could go to. An error where nothing is left.
Status TellUnknown(const Installed& has, bool nothing_left, Notes& notes) {
  size_t unknown = 0;
  for (const UpgradeCandidate& candidate : has.candidates) {
    if (!candidate.error && !candidate.partly) continue;
    ++unknown;
    if (!candidate.error) continue;  // told where they were looked up
    notes.Warn(fmt::format("{} stays as it is: its versions can't be told: {}", InstanceName(candidate.provider),
                           candidate.error->message));
  }
  if (unknown == 0 || !nothing_left) return Ok();
  return Refused(fmt::format("nothing can be upgraded while the versions of {} of the {} providers can't be told",
                             unknown, has.candidates.size()));
}

// Why not all that is named could be checked, where all of them have been declared already.
std::optional<Error> UnknownOfDeclared(const Installed& has, const std::vector<WantedVersion>& wanted) {
  std::optional<Error> unknown;
  for (const WantedVersion& one : wanted) {
    const ProviderObject* object = ObjectOf(has.objects, has.providers[one.candidate]);
    if (object == nullptr || !api::SameVersion(object->wanted, one.version.ToString())) return std::nullopt;
    if (!unknown) unknown = has.candidates[one.candidate].error;
  }
  return unknown;
}

// Where an earlier run left providers paused, nothing new is wanted rather than an error: its work goes on in any case,
// unless the rest of it was never written.
Result<std::vector<WantedVersion>> Wanted(const UpgradeApplyOptions& options, const Installed& has, bool unfinished,
                                          Notes& notes) {
  const bool by_name = options.contract.empty();
  auto wanted = by_name ? WantedByName(options, has) : WantedByContract(options.contract, has);
  std::optional<Error> unknown;
  if (by_name && wanted.ok()) unknown = UnknownOfDeclared(has, *wanted);
  if (!by_name && !wanted.ok()) unknown = wanted.error();
  if (unknown && unfinished && IsAllWritten(has.objects)) {
    notes.Warn(fmt::format("nothing new is upgraded, an earlier run is finished alone: {}", unknown->message));
    return std::vector<WantedVersion>();
  }
  if (unknown && unfinished) {
    return Refused(
        fmt::format("{}; an earlier run was broken off before it had written all, and can't be finished without that",
                    unknown->message));
  }
  if (by_name || !wanted.ok()) return wanted;
  TRY(TellUnknown(has, wanted->empty() && !unfinished, notes));
  return wanted;
}

// `object`: null without an operator, which is the one to go back.
Status CheckMove(const InstalledProvider& provider, const ProviderObject* object, const api::Version& to) {
  const api::ProviderId id{provider.type, provider.ns, provider.name};
  auto from = api::Version::Parse(provider.version);
  if (!from.ok()) return Ok();  // what isn't installed yet moves from nowhere
  if (auto furthest = api::TooFar(id, *from, to)) {
    return Refused(
        fmt::format("upgrade for {} provider can't skip more than {} versions: go from {} to a v1.{} release "
                    "first",
                    InstanceName(provider), api::kMostMinorsAtOnce, from->ToString(), *furthest));
  }
  if (!api::IsDowngrade(*from, to)) return Ok();
  if (object == nullptr) {
    return Refused(
        fmt::format("{} is at {}, and {} is an older minor version: no provider goes back to one without the "
                    "operator; clusterctl adopt hands it over",
                    InstanceName(provider), from->ToString(), to.ToString()));
  }
  auto allowed = object->provider.annotations.find(std::string(api::kAnnotationAllowDowngrade));
  if (allowed != object->provider.annotations.end() && allowed->second == "true") return Ok();
  return Refused(fmt::format(
      "{} is at {}, and {} is an older minor version: use clusterctl rollback {} --to-version {}",
      InstanceName(provider), from->ToString(), to.ToString(), api::ManifestLabel(id.type, id.name), to.ToString()));
}

// The objects of those that are wanted, each of which may go where it is wanted.
Status CheckWanted(const Installed& has, const std::vector<WantedVersion>& wanted, bool with_operator) {
  TRY(CheckSingleInstances(has.providers));
  TRY(CheckUpgrade(has.candidates, wanted));
  for (const WantedVersion& one : wanted) {
    const InstalledProvider& provider = has.providers[one.candidate];
    const ProviderObject* object = ObjectOf(has.objects, provider);
    if (object == nullptr && with_operator) {
      return Refused(
          fmt::format("{} was installed without the operator, which therefore doesn't look after it: run clusterctl "
                      "adopt first, or upgrade with --operator=false",
                      InstanceName(provider)));
    }
    TRY(CheckMove(provider, object, one.version));
  }
  return Ok();
}

Result<Installed> LookAtCluster(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                bool with_operator, Notes& notes) {
  Installed has;
  has.providers = TRY(cluster.Providers(ctx));
  if (has.providers.empty()) TRY(cluster.CheckContract(ctx, AlsoAllowed::kOlderContract));
  auto objects = AllProviders(ctx, cluster, "");
  const bool none = !objects.ok() && objects.code() == Code::kFailedPrecondition;
  if (none && with_operator) {
    return Refused(
        "the cluster has no operator that could upgrade its providers: run clusterctl adopt, which installs it and "
        "hands them over, or upgrade them with --operator=false");
  }
  if (!objects.ok() && !none) return objects.error();
  if (objects.ok()) has.objects = *std::move(objects);
  if (!with_operator) TRY(CheckUnattended(ctx, cluster, has.objects));
  has.candidates = LookUpVersions(ctx, config, cluster, has.providers, has.objects, notes);
  return has;
}

// Nothing is to be upgraded. What an earlier run has upgraded may not be ready yet.
Status AwaitAll(const Context& ctx, ManagementCluster& cluster, const Installed& has, bool with_operator,
                Seconds timeout, Notes& notes) {
  if (!with_operator) {
    for (const InstalledProvider& one : has.providers)
      TRY(lifecycle::AwaitAvailable(ctx, cluster.client(), api::ProviderId{one.type, one.ns, one.name}, timeout,
                                    [&](const std::string& what) { notes.Warn(what); }));
    return Ok();
  }
  std::vector<AwaitedUpgrade> awaited;
  for (const ProviderObject& one : has.objects) {
    const api::Provider& provider = one.provider;
    if (IsHeld(provider))
      notes.Warn(fmt::format("{} is paused or being deleted: it isn't waited for", Describe(provider.id)));
    else
      awaited.push_back({provider.id, one.wanted, provider.generation});
  }
  return AwaitUpgrades(ctx, cluster.client(), awaited, UpgradeStage::kReady, timeout, notes);
}

// nullopt: it stays as it is, and a warning may say why. Who may not read or write all of it may upgrade providers all
// the same.
struct WantedCertManager {
  std::optional<CertManagerUpgrade> upgrade;
  bool unknown = false;
};
Result<WantedCertManager> LookAtCertManager(const Context& ctx, const Config& config, kube::Client& client,
                                            Notes& notes) {
  const char* hint =
      "cert-manager can't be upgraded (where it isn't to be, set cert-manager.externallyProvisioned: true in the "
      "configuration)";
  auto stays = [&](const std::string& why) {
    notes.Warn("cert-manager stays as it is: " + why);
    return WantedCertManager{{}, true};
  };
  auto found = FindCertManager(ctx, config, client, notes);
  if (!found.ok() && found.code() == Code::kPermissionDenied) return stays(found.error().message);
  if (!found.ok()) return found.error().With(hint);
  if (!*found) return WantedCertManager{};
  if (!(*found)->gone.empty()) return stays((*found)->gone);
  TRY_WITH(DecideUpgrade(ctx, config, **found, notes), hint);
  if (!(*found)->decision.upgrade) return WantedCertManager{};
  Status taken = CheckUpgrade(ctx, client, **found);
  if (taken.ok()) return WantedCertManager{*std::move(found)};
  // What isn't there by now is what the new one needs: a kind, or a namespace.
  return taken.code() == Code::kPermissionDenied ? Result<WantedCertManager>(stays(taken.error().message))
                                                 : taken.error().With(hint);
}

// Before the providers. What a broken-off one has begun the next run goes on with.
Status CarryOutCertManager(const Context& ctx, kube::Client& client, std::optional<CertManagerUpgrade>& upgrade,
                           Notes& notes) {
  if (!upgrade) return Ok();
  Status done = UpgradeCertManager(ctx, client, *std::move(upgrade), notes);
  if (done.ok() || done.error().code != Code::kCancelled) return done;
  return Error{
      Code::kCancelled, "interrupted while cert-manager was being upgraded; to go on, run the same command again", {}};
}

void TellSurprises(const Config& config, Notes& notes) {
  for (const std::string& surprise : config.Surprises()) notes.Warn(surprise);
}

Result<UpgradeRollout> Prepare(const Context& ctx, const Config& config, ManagementCluster& cluster,
                               const Installed& has, const std::vector<WantedVersion>& wanted, Notes& notes) {
  UpgradeRollout rollout;
  rollout.fleet = has.objects;
  rollout.again = "run the same command again";
  for (const WantedVersion& one : wanted) {
    const ProviderObject* object = ObjectOf(has.objects, has.providers[one.candidate]);
    rollout.targets.push_back(TRY(PrepareTarget(ctx, config, cluster, object->provider.id, one.version, notes)));
  }
  TellSurprises(config, notes);
  for (const UpgradeTarget& target : rollout.targets) TRY(CheckTarget(ctx, cluster, target));
  rollout.pause = TRY(NeedsPause(rollout.fleet, rollout.targets));
  if (rollout.pause) TRY(CheckPausable(rollout.fleet));
  return rollout;
}

}  // namespace

Status ApplyUpgrade(const Context& parent, const GlobalOptions& global, const UpgradeApplyOptions& options,
                    World& world) {
  TRY(CheckFlags(options));
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  Installed has = TRY(LookAtCluster(ctx, config, cluster, options.with_operator, notes));
  const bool unfinished = IsUnfinished(has.objects);
  auto wanted = TRY(Wanted(options, has, unfinished, notes));
  // One that paused has been past it: nothing of it holds up what is at zero replicas.
  auto cert_manager = unfinished ? WantedCertManager{} : TRY(LookAtCertManager(ctx, config, cluster.client(), notes));
  const std::string told = cert_manager.upgrade ? AsText(*cert_manager.upgrade) : "";
  if (wanted.empty() && !unfinished) {
    if (!cert_manager.upgrade && !cert_manager.unknown) notes.Pass("You are already up to date!\n");
    if (cert_manager.upgrade && options.dry_run) world.out << told << kDryRun;
    if (options.dry_run) return Ok();
    TRY(CarryOutCertManager(ctx, cluster.client(), cert_manager.upgrade, notes));
    if (!options.wait_providers) return Ok();
    return AwaitAll(ctx, cluster, has, options.with_operator, Seconds(options.wait_provider_timeout), notes);
  }
  if (!wanted.empty()) TRY(CheckWanted(has, wanted, options.with_operator));
  const RolloutWait wait{options.wait_providers, Seconds(options.wait_provider_timeout)};
  std::optional<DirectRollout> direct;
  UpgradeRollout rollout;
  if (options.with_operator) {
    TRY(CheckOperator(ctx, cluster, notes));
    rollout = TRY(Prepare(ctx, config, cluster, has, wanted, notes));
  } else {
    direct = TRY(PrepareDirectUpgrade(ctx, config, cluster, has.candidates, wanted, options.dry_run, notes));
    TellSurprises(config, notes);
  }
  if (options.dry_run) {
    world.out << told << AsText(direct ? direct->told : rollout) << kDryRun;
    return Ok();
  }
  notes.Say(0, "Performing upgrade...");
  TRY(CarryOutCertManager(ctx, cluster.client(), cert_manager.upgrade, notes));
  if (direct) return UpgradeDirectly(ctx, cluster, *direct, wait, notes);
  return CarryOut(ctx, cluster, rollout, wait, notes);
}

}  // namespace capi::cli
