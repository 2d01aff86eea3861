#include "lifecycle/direct/release.h"

#include <fmt/format.h>

#include <iterator>

#include "api/text.h"
#include "base/strings.h"
#include "kube/apply/apply.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/kind_scopes.h"

namespace capi::lifecycle {
namespace {

constexpr size_t kMostKinds = 10;

// The cluster is asked after the render, never in it; of what it says then another render is right.
Result<templating::RenderOutput> RenderRight(const Context& ctx, kube::Client& client, templating::RenderInput input) {
  const kube::Inventory none;
  KindScopes scopes(client.mapper(), none);
  for (bool again = false;; again = true) {
    input.cluster_scoped = scopes.Lookup();
    auto rendered = templating::Render(input);
    bool settled = TRY_WITH(scopes.Settle(ctx), "asking which kinds have a namespace");
    if (!settled && !again) continue;
    if (rendered.error) return rendered.error->error;
    return std::move(*rendered.output);
  }
}

Result<std::string> ContractOf(const ReleaseInput& input) {
  std::string label = api::ManifestLabel(input.type, input.name);
  auto metadata = TRY(api::Metadata::Parse(input.release->metadata, label));
  auto contract = metadata.ContractOf(input.release->version);
  if (contract) return *std::move(contract);
  return Error{
      Code::kFailedPrecondition,
      fmt::format("invalid provider metadata: version {} for the provider {} does not match any release series",
                  input.release->version.ToString(), label),
      {}};
}

}  // namespace

kube::Manifest DirectRelease::Entry() const { return EntryManifest(provider.id, provider.version); }

Result<DirectRelease> Prepare(const Context& ctx, kube::Client& client, const ReleaseInput& input) {
  DirectRelease out;
  out.provider.version = input.release->version.ToString();
  out.provider.contract = TRY(ContractOf(input));
  templating::RenderInput render;
  render.type = input.type;
  render.name = input.name;
  render.release = input.release;
  render.variables = input.variables;
  render.target_namespace = input.target_namespace;
  render.images = input.images;
  render.keep_namespace_object = true;
  std::string label = api::ManifestLabel(input.type, input.name);
  auto rendered = TRY_WITH(RenderRight(ctx, client, std::move(render)),
                           fmt::format("failed to get provider components for the {} provider", api::GoQuote(label)));
  out.provider.id = {input.type, rendered.target_namespace, input.name};
  out.warnings = std::move(rendered.warnings);
  for (kube::Object& object : rendered.objects) out.manifests.push_back(kube::ToManifest(std::move(object)));
  return out;
}

Status CheckKinds(const Context& ctx, kube::Client& client, const std::vector<DirectRelease>& releases) {
  std::vector<kube::Manifest> all;
  for (const DirectRelease& release : releases) {
    std::copy(release.manifests.begin(), release.manifests.end(), std::back_inserter(all));
  }
  auto missing = TRY(kube::Applier(client, {}).MissingKinds(ctx, all));
  if (missing.empty()) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("the cluster has no kinds {}; install first what brings them (cert-manager.io is "
                           "cert-manager's)",
                           JoinNames(missing, kMostKinds)),
               {}};
}

}  // namespace capi::lifecycle
