#include "cli/local_clusters/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/local_clusters/parts.h"
#include "cli/local_clusters/watch.h"
#include "cli/move/move.h"

namespace capi::cli::local_clusters {
namespace {

constexpr std::string_view kMapName = "local-manifests";
constexpr std::string_view kMapLabel = "operator.cluster.x-k8s.io/local-manifests";
constexpr std::string_view kAppliedPrefix = "applied.";  // of the keys of what was written back
// A ConfigMap has 1 MiB at most.
constexpr size_t kMostOfMap = 900u << 10;
constexpr size_t kMostOfKey = 253;

// By the keys that they get. A Secret of a file that people wrote may have values: it isn't kept.
void AddFiles(const std::vector<Manifest>& manifests, std::string_view prefix,
              std::map<std::string, std::string>& files) {
  std::map<std::string, std::string> texts;
  for (const Manifest& one : manifests) {
    if (!IsSecret(one.object)) texts[one.file] += "---\n" + ToYaml(one.object.json());
  }
  for (auto& [name, text] : texts) files[std::string(prefix) + name] = std::move(text);
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

// The move takes one namespace: a Cluster of the folder that is in another one would stay behind, and look moved.
// `current` is where `local apply` has made those that name none.
Status CheckNamespaces(const std::string& folder, const std::vector<Manifest>& manifests, const std::string& ns,
                       const std::string& current) {
  for (const Manifest& one : manifests) {
    if (!IsCluster(one.object)) continue;
    const std::string own = one.object.ns().empty() ? current : one.object.ns();
    if (own == ns) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("{}/{}: Cluster {} is of namespace {}, and what moves is namespace {}: nothing was moved. "
                             "Name its namespace with -n {}",
                             folder, one.Where(), one.object.name(), own, ns, own),
                 {}};
  }
  return Ok();
}

// The Clusters that are about to move; none where an earlier run has moved them all.
Result<std::set<std::string>> ClustersAt(const Context& ctx, ManagementCluster& source, const std::string& ns) {
  std::set<std::string> out;
  auto there = source.client().List(ctx, ClusterResource(), ns, {.metadata_only = true});
  if (!there.ok() && there.code() == Code::kNotFound) return out;  // no cluster of this contract: the move says so
  for (const kube::Object& one : TRY(there).items) out.insert(one.name());
  return out;
}

// A plane whose Clusters have moved is taken away next: nobody is told that without seeing them there. `names`: those
// that moved, and those of the folder; none, where an earlier run has moved all: any Cluster of the namespace will do.
Status CheckArrived(const Context& ctx, ManagementCluster& target, const std::string& ns,
                    const std::set<std::string>& names) {
  kube::ObjectList there = TRY_WITH(target.client().List(ctx, ClusterResource(), ns, {.metadata_only = true}),
                                    "the target can't be asked for the Clusters that have moved");
  std::set<std::string> missing = names;
  for (const kube::Object& one : there.items) missing.erase(one.name());
  if (missing.empty() && !there.items.empty()) return Ok();
  const std::vector<std::string> names_missing(missing.begin(), missing.end());
  const std::string which = missing.empty() ? "no Cluster" : "no Cluster " + JoinNames(names_missing, 5);
  return Error{Code::kFailedPrecondition,
               fmt::format("the target has {} in namespace {}: keep the plane. Name the namespace of the Clusters with "
                           "-n, and run the command again",
                           which, ns),
               {}};
}

std::set<std::string> ClustersOf(const std::vector<Manifest>& manifests) {
  std::set<std::string> out;
  for (const Manifest& one : manifests) {
    if (IsCluster(one.object)) out.insert(one.object.name());
  }
  return out;
}

Status Keep(const Context& ctx, const Kept& kept, const std::string& ns, ManagementCluster& target, World& world) {
  for (const kube::Object& map : kept.maps)
    TRY_WITH(target.client().Apply(ctx, kube::Builtin("ConfigMap"), map, {.field_manager = "clusterctl"}),
             fmt::format("ConfigMap {}/{}", ns, map.name()));
  // Those of an earlier, larger folder would stay with files that are no more.
  for (size_t number = kept.maps.size();; ++number) {
    const std::string name = MapName(kept.cluster, number);
    Status gone = target.client().Delete(ctx, kube::Builtin("ConfigMap"), ns, name);
    if (!gone.ok() && gone.code() == Code::kNotFound) break;
    TRY_WITH(gone, fmt::format("ConfigMap {}/{}", ns, name));
  }
  world.out << fmt::format("The manifests are kept in ConfigMap {}/{}\n", ns, kept.maps[0].name());
  return Ok();
}

// As many as their size asks for.
Result<std::vector<kube::Object>> MapsOf(const std::string& folder, const std::map<std::string, std::string>& files,
                                         const std::string& cluster, const std::string& ns) {
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

}  // namespace

Result<Kept> ReadKept(const std::string& folder, const std::string& ns) {
  Kept out;
  out.manifests = TRY_WITH(ReadManifests(folder), folder);
  for (const Manifest& one : out.manifests) {
    if (one.file.starts_with(kAppliedPrefix))
      return Error{Code::kInvalidArgument,
                   fmt::format("{}/{} can't be kept: what `local apply` has written back is kept under such a name. "
                               "Rename it",
                               folder, one.file),
                   {}};
  }
  out.cluster = TRY(FirstCluster(folder, out.manifests));
  std::map<std::string, std::string> files;
  AddFiles(out.manifests, "", files);
  const std::string beside = folder + "/applied";
  auto applied = ReadManifests(beside);
  if (!applied.ok() && applied.code() != Code::kNotFound) return applied.error().With(beside);
  if (applied.ok()) AddFiles(*applied, kAppliedPrefix, files);
  out.maps = TRY(MapsOf(folder, files, out.cluster, ns));
  return out;
}

Status LocalMove(const Context& parent, const GlobalOptions& global, const LocalMoveOptions& options, World& world) {
  if (options.to.kubeconfig.empty())
    return Error{Code::kInvalidArgument,
                 "please specify the kubeconfig of the cluster with --to-kubeconfig; `clusterctl get kubeconfig NAME "
                 "--kubeconfig PLANE/kubeconfig --kubeconfig-context capi-local` prints it",
                 {}};
  ClusterOptions from = TRY(TargetOf(options.target, world.getenv)).cluster;
  ManagementCluster source = TRY(ManagementCluster::Open(from, world.getenv));
  const std::string current = source.ns();
  const std::string ns = options.ns.empty() ? current : options.ns;
  std::set<std::string> names;
  // Before anything moves: what can't be kept is told. What is kept is what was looked at.
  Kept kept;
  if (!options.manifests.empty()) {
    kept = TRY(ReadKept(options.manifests, ns));
    TRY(CheckNamespaces(options.manifests, kept.manifests, ns, current));
    names = ClustersOf(kept.manifests);
  }
  if (!options.dry_run) names.merge(TRY(ClustersAt(parent, source, ns)));
  MoveOptions move;
  move.from = from;
  move.to = options.to;
  move.ns = ns;
  move.dry_run = options.dry_run;
  move.include_providers = options.include_providers;
  TRY(Move(parent, global, move, world));
  if (options.dry_run) return Ok();
  ManagementCluster target = TRY(ManagementCluster::Open(options.to, world.getenv));
  TRY(CheckArrived(parent, target, ns, names));
  if (options.manifests.empty()) return Ok();
  TRY_WITH(Keep(parent, kept, ns, target, world),
           "the Clusters have moved, but their manifests are not kept there. Run the same command again");
  return Ok();
}

}  // namespace capi::cli::local_clusters
