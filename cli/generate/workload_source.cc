#include "cli/generate/workload_source.h"

#include <fmt/format.h>

#include "api/text.h"
#include "cli/frame/provider_name.h"
#include "cli/frame/provider_release.h"
#include "cli/generate/template_text.h"

namespace capi::cli {
namespace {

constexpr auto kInfrastructure = api::ProviderType::kInfrastructure;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

Result<WorkloadTemplate> FromConfigMap(const Context& ctx, const GenerateClusterOptions& options,
                                       MaybeCluster& cluster) {
  ManagementCluster* found = TRY(cluster.Get());
  const std::string& ns = options.config_map_namespace.empty() ? found->ns() : options.config_map_namespace;
  auto map = found->client().Get(ctx, kube::Builtin("ConfigMap"), ns, options.config_map);
  if (!map.ok()) {
    return map.error().With(fmt::format("error reading ConfigMap {}/{}", ns, options.config_map));
  }
  const Json* text = Find(map->json(), {"data", options.config_map_key});
  if (text == nullptr || !text->is_string()) {
    return Error{Code::kNotFound,
                 fmt::format("the ConfigMap {}/{} does not have the {} data key", ns, options.config_map,
                             api::GoQuote(options.config_map_key)),
                 {}};
  }
  return WorkloadTemplate{fmt::format("ConfigMap {}/{}", ns, options.config_map), text->get<std::string>(), {}};
}

// The one infrastructure provider of that name, or the only one for "", that the cluster has.
Result<InstalledProvider> Installed(const Context& ctx, MaybeCluster& cluster, const std::string& name) {
  auto opened = cluster.Get();
  if (!opened.ok()) {
    return opened.error().With(
        name.empty() ? "management cluster not available. Cannot auto-discover default infrastructure provider. Please "
                       "specify an infrastructure provider"
                     : fmt::format("management cluster not available. Cannot auto-discover version for the provider {} "
                                   "automatically. Please specify a version",
                                   api::GoQuote(name)));
  }
  std::vector<InstalledProvider> matching;
  for (InstalledProvider& provider : TRY((*opened)->Providers(ctx))) {
    if (provider.type == kInfrastructure && (name.empty() || provider.name == name))
      matching.push_back(std::move(provider));
  }
  if (matching.size() == 1) return matching.front();
  if (name.empty()) {
    return Invalid(
        fmt::format("failed to identify the default infrastructure provider. Please specify an infrastructure provider "
                    "(the cluster has {} of them)",
                    matching.size()));
  }
  return Invalid(fmt::format(
      "failed to identify the version of the provider {}, which the cluster has {} times. Please specify a version",
      api::GoQuote(name), matching.size()));
}

Result<WorkloadTemplate> FromProvider(const Context& ctx, const Config& config, const GenerateClusterOptions& options,
                                      MaybeCluster& cluster, Notes& notes) {
  ProviderName wanted;
  if (!options.infrastructure.empty()) wanted = TRY(ProviderName::Parse(options.infrastructure));
  if (wanted.version.empty()) {
    InstalledProvider installed = TRY(Installed(ctx, cluster, wanted.name));
    wanted = {installed.name, installed.version};
  }
  auto source = TRY(config.FindProvider(kInfrastructure, wanted.name));
  api::Version version = TRY(ParseVersion(wanted.version));
  ProviderVersion release = {std::move(source), std::move(version)};
  std::string file = TemplateFile(options.flavor);
  std::string text = TRY(FetchFile(ctx, config, release.source, release.version, file, notes));
  return WorkloadTemplate{fmt::format("{} of {} {}", file, wanted.name, wanted.version), std::move(text),
                          std::move(release)};
}

}  // namespace

Result<ManagementCluster*> MaybeCluster::Get() {
  if (none()) return Error{Code::kNotFound, "this command asks no cluster", {}};
  if (!cluster_) cluster_.emplace(ManagementCluster::Open(options_, getenv_));
  if (!cluster_->ok()) return cluster_->error();
  return &**cluster_;
}

Status CheckSources(const GenerateClusterOptions& options) {
  bool provider = !options.infrastructure.empty() || !options.flavor.empty();
  int named = static_cast<int>(provider) + static_cast<int>(!options.from.empty()) +
              static_cast<int>(!options.config_map.empty());
  if (named > 1) return Invalid("invalid cluster template source: only one template can be used at time");
  return Ok();
}

Result<WorkloadTemplate> FindTemplate(const Context& ctx, const Config& config, const GenerateClusterOptions& options,
                                      MaybeCluster& cluster, World& world, Notes& notes) {
  if (!options.config_map.empty()) return FromConfigMap(ctx, options, cluster);
  if (options.from.empty()) return FromProvider(ctx, config, options, cluster, notes);
  TemplateText text = TRY(ReadTemplateText(ctx, config, options.from, world));
  return WorkloadTemplate{std::move(text.source), std::move(text.text), {}};
}

std::string TemplateFile(const std::string& flavor) {
  return flavor.empty() ? "cluster-template.yaml" : fmt::format("cluster-template-{}.yaml", flavor);
}

}  // namespace capi::cli
