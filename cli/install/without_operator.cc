#include "cli/install/without_operator.h"

#include <fmt/format.h>

#include "lifecycle/direct/install.h"

namespace capi::cli {

Status CheckNoOperator(const std::optional<InstalledOperator>& there) {
  if (!there) return Ok();
  return Error{
      Code::kFailedPrecondition,
      fmt::format("capi-operator is in namespace {}, and installs providers: leave out --operator=false", there->ns),
      {}};
}

Result<std::vector<lifecycle::DirectRelease>> PrepareDirectly(const Context& ctx, const Config& config,
                                                              kube::Client& client,
                                                              const std::vector<Candidate>& queue) {
  std::vector<lifecycle::DirectRelease> out;
  for (const Candidate& candidate : queue) {
    lifecycle::ReleaseInput input;
    input.type = candidate.id.type;
    input.name = candidate.id.name;
    input.release = &candidate.found.release;
    input.target_namespace = candidate.id.ns;
    input.images = TRY(config.Images());
    input.variables = [&candidate](const std::string& name) -> std::optional<std::string> {
      auto value = candidate.values.find(name);
      return value == candidate.values.end() ? std::nullopt : std::optional(value->second);
    };
    out.push_back(TRY(lifecycle::Prepare(ctx, client, input)));
  }
  return out;
}

Status InstallDirectly(const Context& ctx, kube::Client& client, const std::vector<lifecycle::DirectRelease>& releases,
                       const std::vector<api::ProviderId>& skipped, const InitOptions& options, Notes& notes) {
  TRY(lifecycle::CheckKinds(ctx, client, releases));
  for (const lifecycle::DirectRelease& release : releases) {
    const api::ProviderId& id = release.provider.id;
    std::string label = api::ManifestLabel(id.type, id.name);
    notes.Say(0, "Installing",
              {{"provider", label}, {"version", release.provider.version}, {"targetNamespace", id.ns}});
    for (const std::string& warning : release.warnings) notes.Warn(fmt::format("{}: {}", label, warning));
    TRY_WITH(lifecycle::InstallObjects(ctx, client, release), label);
    if (id.type != api::ProviderType::kCore) TRY_WITH(lifecycle::Record(ctx, client, release), label);
  }
  // The core's entry last: as long as it isn't recorded, the next run is a first one again and goes on.
  for (const lifecycle::DirectRelease& release : releases) {
    if (release.provider.id.type == api::ProviderType::kCore)
      TRY_WITH(lifecycle::Record(ctx, client, release), "cluster-api");
  }
  if (!options.wait_providers) return Ok();
  notes.Say(0, "Waiting for providers to be available...");
  for (const lifecycle::DirectRelease& release : releases)
    TRY(lifecycle::AwaitAvailable(ctx, client, release, Seconds(options.wait_provider_timeout)));
  auto warn = [&](const std::string& what) { notes.Warn(what); };
  for (const api::ProviderId& id : skipped)
    TRY(lifecycle::AwaitAvailable(ctx, client, id, Seconds(options.wait_provider_timeout), warn));
  return Ok();
}

}  // namespace capi::cli
