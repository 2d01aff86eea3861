#include "lifecycle/direct/upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "kube/apply/apply.h"
#include "kube/apply/preview.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/deletion.h"
#include "lifecycle/direct/scale.h"
#include "lifecycle/labelled.h"
#include "lifecycle/plan/removal.h"
#include "lifecycle/storage_migration.h"
#include "lifecycle/try_upgrade.h"

namespace capi::lifecycle {
namespace {

using Releases = std::vector<const DirectRelease*>;  // in clusterctl's order

constexpr Seconds kToEnd{15};  // for what is still to be done after an error
constexpr Seconds kToTell{5};  // for what is still to be told

kube::Applier ApplierOf(kube::Client& client) {
  kube::ApplyOptions options;
  options.field_manager = kDirectManager;
  return kube::Applier(client, options);
}

void Tell(const UpgradeOptions& options, std::string_view what, const DirectRelease& release) {
  if (options.on_step) options.on_step(what, release.provider);
}

// What the cluster tells of a release before anything is changed. A value.
struct Found {
  UpgradeNeeds needs;
  LabelledObjects labelled;  // what may go afterwards
};

// Everything that could be refused is an error.
Result<std::map<const DirectRelease*, Found>> Check(const Context& ctx, kube::Client& client,
                                                    const Releases& releases) {
  std::map<const DirectRelease*, Found> out;
  for (const DirectRelease* release : releases) {
    const std::string name = release->provider.id.ToString();
    Found& found = out[release];
    found.needs = TRY_WITH(TryUpgrade(ctx, client, release->manifests, kDirectManager), name);
    found.labelled = TRY_WITH(ListLabelled(ctx, client, release->provider.id), name);
  }
  return out;
}

// What Cluster API's clusterctl wrote with plain updates becomes ours, so that what the new release leaves out goes.
Status TakeOverAll(const Context& ctx, kube::Client& client, const DirectRelease& release) {
  kube::PreviewOptions options{.field_manager = std::string(kDirectManager),
                               .former = kube::WroteLabel(api::kLabelProvider),
                               .owner_group = std::string(api::kGroup)};
  return kube::TakeOverAll(client, ctx, release.manifests, options);
}

// What couldn't be read holds up nothing: the next upgrade looks again.
Status Prune(const Context& ctx, kube::Client& client, const DirectRelease& release, const LabelledObjects& labelled,
             const UpgradeOptions& options) {
  std::vector<kube::ObjectId> released;
  for (const std::string& kind : labelled.unread) {
    if (options.on_warning)
      options.on_warning(fmt::format("what {} no longer has may stay: {}", release.provider.id.ToString(), kind));
  }
  for (const kube::Manifest& manifest : release.manifests) released.push_back(manifest.id);
  const Keep keep = KeepsOthers(release.provider.id);
  auto gone = Leftovers(labelled.items, released, release.provider.id.ns);
  TRY(StopAggregation(ctx, client, gone, keep));
  std::vector<kube::Change> changes;
  return kube::Applier(client, {}).Delete(ctx, gone, keep, changes);
}

Status Replace(const Context& ctx, kube::Client& client, const DirectRelease& release) {
  std::vector<kube::Change> changes;
  TRY(TakeOverAll(ctx, client, release));
  const auto kept = TRY(KeepReplicas(ctx, client, release));
  TRY(ApplierOf(client).Apply(ctx, kept, {}, changes));
  return ScaleUp(ctx, client, release);
}

Status Finish(const Context& ctx, kube::Client& client, const DirectRelease& release, const LabelledObjects& labelled,
              const UpgradeOptions& options) {
  std::vector<kube::Change> changes;
  TRY(Prune(ctx, client, release, labelled, options));
  return ApplierOf(client).Apply(ctx, {release.Entry()}, {}, changes);
}

std::string Names(const std::vector<api::ProviderId>& ids) {
  std::vector<std::string> names;
  for (const api::ProviderId& id : ids) names.push_back(id.ToString());
  return Join(names, ", ");
}

// Of those in clusterctl's inventory, this call's or not: an earlier one may have left them so. Nobody would look for
// them otherwise. One that can't be read hides no other. Also when the caller has stopped.
Error TellAtZero(const Context& parent, kube::Client& client, Error error) {
  const Context ctx = parent.WithStop({}).WithTimeout(kToTell);
  auto entries = ListEntries(ctx, client);
  if (!entries.ok()) {
    error.message += "; which providers are at zero replicas can't be told: " + entries.error().message;
    return error;
  }
  std::vector<api::ProviderId> zero, unread;
  std::string why;
  for (const ClusterctlEntry& entry : *entries) {
    auto deployments = DeploymentsOf(ctx, client, entry.id);
    if (deployments.ok() && IsAtZero(*deployments)) zero.push_back(entry.id);
    if (deployments.ok()) continue;
    if (unread.empty()) why = deployments.error().message;
    unread.push_back(entry.id);
  }
  if (!zero.empty()) {
    const api::ProviderId& first = zero.front();
    error.message += fmt::format(
        "; at zero replicas: {} (by hand they come back with `kubectl scale deployment --replicas=1 -n {} -l {}={}`, "
        "and likewise the others)",
        Names(zero), first.ns, api::kLabelProvider, api::ManifestLabel(first.type, first.name));
  }
  if (!unread.empty())
    error.message += fmt::format("; whether {} is at zero replicas can't be told: {}", Names(unread), why);
  return error;
}

using Stopped = std::vector<std::pair<const DirectRelease*, std::set<kube::ObjectId>>>;

// `stopped` gets what ran, for as long as nothing was applied and it can run on.
Status StopAll(const Context& ctx, kube::Client& client, const Releases& releases, const UpgradeOptions& options,
               Stopped& stopped) {
  for (const DirectRelease* release : releases) {
    Tell(options, "scaling down", *release);
    stopped.emplace_back(release, std::set<kube::ObjectId>());
    TRY(ScaleDown(ctx, client, release->provider.id, options.stop_limit, stopped.back().second));
  }
  stopped.clear();
  return Ok();
}

// Also when the caller has stopped, and all of it in one time. TellAtZero tells, in a time of its own, of what doesn't
// come back.
Error PutBack(const Context& ctx, kube::Client& client, const Stopped& stopped, const UpgradeOptions& options,
              Error error) {
  const Context own = ctx.WithStop({}).WithTimeout(kToEnd);
  for (const auto& [release, deployments] : stopped) {
    if (deployments.empty()) continue;
    Tell(options, kPuttingBack, *release);
    (void)ScaleBack(own, client, release->provider.id, deployments);
  }
  return TellAtZero(ctx, client, std::move(error));
}

Status UpgradeAll(const Context& ctx, kube::Client& client, const Releases& releases, const UpgradeOptions& options,
                  Stopped& stopped) {
  const auto found = TRY(Check(ctx, client, releases));
  const bool stop = options.contract_changes ||
                    std::any_of(found.begin(), found.end(), [](const auto& one) { return one.second.needs.switches; });
  StorageMigration migration(client, kDirectManager);
  for (const DirectRelease* release : releases) {
    for (const std::string& crd : found.at(release).needs.to_migrate) {
      Tell(options, "migrating objects", *release);
      MigrationCursor cursor;
      TRY(migration.Migrate(ctx, crd, cursor));
    }
  }
  if (stop) TRY(StopAll(ctx, client, releases, options, stopped));
  for (const DirectRelease* release : releases) {
    Tell(options, "upgrading", *release);
    TRY_WITH(Replace(ctx, client, *release), release->provider.id.ToString());
    TRY_WITH(Finish(ctx, client, *release, found.at(release).labelled, options), release->provider.id.ToString());
  }
  return Ok();
}

}  // namespace

Status Upgrade(const Context& ctx, kube::Client& client, const std::vector<DirectRelease>& all,
               const UpgradeOptions& options) {
  Releases releases;
  for (const DirectRelease& release : all) releases.push_back(&release);
  std::stable_sort(releases.begin(), releases.end(), [](const DirectRelease* a, const DirectRelease* b) {
    return a->provider.id.type < b->provider.id.type;
  });
  Stopped stopped;
  Status done = CheckKinds(ctx, client, all);
  if (done.ok()) done = UpgradeAll(ctx, client, releases, options, stopped);
  return done.ok() ? done : PutBack(ctx, client, stopped, options, done.error());
}

}  // namespace capi::lifecycle
