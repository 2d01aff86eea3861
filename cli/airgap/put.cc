#include "cli/airgap/put.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "api/release_choice.h"
#include "api/release_maps.h"
#include "api/stored_release.h"
#include "cli/frame/provider_objects.h"
#include "cli/install/carry.h"
#include "kube/meta/label_selector.h"

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

Result<std::string> SelectorFor(const api::Provider& provider) {
  const auto& fetch = provider.spec.fetch_config;
  if (!fetch || !fetch->selector) return api::SelectorOf(api::ReleaseSelector(provider.id));
  return TRY(kube::LabelSelector::FromJson(*fetch->selector)).ToString();
}

// A selector may find those of other providers, too.
bool IsOfAnother(const kube::Object& map, const api::ProviderId& id) {
  for (const auto& [key, value] : api::ReleaseSelector(id)) {
    if (map.has_label(key) && map.label(key) != value) return true;
  }
  return false;
}

// I6, I14: the operator may have one by now, whatever its ConfigMap is called, in whose place this one would come.
Status CheckOthers(const Context& ctx, kube::Client& client, const CollectedRelease& one,
                   const std::vector<kube::Object>& maps) {
  const api::ProviderId& id = one.candidate.id;
  const std::string selector = TRY(SelectorFor(one.provider));
  auto list =
      TRY_WITH(client.List(ctx, kube::Builtin("ConfigMap"), id.ns, {.label_selector = selector, .metadata_only = true}),
               "failed to look for releases in ConfigMaps");
  std::vector<api::StoredRelease> found;
  for (const kube::Object& map : list.items) {
    if (!IsOfAnother(map, id)) found.push_back(api::ReadStoredRelease(map));
  }
  const std::string version = one.candidate.found.release.version.ToString();
  const api::StoredRelease* counts = api::ReleaseThatCounts(found, one.provider, version);
  if (counts == nullptr || counts->name == maps.back().name()) return Ok();
  auto there = client.Get(ctx, kube::Builtin("ConfigMap"), id.ns, counts->name);
  if (!there.ok() && there.code() == Code::kNotFound) return Ok();
  if (!there.ok()) return there.error().With(fmt::format("ConfigMap {}/{}", id.ns, counts->name));
  return CheckOther(ctx, client, *there, maps);
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

// To the same files, which came from there, too. Read whole only where it lacks one: it was hardly ever there before.
Status NameSource(const Context& ctx, kube::Client& client, const CollectedRelease& one,
                  const std::vector<kube::Object>& maps, const kube::WriteOptions& write) {
  const auto& fetch = one.provider.spec.fetch_config;
  if (!fetch || (fetch->oci.empty() && !fetch->git)) return Ok();
  const kube::Object& first = maps.back();
  auto seen = TRY(client.Get(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name(), {.metadata_only = true}));
  if (!LacksSource(seen, one.provider)) return Ok();
  auto live = TRY(client.Get(ctx, kube::Builtin("ConfigMap"), first.ns(), first.name()));
  TRY(CheckOther(ctx, client, live, maps));
  const std::string key(api::kLabelReleaseSource);
  const Json patch = {
      {"metadata", {{"resourceVersion", live.resource_version()}, {"annotations", {{key, first.annotation(key)}}}}}};
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
