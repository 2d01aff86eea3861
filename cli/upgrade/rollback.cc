#include "cli/upgrade/rollback.h"

#include <fmt/format.h>

#include "api/moves/contract_plan.h"
#include "api/moves/upgrade_policy.h"
#include "api/moves/version_moves.h"
#include "api/release.h"
#include "base/strings.h"
#include "cli/frame/confirm.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/provider_release.h"
#include "cli/upgrade/operator_version.h"
#include "cli/upgrade/rollout.h"
#include "cli/upgrade/write.h"

namespace capi::cli {
namespace {

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

Result<ProviderObject> TheOne(const Context& ctx, ManagementCluster& cluster, const RollbackOptions& options) {
  const std::string name = TRY(OneProviderName(options.names));
  auto objects = TRY(FindProviders(ctx, cluster, name, options.ns));
  if (objects.size() == 1) return objects[0];
  std::vector<std::string> names;
  for (const ProviderObject& one : objects) names.push_back(Describe(one.provider.id));
  return Error{Code::kInvalidArgument,
               fmt::format("several providers have that name: {}. Name one as infrastructureprovider/aws, or its "
                           "namespace with -n",
                           JoinNames(names, 10)),
               {}};
}

// A step back keeps the golden rule by itself, or isn't taken: nobody else is moved or paused for it.
Status CheckContract(const std::vector<ProviderObject>& fleet, const UpgradeTarget& target) {
  const api::Provider& me = target.object.provider;
  std::vector<std::string> broken;
  for (const ProviderObject& one : fleet) {
    const std::string& contract = one.provider.status.contract;
    bool is_core = one.provider.id.type == api::ProviderType::kCore;
    bool my_core = me.id.type == api::ProviderType::kCore;
    if (one.provider.id == me.id || contract.empty() || is_core == my_core) continue;
    const std::string& core = my_core ? target.to_contract : contract;
    const std::string& other = my_core ? contract : target.to_contract;
    // C6: a rule that was broken before blocks nobody else.
    bool was_broken = my_core && !target.from_contract.empty() && !api::Accepts(target.from_contract, contract);
    if (!was_broken && !api::Accepts(core, other))
      broken.push_back(fmt::format("{} ({})", Describe(one.provider.id), contract));
  }
  if (broken.empty()) return Ok();
  return Refused(
      fmt::format("{} {} has contract {}, which doesn't go together with {}: name all of them to clusterctl upgrade "
                  "apply, each with a version that fits",
                  Describe(me.id), target.to.ToString(), target.to_contract, JoinNames(broken, 10)));
}

// U13: what a policy had begun and the operator has rolled back was never in spec.version, so that what runs, and is
// well, would be left for the version before it.
Status CheckIsNotBackAlready(const ProviderObject& object) {
  const api::ProviderStatus& status = object.provider.status;
  if (status.history.empty() || !api::SameVersion(status.installed_version, object.wanted)) return Ok();
  const api::HistoryEntry& last = status.history.front();
  if (last.outcome != api::outcome::kRolledBack || last.instead_of.empty()) return Ok();
  return Refused(fmt::format("{} was rolled back from {} to {} already: name an older version with --to-version",
                             Describe(object.provider.id), last.version, status.installed_version));
}

std::string Question(const UpgradeRollout& rollout) {
  const UpgradeTarget& target = rollout.targets[0];
  std::string out = fmt::format("{} goes from {} to {}", Describe(target.object.provider.id),
                                target.leaves.empty() ? "nothing" : target.leaves, target.to.ToString());
  if (target.leaves != target.from) out += fmt::format(" ({} hasn't come up)", target.leaves);
  auto leaves = api::Version::Parse(target.leaves);
  if (leaves.ok() && api::IsDowngrade(*leaves, target.to))
    out += ", an older minor version, whose manager may not read what the newer one wrote";
  return out;
}

Result<UpgradeRollout> Prepare(const Context& ctx, const Config& config, ManagementCluster& cluster,
                               const RollbackOptions& options, Notes& notes) {
  ProviderObject object = TRY(TheOne(ctx, cluster, options));
  std::string text = options.to_version.empty() ? TRY(LastGoodVersion(object)) : options.to_version;
  api::Version to = TRY(ParseVersion(text));
  UpgradeRollout rollout;
  rollout.fleet = TRY(AllProviders(ctx, cluster, ""));
  rollout.targets.push_back(TRY(PrepareTarget(ctx, config, cluster, object.provider.id, to, notes)));
  const UpgradeTarget& target = rollout.targets[0];
  TRY(CheckTarget(ctx, cluster, target, /*back=*/true));
  TRY(CheckContract(rollout.fleet, target));
  auto from = api::Version::Parse(target.from);
  if (from.ok() && *from < to) {
    return Refused(fmt::format("{} is at {}, and {} is newer: use clusterctl upgrade apply",
                               Describe(object.provider.id), target.from, to.ToString()));
  }
  const auto& annotations = target.object.provider.annotations;
  auto allowed = annotations.find(std::string(api::kAnnotationAllowDowngrade));
  auto note = RollbackNoteOf(target.object.provider);
  bool by_us = note && note->leave;
  bool by_somebody = allowed != annotations.end() && allowed->second == "true" && !by_us;
  rollout.rollback = true;
  const api::Provider& provider = target.object.provider;
  const bool stays = !api::SameVersion(api::VersionToRun(to.ToString(), provider.status, annotations), to.ToString());
  rollout.allow_downgrade = from.ok() && (api::IsDowngrade(*from, to) || stays) && !by_somebody;
  const api::ProviderId& id = object.provider.id;
  rollout.again = fmt::format("run clusterctl rollback {} -n {} --to-version {} --yes",
                              api::ManifestLabel(id.type, id.name), id.ns, to.ToString());
  return rollout;
}

}  // namespace

Result<std::string> LastGoodVersion(const ProviderObject& object) {
  const api::ProviderStatus& status = object.provider.status;
  const std::string& declared = object.wanted.empty() ? status.installed_version : object.wanted;
  // A rollback that was broken off has declared its version already, and the operator may have gone there.
  auto note = RollbackNoteOf(object.provider);
  if (note && api::SameVersion(note->to, object.wanted)) return object.wanted;
  TRY(CheckIsNotBackAlready(object));
  auto installed = api::Version::Parse(status.installed_version), wanted = api::Version::Parse(object.wanted);
  bool goes_back = installed.ok() && wanted.ok() && *wanted < *installed;
  for (const api::HistoryEntry& entry : status.history) {
    bool was_good = entry.outcome.empty() || entry.outcome == api::outcome::kSucceeded;
    if (goes_back && was_good && api::SameVersion(entry.version, object.wanted)) return entry.version;
  }
  for (const api::HistoryEntry& entry : status.history) {
    bool good = entry.outcome.empty() || entry.outcome == api::outcome::kSucceeded;
    if (good && !api::SameVersion(entry.version, declared)) return entry.version;
  }
  return Refused(fmt::format(
      "{} has no version in its history that came up, other than {}: name one with --to-version "
      "(clusterctl history {} prints the history)",
      Describe(object.provider.id), declared, api::ManifestLabel(object.provider.id.type, object.provider.id.name)));
}

Status Rollback(const Context& parent, const GlobalOptions& global, const RollbackOptions& options, World& world) {
  Notes notes(world.err);
  if (options.wait_provider_timeout <= 0)
    return Error{Code::kInvalidArgument, "--wait-provider-timeout is a number of seconds, and more than 0", {}};
  TRY(OneProviderName(options.names));
  if (!options.to_version.empty()) TRY(ParseVersion(options.to_version));
  Config config = TRY(LoadConfig(parent, global, world.getenv, notes));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  TRY(CheckOperator(parent, cluster, notes));
  UpgradeRollout rollout = TRY(Prepare(parent, config, cluster, options, notes));
  if (options.dry_run) {
    world.out << AsText(rollout) << "This was a dry run: nothing was written.\n";
    return Ok();
  }
  if (!options.yes) TRY(Confirm(Question(rollout), world));
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  return CarryOut(ctx, cluster, rollout, {options.wait_providers, Seconds(options.wait_provider_timeout)}, notes);
}

}  // namespace capi::cli
