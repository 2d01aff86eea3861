#include "cli/local_clusters/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/frame/interrupt.h"
#include "cli/local_clusters/manifest_folder.h"
#include "cli/local_clusters/parts.h"
#include "cli/move/move.h"

namespace capi::cli::local_clusters {
namespace {

constexpr std::string_view kMapName = "local-manifests";
constexpr std::string_view kMapLabel = "operator.cluster.x-k8s.io/local-manifests";
// A ConfigMap has 1 MiB at most.
constexpr size_t kMostOfMap = 900u << 10;
constexpr size_t kMostOfKey = 253;

bool IsSecret(const kube::Object& object) { return object.kind() == "Secret" && object.group_version().group.empty(); }

// Of one folder, by the keys that they get. A Secret of a file that people wrote may have values: it isn't kept.
// `cluster` gets the name of the first Cluster.
Status AddFiles(const std::string& folder, const std::string& prefix, std::map<std::string, std::string>& files,
                std::string& cluster) {
  std::map<std::string, std::string> texts;
  for (const Manifest& one : TRY(ReadManifests(folder))) {
    if (cluster.empty() && IsCluster(one.object)) cluster = one.object.name();
    if (!IsSecret(one.object)) texts[one.file] += "---\n" + ToYaml(one.object.json());
  }
  for (auto& [name, text] : texts) files[prefix + name] = std::move(text);
  return Ok();
}

// "local-manifests.my-cluster", "local-manifests-2.my-cluster": no two clusters share one.
std::string MapName(const std::string& cluster, size_t number) {
  if (number == 0) return fmt::format("{}.{}", kMapName, cluster);
  return fmt::format("{}-{}.{}", kMapName, number + 1, cluster);
}

// What a ConfigMap takes as a key.
bool IsKey(std::string_view name) {
  constexpr std::string_view kMarks = "-._";
  return !name.empty() && name.size() <= kMostOfKey && std::all_of(name.begin(), name.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

kube::Object EmptyMap(const std::string& ns, const std::string& name) {
  kube::Object out;
  out.json() = Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", Json::object()}};
  Ensure(out.json(), {"metadata", "name"}) = name;
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
  // Those of an earlier, larger folder would stay with files that are no more.
  const std::string cluster = maps[0].name().substr(kMapName.size() + 1);
  for (size_t number = maps.size();; ++number) {
    const std::string name = MapName(cluster, number);
    Status gone = target.client().Delete(ctx, kube::Builtin("ConfigMap"), ns, name);
    if (!gone.ok() && gone.code() == Code::kNotFound) break;
    TRY_WITH(gone, fmt::format("ConfigMap {}/{}", ns, name));
  }
  world.out << fmt::format("The manifests are kept in ConfigMap {}/{}\n", ns, maps[0].name());
  return Ok();
}

}  // namespace

Result<std::vector<kube::Object>> ManifestMaps(const std::string& folder, const std::string& ns) {
  std::map<std::string, std::string> files;
  std::string cluster;
  TRY(AddFiles(folder, "", files, cluster));
  if (cluster.empty())
    return Error{Code::kInvalidArgument, fmt::format("the manifests in {} have no Cluster", folder), {}};
  Status applied = AddFiles(folder + "/applied", "applied.", files, cluster);
  if (!applied.ok() && applied.code() != Code::kNotFound) return applied.error();
  std::vector<kube::Object> out;
  size_t size = 0;
  for (const auto& [name, text] : files) {
    if (!IsKey(name))
      return Error{
          Code::kInvalidArgument,
          fmt::format("{}/{} can't be kept in a ConfigMap: its name may have letters of ASCII, digits, '-', '_' "
                      "and '.' alone, {} at most. Rename it, and the one in `applied`",
                      folder, name, kMostOfKey),
          {}};
    if (text.size() + name.size() > kMostOfMap)
      return Error{Code::kInvalidArgument,
                   fmt::format("{}/{} is too large to be kept in a ConfigMap: it may have {} KiB", folder, name,
                               kMostOfMap >> 10),
                   {}};
    if (out.empty() || size + text.size() + name.size() > kMostOfMap) {
      out.push_back(EmptyMap(ns, MapName(cluster, out.size())));
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
