#include "cli/upgrade/without_operator.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/operator_manifests/installation.h"
#include "cli/upgrade/known_versions.h"
#include "lifecycle/direct/install.h"
#include "lifecycle/direct/upgrade.h"

namespace capi::cli {
namespace {

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

// The fleet of the golden rule, as the inventory and the releases' metadata tell it.
ProviderObject AsObject(const UpgradeCandidate& candidate) {
  ProviderObject out;
  out.provider.id = {candidate.provider.type, candidate.provider.ns, candidate.provider.name};
  out.provider.status.installed_version = out.wanted = out.declared = candidate.provider.version;
  out.provider.status.contract = candidate.contract();
  return out;
}

Result<lifecycle::DirectRelease> Render(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                        const InstalledProvider& provider, const api::Release& release) {
  std::optional<Error> wrong;
  lifecycle::ReleaseInput input;
  input.type = provider.type;
  input.name = provider.name;
  input.release = &release;
  input.target_namespace = provider.ns;
  input.images = TRY(config.Images());
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    auto value = config.Get(name);
    if (value.ok()) return *std::move(value);
    if (!wrong) wrong = value.error();
    return std::nullopt;
  };
  auto out = lifecycle::Prepare(ctx, cluster.client(), input);
  if (wrong) return *wrong;
  return out;
}

std::vector<kube::Object> ObjectsOf(const lifecycle::DirectRelease& release) {
  std::vector<kube::Object> out;
  for (const kube::Manifest& manifest : release.manifests) {
    auto json = ParseJson(manifest.text);  // it was printed by us
    if (json.ok()) out.emplace_back(*std::move(json));
  }
  return out;
}

struct Prepared {
  lifecycle::DirectRelease release;
  UpgradeTarget target;
};

Result<Prepared> PrepareOne(const Context& ctx, const Config& config, ManagementCluster& cluster,
                            const UpgradeCandidate& candidate, const api::Version& to, bool dry_run, Notes& notes) {
  Prepared out;
  UpgradeTarget& target = out.target;
  target.object = AsObject(candidate);
  target.from = target.leaves = candidate.provider.version;
  target.from_contract = candidate.contract();
  target.to = to;
  auto from = TRY(OpenRepository(ctx, config, cluster, candidate.provider, nullptr, notes));
  const std::string name = InstanceName(candidate.provider);
  const api::Release release = TRY_WITH(fetch::GetRelease(ctx, *from.repository, to), name);
  out.release = TRY(Render(ctx, config, cluster, candidate.provider, release));
  target.to_contract = out.release.provider.contract;
  if (!dry_run) return out;  // nothing else tells the changes
  // The installed release may be gone from its source.
  auto version = api::Version::Parse(target.from);
  auto installed =
      version.ok() ? fetch::GetRelease(ctx, *from.repository, *version) : Result<api::Release>(version.error());
  if (!installed.ok()) return out;
  auto before = Render(ctx, config, cluster, candidate.provider, *installed);
  if (!before.ok()) return out;
  target.changes = CompareObjects(ObjectsOf(*before), ObjectsOf(out.release));
  target.compared = true;
  return out;
}

std::string Leaves(const std::vector<UpgradeTarget>& targets, const api::ProviderId& id) {
  for (const UpgradeTarget& target : targets)
    if (target.object.provider.id == id) return target.leaves;
  return "";
}

}  // namespace

Status CheckUnattended(const Context& ctx, ManagementCluster& cluster, const std::vector<ProviderObject>& objects) {
  if (auto found = TRY(FindOperator(ctx, cluster.client())))
    return Refused(
        fmt::format("capi-operator is in namespace {}, and upgrades providers: leave out --operator=false", found->ns));
  if (objects.empty()) return Ok();
  return Refused(
      fmt::format("{} is a provider object, and an operator that finds it would undo what is upgraded without it: "
                  "leave out --operator=false",
                  Describe(objects.front().provider.id)));
}

Result<DirectRollout> PrepareDirectUpgrade(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                           const std::vector<UpgradeCandidate>& candidates,
                                           const std::vector<WantedVersion>& wanted, bool dry_run, Notes& notes) {
  DirectRollout out;
  std::vector<std::string> errors;
  for (const WantedVersion& one : wanted) {
    auto prepared = PrepareOne(ctx, config, cluster, candidates[one.candidate], one.version, dry_run, notes);
    TRY(ctx.Check());
    if (!prepared.ok()) {
      errors.push_back(prepared.error().message);
      continue;
    }
    out.releases.push_back(std::move(prepared->release));
    out.told.targets.push_back(std::move(prepared->target));
  }
  if (!errors.empty()) return Refused(Join(errors, "; ") + "; nothing was written");
  for (const UpgradeCandidate& candidate : candidates) out.told.fleet.push_back(AsObject(candidate));
  out.told.pause = TRY(NeedsPause(out.told.fleet, out.told.targets));
  return out;
}

Status UpgradeDirectly(const Context& ctx, ManagementCluster& cluster, const DirectRollout& rollout,
                       const RolloutWait& wait, Notes& notes) {
  lifecycle::UpgradeOptions options;
  options.contract_changes = rollout.told.pause;
  options.on_step = [&](std::string_view what, const lifecycle::Installable& provider) {
    std::string message(what);
    message.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(message.front())));
    const std::string label = api::ManifestLabel(provider.id.type, provider.id.name);
    const std::string from = Leaves(rollout.told.targets, provider.id);
    if (what == lifecycle::kPuttingBack) {  // it goes nowhere
      notes.Say(0, message, {{"provider", label}, {"namespace", provider.id.ns}, {"version", from}});
      return;
    }
    notes.Say(0, message,
              {{"provider", label}, {"namespace", provider.id.ns}, {"from", from}, {"to", provider.version}});
  };
  options.on_warning = [&](const std::string& what) { notes.Warn(what); };
  for (const lifecycle::DirectRelease& release : rollout.releases) {
    for (const std::string& warning : release.warnings)
      notes.Warn(
          fmt::format("{}: {}", api::ManifestLabel(release.provider.id.type, release.provider.id.name), warning));
  }
  auto done = lifecycle::Upgrade(ctx, cluster.client(), rollout.releases, options);
  if (!done.ok()) {
    Error error = done.error();
    if (error.code == Code::kCancelled) error.message = "interrupted (" + error.message + ")";
    error.message += "; to go on, run the same command again";
    return error;
  }
  for (const lifecycle::DirectRelease& release : rollout.releases) {
    if (wait.ready) TRY(lifecycle::AwaitAvailable(ctx, cluster.client(), release, wait.timeout));
  }
  return Ok();
}

}  // namespace capi::cli
