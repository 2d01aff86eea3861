#include "operator/act/own_storage.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "api/kinds.h"
#include "operator/act/storage_migration.h"

namespace capi::ops {
namespace {

constexpr Millis kFirstRetry = Seconds(1), kLongestRetry = Seconds(600);

// True when nothing of that CRD is stored at an older version any more.
bool MigrateOne(const Context& ctx, StorageMigration& migration, const std::string& crd, MigrationCursor& cursor) {
  auto migrated = migration.Migrate(ctx, crd, cursor);
  if (!migrated.ok() && !ctx.stop.stop_requested()) {
    ctx.log.Warn("providers stored at an older version can't be migrated yet",
                 {{"crd", crd}, {"error", migrated.error().message}});
  }
  if (migrated.ok() && cursor.objects > 0) {
    ctx.log.Info("migrated providers stored at an older version", {{"crd", crd}, {"objects", cursor.objects}});
  }
  return migrated.ok();
}

}  // namespace

void MigrateOwnStorage(const Context& ctx, kube::Client& client) {
  StorageMigration migration(client);
  std::map<std::string, MigrationCursor> left;  // how far it came, by CRD
  for (const api::ProviderKind& kind : api::kProviderKinds) left[fmt::format("{}.{}", kind.plural, api::kGroup)];
  for (Millis wait = kFirstRetry;; wait = std::min(wait * 2, kLongestRetry)) {
    for (auto crd = left.begin(); crd != left.end();) {
      crd = MigrateOne(ctx, migration, crd->first, crd->second) ? left.erase(crd) : std::next(crd);
    }
    if (left.empty() || !ctx.clock->Sleep(ctx.stop, wait)) break;
  }
  while (ctx.clock->Sleep(ctx.stop, kLongestRetry)) {  // nothing is left, and a part doesn't end by itself
  }
}

}  // namespace capi::ops
