#include "operator/observe/unseen_writes.h"

#include <utility>

#include "operator/observe/tracks.h"

namespace capi::ops {
namespace {

// Of the server, not of one Provider.
bool IsAway(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded || code == Code::kRateLimited ||
         code == Code::kInternal;
}

}  // namespace

Status LookForRestore(const Context& ctx, kube::Client& client, ProviderCache& cache, const api::ProviderId& id) {
  auto cached = cache.Get(id.Key());
  if (!cached || !cached->awaited) return Ok();
  auto live = client.Get(ctx, api::ResourceOf(id.type), id.ns, id.name);
  if (!live.ok() && live.code() == Code::kNotFound) return Ok();
  if (!live.ok()) return live.error().With(id.ToString());
  cache.OnRestored(id.type, cached, std::move(live).value());
  return Ok();
}

void UnseenWrites::Run(const Context& ctx) {
  while (ctx.clock->Sleep(ctx.stop, kWatchLag)) Look(ctx);
}

// A write that the server has is looked for again each time: it may be lost in a restore as long as no watch shows it.
void UnseenWrites::Look(const Context& ctx) {
  std::map<std::string, CachedPtr> before;
  for (const CachedPtr& cached : cache_.All()) {
    if (cached->awaited) before.emplace(cached->provider->id.Key(), cached);
  }
  before.swap(awaited_);
  for (const auto& [key, cached] : before) {
    auto still = awaited_.find(key);
    if (still == awaited_.end() || still->second != cached) continue;
    Status looked = LookForRestore(ctx, client_, cache_, cached->provider->id);
    if (!looked.ok() && IsAway(looked.code())) return;
  }
}

}  // namespace capi::ops
