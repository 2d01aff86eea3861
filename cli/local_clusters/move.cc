#include "cli/local_clusters/move.h"

#include <fmt/format.h>

#include <map>

#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/frame/interrupt.h"
#include "cli/local_clusters/manifest_folder.h"
#include "cli/move/move.h"

namespace capi::cli::local_clusters {
namespace {

constexpr std::string_view kMapName = "local-manifests";
constexpr std::string_view kMapLabel = "operator.cluster.x-k8s.io/local-manifests";
// A ConfigMap has 1 MiB at most.
constexpr size_t kMostOfMap = 900u << 10;

bool IsSecret(const kube::Object& object) { return object.kind() == "Secret" && object.group_version().group.empty(); }

// Of one folder, by the keys that they get. A Secret of a file that people wrote may have values: it isn't kept.
Status AddFiles(const std::string& folder, const std::string& prefix, std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> texts;
  for (const Manifest& one : TRY(ReadManifests(folder))) {
    if (!IsSecret(one.object)) texts[one.file] += "---\n" + ToYaml(one.object.json());
  }
  for (auto& [name, text] : texts) files[prefix + name] = std::move(text);
  return Ok();
}

kube::Object EmptyMap(const std::string& ns, size_t number) {
  kube::Object out;
  out.json() = Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", Json::object()}};
  Ensure(out.json(), {"metadata", "name"}) =
      number == 0 ? std::string(kMapName) : fmt::format("{}-{}", kMapName, number + 1);
  out.set_ns(ns);
  out.set_label(kMapLabel, "true");
  return out;
}

Status Keep(const Context& ctx, const LocalMoveOptions& options, const std::string& ns, World& world) {
  std::vector<kube::Object> maps = TRY(ManifestMaps(options.manifests, ns));
  ManagementCluster target = TRY(ManagementCluster::Open(options.to, world.getenv));
  for (const kube::Object& map : maps)
    TRY_WITH(target.client().Apply(ctx, kube::Builtin("ConfigMap"), map, {.field_manager = "clusterctl"}),
             fmt::format("ConfigMap {}/{}", ns, map.name()));
  world.out << fmt::format("The manifests are kept in ConfigMap {}/{}\n", ns, kMapName);
  return Ok();
}

}  // namespace

Result<std::vector<kube::Object>> ManifestMaps(const std::string& folder, const std::string& ns) {
  std::map<std::string, std::string> files;
  TRY(AddFiles(folder, "", files));
  Status applied = AddFiles(folder + "/applied", "applied.", files);
  if (!applied.ok() && applied.code() != Code::kNotFound) return applied.error();
  std::vector<kube::Object> out;
  size_t size = 0;
  for (const auto& [name, text] : files) {
    if (text.size() + name.size() > kMostOfMap)
      return Error{Code::kInvalidArgument,
                   fmt::format("{}/{} is too large to be kept in a ConfigMap: it may have {} KiB", folder, name,
                               kMostOfMap >> 10),
                   {}};
    if (out.empty() || size + text.size() + name.size() > kMostOfMap) {
      out.push_back(EmptyMap(ns, out.size()));
      size = 0;
    }
    size += text.size() + name.size();
    out.back().json()["data"][name] = text;
  }
  return out;
}

Status LocalMove(const Context& parent, const GlobalOptions& global, const LocalMoveOptions& options, World& world) {
  if (options.to.kubeconfig.empty())
    return Error{Code::kInvalidArgument,
                 "please specify the kubeconfig of the cluster with --to-kubeconfig; `clusterctl get kubeconfig NAME` "
                 "prints it",
                 {}};
  ClusterOptions from = TRY(TargetOf(options.target, world.getenv)).cluster;
  std::string ns = options.ns;
  if (ns.empty()) ns = TRY(ManagementCluster::Open(from, world.getenv)).ns();
  // Before anything moves: what can't be kept is told.
  if (!options.manifests.empty()) TRY(ManifestMaps(options.manifests, ns));
  MoveOptions move;
  move.from = from;
  move.to = options.to;
  move.ns = ns;
  move.dry_run = options.dry_run;
  move.include_providers = options.include_providers;
  TRY(Move(parent, global, move, world));
  if (options.dry_run || options.manifests.empty()) return Ok();
  TRY_WITH(Keep(parent, options, ns, world),
           "the Clusters have moved, but their manifests are not kept there. Run the same command again");
  return Ok();
}

}  // namespace capi::cli::local_clusters
