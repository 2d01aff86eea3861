#include "operator/act/own_storage.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>

#include "api/kinds.h"
#include "lifecycle/storage_migration.h"

namespace capi::ops {
namespace {

constexpr Millis kFirstRetry = Seconds(1), kLongestRetry = Seconds(600);
// The CRDs of a new version may be applied after its operator leads.
constexpr Millis kLookAgain = Seconds(600);

// True when nothing of that CRD is stored at an older version any more.
bool MigrateOne(const Context& ctx, lifecycle::StorageMigration& migration, const std::string& crd,
                lifecycle::MigrationCursor& cursor) {
  auto migrated = migration.Migrate(ctx, crd, cursor);
  if (!migrated.ok() && !ctx.stop.stop_requested()) {
    ctx.log.Warn("providers stored at an older version can't be migrated yet",
                 {{"crd", crd}, {"error", migrated.error().message}});
  }
  if (!migrated.ok()) return false;
  if (cursor.objects > 0) {
    ctx.log.Info("migrated providers stored at an older version", {{"crd", crd}, {"objects", cursor.objects}});
  }
  cursor = {};
  return true;
}

}  // namespace

void MigrateOwnStorage(const Context& ctx, kube::Client& client) {
  lifecycle::StorageMigration migration(client);
  std::map<std::string, lifecycle::MigrationCursor> crds;  // how far it came, by CRD
  for (const api::ProviderKind& kind : api::kProviderKinds) crds[fmt::format("{}.{}", kind.plural, api::kGroup)];
  for (Millis retry = kFirstRetry;;) {
    bool all = true;
    for (auto& [crd, cursor] : crds) all = MigrateOne(ctx, migration, crd, cursor) && all;
    if (!ctx.clock->Sleep(ctx.stop, all ? kLookAgain : retry)) return;
    retry = all ? kFirstRetry : std::min(retry * 2, kLongestRetry);
  }
}

}  // namespace capi::ops
