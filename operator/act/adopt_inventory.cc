#include "operator/act/adopt_inventory.h"

#include <fmt/core.h>

#include <algorithm>

namespace capi::ops {
namespace {

constexpr Millis kFirstPause = Seconds(5), kLongestPause = std::chrono::minutes(5);

// Those of namespace `ns`, "" for all: an operator of one namespace may list no other, and adopts nothing there.
Result<std::vector<api::ProviderId>> ListProviders(const Context& ctx, kube::Client& client, const std::string& ns) {
  std::vector<api::ProviderId> ids;
  for (const auto& kind : api::kProviderKinds) {
    auto list = client.List(ctx, api::ResourceOf(kind.type), ns, {.metadata_only = true});
    if (!list.ok() && list.code() == Code::kNotFound) continue;  // the cluster has no such kind, so none of them
    if (!list.ok()) return list.error();
    for (const auto& object : list->items) ids.push_back({kind.type, object.ns(), object.name()});
  }
  return ids;
}

Status CreateProvider(const Context& ctx, kube::Client& client, const ClusterctlEntry& entry) {
  kube::Object provider(Json{{"apiVersion", fmt::format("{}/{}", api::kGroup, api::kVersion)},
                             {"kind", api::KindOf(entry.id.type).kind},
                             {"metadata", {{"name", entry.id.name}, {"namespace", entry.id.ns}}},
                             {"spec", {{"version", entry.version}}}});
  auto created =
      client.Create(ctx, api::ResourceOf(entry.id.type), provider, {.field_manager = std::string(api::kFieldManager)});
  if (created.ok()) {
    ctx.log.Info("created a provider for what clusterctl installed",
                 {{"provider", entry.id.Key()}, {"version", entry.version}});
    return Ok();
  }
  return created.code() == Code::kAlreadyExists ? Ok() : Status(created.error().With(entry.id.ToString()));
}

Status Once(const Context& ctx, kube::Client& client, const std::string& ns) {
  auto entries = TRY(lifecycle::ListEntries(ctx, client));
  auto providers = TRY(ListProviders(ctx, client, ns));
  std::optional<Error> failed;
  for (const auto& entry : WithoutProvider(entries, providers, ns)) {
    auto created = CreateProvider(ctx, client, entry);
    if (!created.ok()) failed = created.error();
  }
  return failed ? Status(*failed) : Ok();
}

}  // namespace

std::vector<ClusterctlEntry> WithoutProvider(const std::vector<ClusterctlEntry>& entries,
                                             const std::vector<api::ProviderId>& providers, const std::string& ns) {
  std::vector<ClusterctlEntry> out;
  for (const auto& entry : entries) {
    bool known = std::any_of(providers.begin(), providers.end(), [&](const api::ProviderId& id) {
      return id.type == entry.id.type && id.name == entry.id.name;
    });
    bool watched = ns.empty() || entry.id.ns == ns;
    if (!known && watched && !entry.ours && !entry.version.empty()) out.push_back(entry);
  }
  return out;
}

void AdoptInventory(const Context& ctx, kube::Client& client, const std::string& ns) {
  for (Millis pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    auto done = Once(ctx, client, ns);
    if (done.ok()) break;
    ctx.log.Warn("clusterctl's inventory can't be adopted yet", {{"error", done.error().message}});
    if (!ctx.clock->Sleep(ctx.stop, pause)) return;
  }
  // A part of the operator runs as long as the operator.
  while (ctx.clock->Sleep(ctx.stop, std::chrono::hours(24))) continue;
}

}  // namespace capi::ops
