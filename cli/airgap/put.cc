#include "cli/airgap/put.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "api/stored_release.h"
#include "cli/frame/provider_objects.h"
#include "cli/install/carry.h"

namespace capi::cli {
namespace {

// Not that of `init` (cli/install/carry.h): what was put there by hand doesn't go with a provider.
constexpr std::string_view kFieldManager = "clusterctl-preload";
constexpr std::string_view kUnchanged = "unchanged";

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

using Labels = std::map<std::string, std::string>;

// By which the API server judges pods: one value for two releases may keep the pods of one of them out.
bool IsOfPodSecurity(const std::string& label) { return label.starts_with("pod-security.kubernetes.io/"); }

// Those that are missing, with what all releases that go there want of one. Of other labels the first value stays, as
// `init` has it: each release names its own provider there. Thread-compatible.
class MissingNamespaces {
 public:
  Status Add(const Context& ctx, kube::Client& client, const Candidate& candidate) {
    const std::string& ns = candidate.id.ns;
    if (!labels_.contains(ns)) {
      if (!TRY(LacksNamespace(ctx, client, ns))) return Ok();
      labels_.try_emplace(ns);
    }
    for (const auto& [key, value] : candidate.namespace_labels) {
      const auto [before, is_new] = labels_[ns].emplace(key, value);
      if (is_new || before->second == value || !IsOfPodSecurity(key)) continue;
      return Error{
          Code::kFailedPrecondition,
          fmt::format("namespace {} is missing, and two releases want another label {} of it ({} and {}): make "
                      "it, or put them into two",
                      ns, key, before->second, value),
          {}};
    }
    return Ok();
  }

  // Once.
  Status Make(const Context& ctx, kube::Client& client, const std::string& ns, const kube::WriteOptions& write) {
    const auto missing = labels_.extract(ns);
    if (missing.empty()) return Ok();
    const Json json = {
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}, {"labels", missing.mapped()}}}};
    auto made = client.Create(ctx, kube::Builtin("Namespace"), kube::Object(json), write);
    if (made.ok()) return Ok();
    if (made.code() != Code::kAlreadyExists) return made.error().With("failed to make namespace " + ns);
    TRY(LacksNamespace(ctx, client, ns));  // somebody was quicker; or it is on its way out
    return Ok();
  }

 private:
  std::map<std::string, Labels> labels_;  // by name
};

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

// T12: with another source than the object's it counts for nothing.
bool LacksSource(const kube::Object& there, const api::Provider& provider) {
  return !api::IsOfItsSource(api::ReadStoredRelease(there), provider);
}

// What will be said of it.
Result<std::string> WordFor(const Context& ctx, kube::Client& client, const CollectedRelease& one,
                            const std::vector<kube::Object>& maps, bool lacks_maps) {
  const kube::Object& first = maps.back();
  auto there = client.Get(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name(), {.metadata_only = true});
  if (!there.ok() && there.code() == Code::kNotFound) return std::string("created");
  if (!there.ok()) return there.error();
  return std::string(lacks_maps || LacksSource(*there, one.provider) ? "configured" : kUnchanged);
}

// To the same files, which came from there, too.
Status NameSource(const Context& ctx, kube::Client& client, const CollectedRelease& one,
                  const std::vector<kube::Object>& maps, const kube::WriteOptions& write) {
  const kube::Object& first = maps.back();
  auto live = TRY(client.Get(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name()));
  if (!LacksSource(live, one.provider)) return Ok();
  TRY(CheckOther(ctx, client, live, maps));
  const std::string key(api::kLabelReleaseSource);
  const Json patch = {{"metadata",
                       {{"resourceVersion", live.resource_version()},
                        {"annotations", {{key, first.annotation(key)}}}}}};
  TRY(client.Patch(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name(), kube::PatchType::kMerge, patch, write));
  return Ok();
}

}  // namespace

Status PutIntoCluster(const Context& ctx, ManagementCluster& cluster, const std::vector<CollectedRelease>& releases,
                      World& world) {
  // What a broken-off `init` has left is another release like any: it goes on with that.
  constexpr LeftOver kLeft = LeftOver::kIsAnother;
  kube::Client& client = cluster.client();
  std::vector<std::string> words;  // what will be done
  MissingNamespaces missing;
  for (const CollectedRelease& one : releases) {
    const auto maps = MapsOf(one);
    auto lacking = TRY_WITH(LackingMaps(ctx, client, maps, kLeft), Describe(one.candidate.id));
    TRY_WITH(CheckOthers(ctx, client, one, maps), Describe(one.candidate.id));
    words.push_back(TRY_WITH(WordFor(ctx, client, one, maps, !lacking.empty()), Describe(one.candidate.id)));
    if (words.back() == kUnchanged) continue;
    TRY_WITH(missing.Add(ctx, client, one.candidate), Describe(one.candidate.id));
  }
  const kube::WriteOptions write{.field_manager = std::string(kFieldManager)};
  for (size_t i = 0; i < releases.size(); ++i) {
    const Candidate& candidate = releases[i].candidate;
    const auto maps = MapsOf(releases[i]);
    if (words[i] != kUnchanged) {
      TRY(missing.Make(ctx, client, candidate.id.ns, write));
      TRY_WITH(MakeMaps(ctx, client, maps, write, kLeft), Describe(candidate.id));
      TRY_WITH(NameSource(ctx, client, releases[i], maps, write), Describe(candidate.id));
    }
    world.out << fmt::format("configmap/{} in namespace {} {}\n", maps.back().name(), candidate.id.ns, words[i]);
  }
  return Ok();
}

}  // namespace capi::cli
