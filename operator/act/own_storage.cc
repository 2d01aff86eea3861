#include "operator/act/own_storage.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>

#include "api/kinds.h"
#include "operator/act/storage_migration.h"

namespace capi::ops {
namespace {

constexpr Millis kFirstRetry = Seconds(5), kLongestRetry = Seconds(600);

}  // namespace

void MigrateOwnStorage(const Context& ctx, kube::Client& client) {
  StorageMigration migration(client);
  std::map<std::string, MigrationCursor> left;  // how far it came, by CRD
  for (const api::ProviderKind& kind : api::kProviderKinds) left[fmt::format("{}.{}", kind.plural, api::kGroup)];
  auto done = [&](auto& crd) {
    auto& [name, cursor] = crd;
    auto migrated = migration.Migrate(ctx, name, cursor);
    if (!migrated.ok() && !ctx.stop.stop_requested()) {
      ctx.log.Warn("providers stored at an older version can't be migrated yet",
                   {{"crd", name}, {"error", migrated.error().message}});
    }
    if (migrated.ok() && cursor.objects > 0) {
      ctx.log.Info("migrated providers stored at an older version", {{"crd", name}, {"objects", cursor.objects}});
    }
    return migrated.ok();
  };
  for (Millis wait = kFirstRetry;; wait = std::min(wait * 2, kLongestRetry)) {
    std::erase_if(left, done);
    if (left.empty() || !ctx.clock->Sleep(ctx.stop, wait)) break;
  }
  while (ctx.clock->Sleep(ctx.stop, kLongestRetry)) {  // nothing is left, and a part doesn't end by itself
  }
}

}  // namespace capi::ops
