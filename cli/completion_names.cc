#include "cli/completion_names.h"

#include <array>
#include <sstream>

#include "base/strings.h"
#include "cli/clusters/rollout.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/structured.h"
#include "kube/client/config/kubeconfig.h"

namespace capi::cli {
namespace {

constexpr Seconds kTime{2};

using Names = std::vector<std::string>;

Result<Names> ObjectNames(const NameQuestion& question, const World& world, const kube::Resource& resource,
                          bool in_ns) {
  ManagementCluster cluster = TRY(ManagementCluster::Open(question.cluster, world.getenv));
  std::string ns = !in_ns ? "" : question.ns.empty() ? cluster.ns() : question.ns;
  auto list = TRY(cluster.client().List(Context{}.WithTimeout(kTime), resource, ns, {.metadata_only = true}));
  Names out;
  for (const kube::Object& object : list.items) out.push_back(object.name());
  return out;
}

// As `alpha rollout` takes them.
Result<Names> RolloutNames(const NameQuestion& question, const World& world) {
  Names out;
  for (const kube::Resource& resource : RolloutResources()) {
    Result<Names> names = ObjectNames(question, world, resource, true);
    if (!names.ok()) continue;  // a management cluster needn't have both kinds
    for (const std::string& name : *names) out.push_back(ToLower(resource.kind) + "/" + name);
  }
  return out;
}

// By label: no two of one namespace have the same.
Result<Names> Installed(const NameQuestion& question, const World& world) {
  Names out;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    ManagementCluster cluster = TRY(ManagementCluster::Open(question.cluster, world.getenv));
    auto list = cluster.client().List(Context{}.WithTimeout(kTime), api::ResourceOf(kind.type), question.ns,
                                      {.metadata_only = true});
    if (!list.ok()) return list.error();
    for (const kube::Object& object : list->items) out.push_back(api::ManifestLabel(kind.type, object.name()));
  }
  return out;
}

Result<Names> Clusters(const NameQuestion& question, const World& world) {
  const kube::Resource clusters = {
      .group = "cluster.x-k8s.io", .version = std::string(kContract), .plural = "clusters", .kind = "Cluster"};
  return ObjectNames(question, world, clusters, true);
}

// Of --kubeconfig, else of every file that $KUBECONFIG names, else of ~/.kube/config.
Result<Names> Contexts(const NameQuestion& question, const World& world) {
  std::string paths = question.cluster.kubeconfig;
  if (paths.empty()) paths = world.getenv("KUBECONFIG").value_or("");
  if (paths.empty()) paths = world.getenv("HOME").value_or("") + "/.kube/config";
  Names out;
  std::istringstream list(paths);
  for (std::string path; std::getline(list, path, ':');) {
    auto file = kube::ReadKubeconfig(path);
    if (!file.ok()) continue;
    for (const auto& [name, entry] : file->contexts) out.push_back(name);
  }
  return out;
}

Result<Names> Providers(const NameQuestion& question, const World& world, api::ProviderType type) {
  std::ostringstream unheard;
  Notes notes(unheard);
  Config config = TRY(LoadConfig(Context{}.WithTimeout(kTime), question.global, world.getenv, notes));
  Names out;
  for (const ProviderSource& provider : TRY(config.Providers())) {
    if (provider.type == type) out.push_back(provider.name);
  }
  return out;
}

Result<Names> Find(const NameQuestion& question, const World& world) {
  using enum api::ProviderType;
  const std::pair<const char*, api::ProviderType> kinds[] = {
      {"core", kCore},
      {"bootstrap", kBootstrap},
      {"control-plane", kControlPlane},
      {"infrastructure", kInfrastructure},
      {"ipam", kIpam},
      {"runtime-extension", kRuntimeExtension},
      {"addon", kAddon},
  };
  for (const auto& [flag, type] : kinds) {
    if (question.flag == flag) return Providers(question, world, type);
  }
  if (question.flag == "kubeconfig-context") return Contexts(question, world);
  if (question.flag == "hide-api-warnings") return Names{"all", "default", "none"};
  if (question.flag.ends_with("namespace")) return ObjectNames(question, world, kube::Builtin("Namespace"), false);
  if (question.flag == "output" && question.command == "clusterctl version") return Names{"json", "short", "yaml"};
  if (question.flag == "output" && question.command == "clusterctl preload") return Names{"json", "yaml"};
  if (question.flag == "output") return OutputFormatNames(question.command == "clusterctl lint" ? "sarif" : "");
  if (question.flag.empty() && (question.command == "clusterctl why" || question.command == "clusterctl history"))
    return Installed(question, world);
  if (question.flag.empty() &&
      (question.command == "clusterctl get kubeconfig" || question.command == "clusterctl describe cluster"))
    return Clusters(question, world);
  if (question.flag.empty() && question.command.starts_with("clusterctl alpha rollout "))
    return RolloutNames(question, world);
  return Names();
}

}  // namespace

std::vector<std::string> NamesFor(const NameQuestion& question, World& world) {
  Result<Names> found = Find(question, world);
  return found.ok() ? *std::move(found) : Names();
}

}  // namespace capi::cli
