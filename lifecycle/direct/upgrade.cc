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

kube::Applier ApplierOf(kube::Client& client) {
  kube::ApplyOptions options;
  options.field_manager = kDirectManager;
  return kube::Applier(client, options);
}

void Tell(const UpgradeOptions& options, std::string_view what, const DirectRelease& release) {
  if (options.on_step) options.on_step(what, release.provider);
}

// What only the cluster can tell: everything that could be refused, before anything is changed. Returns whether a CRD
// stores another version from now on.
Result<bool> Check(const Context& ctx, kube::Client& client, const Releases& releases,
                   std::map<const DirectRelease*, std::vector<std::string>>& to_migrate) {
  bool switches = false;
  for (const DirectRelease* release : releases) {
    const std::string name = release->provider.id.ToString();
    UpgradeNeeds needs = TRY_WITH(TryUpgrade(ctx, client, release->manifests, kDirectManager), name);
    to_migrate[release] = std::move(needs.to_migrate);
    switches = switches || needs.switches;
    TRY_WITH(ListLabelled(ctx, client, release->provider.id), name);  // for Prune
  }
  return switches;
}

// What Cluster API's clusterctl wrote with plain updates becomes ours, so that what the new release leaves out goes.
Status TakeOverAll(const Context& ctx, kube::Client& client, const DirectRelease& release) {
  kube::PreviewOptions options{.field_manager = std::string(kDirectManager),
                               .former = kube::WroteLabel(api::kLabelProvider),
                               .owner_group = std::string(api::kGroup)};
  return kube::TakeOverAll(client, ctx, release.manifests, options);
}

// What can't be read now holds up nothing: the next upgrade looks again.
Status Prune(const Context& ctx, kube::Client& client, const DirectRelease& release, const UpgradeOptions& options) {
  std::vector<kube::ObjectId> released;
  auto labelled = TRY(ListLabelled(ctx, client, release.provider.id));
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

Status Finish(const Context& ctx, kube::Client& client, const DirectRelease& release, const UpgradeOptions& options) {
  std::vector<kube::Change> changes;
  TRY(Prune(ctx, client, release, options));
  return ApplierOf(client).Apply(ctx, {release.Entry()}, {}, changes);
}

// For what is due when the caller has stopped, too.
Context Own(const Context& ctx) { return ctx.WithStop({}).WithTimeout(kToEnd); }

// Nobody would look for them otherwise. The cluster tells: an earlier run may have left them so.
Error AtZero(const Context& ctx, kube::Client& client, const Releases& releases, Error error) {
  const Context own = Own(ctx);
  std::vector<std::string> names;
  const api::ProviderId* first = nullptr;
  for (const DirectRelease* release : releases) {
    const api::ProviderId& id = release->provider.id;
    auto zero = IsAtZero(own, client, id);
    if (!zero.ok()) {
      error.message += "; which providers are at zero replicas can't be told: " + zero.error().message;
      return error;
    }
    if (!*zero) continue;
    if (first == nullptr) first = &id;
    names.push_back(id.ToString());
  }
  if (names.empty()) return error;
  error.message += fmt::format(
      "; at zero replicas: {} (by hand they come back with `kubectl scale deployment --replicas=1 -n {} -l {}={}`, "
      "and likewise the others)",
      Join(names, ", "), first->ns, api::kLabelProvider, api::ManifestLabel(first->type, first->name));
  return error;
}

using Stopped = std::vector<std::pair<const DirectRelease*, std::set<kube::ObjectId>>>;

// Nothing was applied yet, so what ran can run on. AtZero tells of what doesn't come back.
Status StopAll(const Context& ctx, kube::Client& client, const Releases& releases, const UpgradeOptions& options) {
  Stopped stopped;
  for (const DirectRelease* release : releases) {
    Tell(options, "scaling down", *release);
    stopped.emplace_back(release, std::set<kube::ObjectId>());
    Status down = ScaleDown(ctx, client, release->provider.id, options.stop_limit, stopped.back().second);
    if (down.ok()) continue;
    const Context own = Own(ctx);
    for (const auto& [one, deployments] : stopped) (void)ScaleBack(own, client, one->provider.id, deployments);
    return down;
  }
  return Ok();
}

Status UpgradeAll(const Context& ctx, kube::Client& client, const Releases& releases, const UpgradeOptions& options) {
  std::map<const DirectRelease*, std::vector<std::string>> to_migrate;
  bool stop = TRY(Check(ctx, client, releases, to_migrate)) || options.contract_changes;
  StorageMigration migration(client, kDirectManager);
  for (const DirectRelease* release : releases) {
    for (const std::string& crd : to_migrate[release]) {
      Tell(options, "migrating objects", *release);
      MigrationCursor cursor;
      TRY(migration.Migrate(ctx, crd, cursor));
    }
  }
  if (stop) TRY(StopAll(ctx, client, releases, options));
  for (const DirectRelease* release : releases) {
    Tell(options, "upgrading", *release);
    TRY_WITH(Replace(ctx, client, *release), release->provider.id.ToString());
    TRY_WITH(Finish(ctx, client, *release, options), release->provider.id.ToString());
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
  Status done = CheckKinds(ctx, client, all);
  if (done.ok()) done = UpgradeAll(ctx, client, releases, options);
  return done.ok() ? done : AtZero(ctx, client, releases, done.error());
}

}  // namespace capi::lifecycle
