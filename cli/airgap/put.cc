#include "cli/airgap/put.h"

#include <fmt/format.h>

#include "api/stored_release.h"
#include "cli/frame/provider_objects.h"
#include "cli/install/carry.h"

namespace capi::cli {
namespace {

// Not that of `init` (cli/install/carry.h): what was put there by hand doesn't go with a provider.
constexpr std::string_view kFieldManager = "clusterctl-preload";

// Namespaces that are there stay as they are.
Result<bool> LacksNamespace(const Context& ctx, kube::Client& client, const std::string& ns) {
  auto live = client.Get(ctx, kube::Builtin("Namespace"), "", ns);
  if (!live.ok() && live.code() == Code::kNotFound) return true;
  if (!live.ok()) return live.error().With("namespace " + ns);
  if (!live->deleting()) return false;
  return Error{
      Code::kFailedPrecondition,
      fmt::format("namespace {} is being deleted: wait until it has gone, then run the same command again", ns),
      {}};
}

Status MakeNamespace(const Context& ctx, kube::Client& client, const Candidate& candidate,
                     const kube::WriteOptions& write) {
  const Json json = {{"apiVersion", "v1"},
                     {"kind", "Namespace"},
                     {"metadata", {{"name", candidate.id.ns}, {"labels", candidate.namespace_labels}}}};
  auto made = client.Create(ctx, kube::Builtin("Namespace"), kube::Object(json), write);
  if (made.ok() || made.code() == Code::kAlreadyExists) return Ok();
  return made.error().With("failed to make namespace " + candidate.id.ns);
}

// I6: the operator takes any release that its labels find, whatever the ConfigMap is called.
Status CheckOthers(const Context& ctx, kube::Client& client, const CollectedRelease& one,
                   const std::vector<kube::Object>& maps) {
  const std::string& ns = one.candidate.id.ns;
  auto found = TRY_WITH(
      client.List(ctx, kube::Builtin("ConfigMap"), ns, {.label_selector = one.selector, .metadata_only = true}),
      "failed to look for releases in ConfigMaps");
  for (const kube::Object& map : found.items) {
    const bool same_version = api::ReadStoredRelease(map).version == one.candidate.found.release.version;
    if (map.name() == maps.back().name() || !same_version) continue;
    auto there = client.Get(ctx, kube::Builtin("ConfigMap"), ns, map.name());
    if (!there.ok() && there.code() == Code::kNotFound) continue;
    if (!there.ok()) return there.error().With(fmt::format("ConfigMap {}/{}", ns, map.name()));
    TRY(CheckOther(ctx, client, *there, maps));
  }
  return Ok();
}

}  // namespace

Status PutIntoCluster(const Context& ctx, ManagementCluster& cluster, const std::vector<CollectedRelease>& releases,
                      World& world) {
  // What a broken-off `init` has left is another release like any: it goes on with that.
  constexpr LeftOver kLeft = LeftOver::kIsAnother;
  kube::Client& client = cluster.client();
  std::vector<bool> lacks, lacks_namespace;
  for (const CollectedRelease& one : releases) {
    const auto maps = MapsOf(one);
    auto lacking = TRY_WITH(LackingMaps(ctx, client, maps, kLeft), Describe(one.candidate.id));
    TRY_WITH(CheckOthers(ctx, client, one, maps), Describe(one.candidate.id));
    lacks.push_back(!lacking.empty());
    lacks_namespace.push_back(!lacking.empty() && TRY(LacksNamespace(ctx, client, one.candidate.id.ns)));
  }
  const kube::WriteOptions write{.field_manager = std::string(kFieldManager)};
  for (size_t i = 0; i < releases.size(); ++i) {
    const Candidate& candidate = releases[i].candidate;
    const auto maps = MapsOf(releases[i]);
    if (lacks[i]) {
      if (lacks_namespace[i]) TRY(MakeNamespace(ctx, client, candidate, write));
      TRY_WITH(MakeMaps(ctx, client, maps, write, kLeft), Describe(candidate.id));
    }
    world.out << fmt::format("configmap/{} in namespace {} {}\n", maps.back().name(), candidate.id.ns,
                             lacks[i] ? "created" : "unchanged");
  }
  return Ok();
}

}  // namespace capi::cli
