#include "cli/local/providers.h"

#include <algorithm>
#include <optional>

#include "cli/frame/live_lines.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/provider_name.h"
#include "cli/install/init.h"
#include "cli/install/wait.h"
#include "cli/local/operator_program.h"

namespace capi::cli {
namespace {

constexpr api::ProviderType kWithDefault[] = {api::ProviderType::kCore, api::ProviderType::kBootstrap,
                                              api::ProviderType::kControlPlane};

bool IsRecorded(const PresentProvider& one) { return !one.recorded.empty() && !one.deleting; }

// behaviour.md G1: what neither files nor flags name is as init has it, at the first time. nullopt: nothing is to be
// installed by name.
std::optional<InitOptions> InitOf(const local::PlaneFolder& folder, const AskedProviders& asked,
                                  const ProviderFlags& flags) {
  const bool named = std::any_of(flags.begin(), flags.end(), [](const auto& one) { return !one.second.empty(); });
  if (!named && asked.declared.Has(api::ProviderType::kCore)) return std::nullopt;
  InitOptions init;
  init.cluster.kubeconfig = folder.Kubeconfig();
  init.providers = flags;
  for (api::ProviderType type : kWithDefault) {
    if (type != api::ProviderType::kCore && asked.declared.Has(type) && init.providers[type].empty())
      init.providers[type] = {"-"};
  }
  init.cert_manager = false;
  init.wait_providers = true;
  init.wait_provider_timeout = asked.timeout;
  return init;
}

// Nobody waits for what is paused.
Status AwaitAll(const Context& ctx, ManagementCluster& cluster, std::vector<api::ProviderId> ids, int timeout,
                World& world) {
  Notes notes(world.err);
  PassOverPaused(TRY(ReadPresent(ctx, cluster)), ids, notes);
  LiveLines lines(world.err, world.err_columns);
  return AwaitReady(ctx, cluster.client(), ids, Seconds(timeout), lines);
}

Status BringDeclared(const Context& ctx, ManagementCluster& cluster, const AskedProviders& asked, World& world) {
  const Declared& declared = asked.declared;
  if (declared.namespaces.empty() && declared.parts.empty() && declared.providers.empty()) return Ok();
  TRY(CarryDeclared(ctx, cluster.client(), declared));
  return AwaitAll(ctx, cluster, declared.ids, asked.timeout, world);
}

}  // namespace

std::vector<api::ProviderId> TakeInstalled(const std::vector<PresentProvider>& present, ProviderFlags& flags) {
  std::vector<api::ProviderId> out;
  const bool has_core = std::any_of(present.begin(), present.end(), [](const PresentProvider& one) {
    return one.provider.type == api::ProviderType::kCore && !one.recorded.empty();
  });
  if (!has_core) return out;
  for (auto& [type, names] : flags) {
    std::erase_if(names, [&](const std::string& text) {
      const auto name = ProviderName::Parse(text);
      if (!name.ok() || !name->version.empty()) return false;
      bool found = false;
      for (const PresentProvider& one : present) {
        const InstalledProvider& it = one.provider;
        if (it.type != type || it.name != name->name || !IsRecorded(one)) continue;
        out.push_back({it.type, it.ns, it.name});
        found = true;
      }
      return found;
    });
  }
  return out;
}

Status BringProviders(const Context& ctx, const GlobalOptions& global, const local::PlaneFolder& folder,
                      const AskedProviders& asked, World& world) {
  ManagementCluster cluster = TRY(ManagementCluster::Open({.kubeconfig = folder.Kubeconfig()}, world.getenv));
  Notes notes(world.err);
  TRY(BringUpOperator(ctx.WithTimeout(Seconds(asked.timeout)), cluster.client(), folder, notes));
  ProviderFlags flags = asked.flags;
  const std::vector<api::ProviderId> installed = TakeInstalled(TRY(ReadPresent(ctx, cluster)), flags);
  const auto init = InitOf(folder, asked, flags);
  // The others need the core, wherever it comes from.
  const bool files_first = !init || asked.declared.Has(api::ProviderType::kCore);
  if (files_first) TRY(BringDeclared(ctx, cluster, asked, world));
  if (init) TRY(InitUninterrupted(ctx, global, *init, world));
  if (!files_first) TRY(BringDeclared(ctx, cluster, asked, world));
  return installed.empty() ? Ok() : AwaitAll(ctx, cluster, installed, asked.timeout, world);
}

}  // namespace capi::cli
