#include "cli/local/providers.h"

#include <algorithm>
#include <optional>
#include <set>

#include "cli/frame/live_lines.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/provider_name.h"
#include "cli/install/init.h"
#include "cli/install/wait.h"
#include "cli/local/managers.h"
#include "cli/local/operator_program.h"

namespace capi::cli {
namespace {

// How long an operator that has just started may take to look at a provider, beside others.
constexpr Millis kOldWords{15'000};
// For one look, where no time is left.
constexpr Millis kOneLook{5'000};

constexpr api::ProviderType kWithDefault[] = {api::ProviderType::kCore, api::ProviderType::kBootstrap,
                                              api::ProviderType::kControlPlane};

bool IsRecorded(const PresentProvider& one) { return !one.recorded.empty() && !one.deleting; }

// Or a policy has led it on from there (U13): another version over it is init's to refuse.
bool IsAt(const PresentProvider& one, const std::string& version) {
  return version.empty() || api::SameVersion(version, one.provider.version) ||
         (!one.led_from.empty() && api::SameVersion(version, one.led_from));
}

// behaviour.md G1: what neither files nor flags name is as init has it, at the first time. nullopt: nothing is to be
// installed by name.
std::optional<InitOptions> InitOf(const local::PlaneFolder& folder, const AskedProviders& asked,
                                  const ProviderFlags& flags) {
  const bool named = std::any_of(flags.begin(), flags.end(), [](const auto& one) { return !one.second.empty(); });
  if (!named && asked.declared.Has(api::ProviderType::kCore)) return std::nullopt;
  InitOptions init;
  init.cluster.kubeconfig = folder.OwnKubeconfig();
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
Status AwaitThese(const Context& ctx, ManagementCluster& cluster, std::vector<api::ProviderId> ids, int timeout,
                  World& world) {
  Notes notes(world.err);
  PassOverPaused(TRY(ReadPresent(ctx, cluster)), ids, notes);
  LiveLines lines(world.err, world.err_columns);
  return AwaitReady(ctx, cluster.client(), ids, Seconds(timeout), lines, kOldWords);
}

bool IsNamed(const AskedProviders& asked, const api::ProviderId& id) {
  const auto& ids = asked.declared.ids;
  if (std::find(ids.begin(), ids.end(), id) != ids.end()) return true;
  const auto flag = asked.flags.find(id.type);
  return flag != asked.flags.end() &&
         std::any_of(flag->second.begin(), flag->second.end(), [&](const std::string& text) {
           const auto name = ProviderName::Parse(text);
           return name.ok() && name->name == id.name;
         });
}

std::set<std::string> LabelsOf(const std::vector<api::ProviderId>& ids) {
  std::set<std::string> out;
  for (const api::ProviderId& id : ids) out.insert(api::ManifestLabel(id.type, id.name));
  return out;
}

Status BringDeclared(const Context& ctx, ManagementCluster& cluster, const Declared& declared) {
  if (declared.namespaces.empty() && declared.parts.empty() && declared.providers.empty()) return Ok();
  return CarryDeclared(ctx, cluster.client(), declared);
}

}  // namespace

void TakeInstalled(const std::vector<PresentProvider>& present, ProviderFlags& flags) {
  const bool has_core = std::any_of(present.begin(), present.end(), [](const PresentProvider& one) {
    return one.provider.type == api::ProviderType::kCore && !one.recorded.empty();
  });
  if (!has_core) return;
  for (auto& [type, names] : flags) {
    std::erase_if(names, [&](const std::string& text) {
      const auto name = ProviderName::Parse(text);
      return name.ok() && std::any_of(present.begin(), present.end(), [&](const PresentProvider& one) {
               const InstalledProvider& it = one.provider;
               return it.type == type && it.name == name->name && IsRecorded(one) && IsAt(one, name->version);
             });
    });
  }
}

Status BringProviders(const Context& ctx, const GlobalOptions& global, const local::PlaneFolder& folder,
                      const AskedProviders& asked, World& world) {
  ManagementCluster cluster = TRY(ManagementCluster::Open({.kubeconfig = folder.OwnKubeconfig()}, world.getenv));
  Notes notes(world.err);
  const Context bounded = ctx.WithTimeout(Seconds(asked.timeout));
  TRY(BringUpOperator(bounded, cluster.client(), folder, notes));
  {
    LiveLines lines(world.err, world.err_columns);
    TRY(AwaitManagers(bounded, cluster.client(), folder, {}, lines));  // the operator alone
  }
  ProviderFlags flags = asked.flags;
  TakeInstalled(TRY(ReadPresent(ctx, cluster)), flags);
  const auto init = InitOf(folder, asked, flags);
  // The others need the core, wherever it comes from.
  const bool files_first = !init || asked.declared.Has(api::ProviderType::kCore);
  if (files_first) TRY(BringDeclared(ctx, cluster, asked.declared));
  if (files_first && init) TRY(AwaitThese(ctx, cluster, asked.declared.ids, asked.timeout, world));
  if (init) TRY(InitUninterrupted(ctx, global, *init, world));
  return files_first ? Ok() : BringDeclared(ctx, cluster, asked.declared);
}

AwaitedProviders AwaitedOf(const std::vector<PresentProvider>& present, const AskedProviders& asked) {
  AwaitedProviders out;
  for (const PresentProvider& one : present) {
    if (!one.has_object || one.deleting) continue;
    const api::ProviderId id{one.provider.type, one.provider.ns, one.provider.name};
    (IsNamed(asked, id) ? out.named : out.others).push_back(id);
  }
  return out;
}

Status AwaitNamed(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder,
                  const std::vector<api::ProviderId>& ids, Seconds timeout, LiveLines& lines) {
  // First: what an earlier run has left says that one is Ready, or never will be.
  TRY(AwaitManagers(ctx.WithTimeout(timeout), client, folder, LabelsOf(ids), lines));
  return AwaitReady(ctx, client, ids, timeout, lines, kOldWords);
}

Result<std::vector<std::string>> AwaitOthers(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder,
                                             const std::vector<api::ProviderId>& ids, Seconds timeout,
                                             LiveLines& lines) {
  std::vector<std::string> out;
  if (ids.empty()) return out;
  const Status run = AwaitManagers(ctx.WithTimeout(timeout), client, folder, LabelsOf(ids), lines);
  if (!run.ok() && run.code() != Code::kDeadlineExceeded) return run.error();
  if (!run.ok()) out.push_back(run.error().message);
  const MonoTime begun = ctx.clock->Monotonic();
  const Millis limit = run.ok() ? Millis(timeout) : kOldWords;
  for (const api::ProviderId& id : ids) {
    const Millis gone = std::chrono::duration_cast<Millis>(ctx.clock->Monotonic() - begun);
    const auto left = std::chrono::ceil<Seconds>(std::max(limit - gone, kOneLook));
    const Status ready = AwaitReady(ctx, client, {id}, left, lines, std::max(kOldWords - gone, Millis(0)));
    if (ready.ok() || ready.code() == Code::kNotFound) continue;  // somebody has deleted it
    const bool told = ready.code() == Code::kFailedPrecondition || ready.code() == Code::kDeadlineExceeded;
    if (!told) return ready.error();
    out.push_back(ready.error().message);
  }
  return out;
}

Status AwaitProviders(const Context& ctx, const local::PlaneFolder& folder, const AskedProviders& asked, World& world) {
  ManagementCluster cluster = TRY(ManagementCluster::Open({.kubeconfig = folder.OwnKubeconfig()}, world.getenv));
  const std::vector<PresentProvider> present = TRY(ReadPresent(ctx, cluster));
  AwaitedProviders awaited = AwaitedOf(present, asked);
  Notes notes(world.err);
  PassOverPaused(present, awaited.named, notes);
  PassOverPaused(present, awaited.others, notes);
  const Seconds timeout(asked.timeout);
  std::vector<std::string> warnings;
  {
    LiveLines lines(world.err, world.err_columns);
    TRY(AwaitNamed(ctx, cluster.client(), folder, awaited.named, timeout, lines));
    warnings = TRY(AwaitOthers(ctx, cluster.client(), folder, awaited.others, timeout, lines));
  }
  for (const std::string& warning : warnings) notes.Warn(warning);
  return Ok();
}

}  // namespace capi::cli
