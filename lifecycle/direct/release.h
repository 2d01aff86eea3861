// A provider's release, made ready for a cluster.
#pragma once

#include <string>
#include <vector>

#include "api/release.h"
#include "base/context.h"
#include "kube/apply/manifest.h"
#include "kube/client/client.h"
#include "templating/render.h"

namespace capi::lifecycle {

// Who writes the objects (behaviour.md L23): as clusterctl does, so that an operator that takes them over (A1c), and
// Cluster API's clusterctl, find what they expect.
inline constexpr std::string_view kDirectManager = "clusterctl";

// A provider at a version. A value.
struct Installable {
  api::ProviderId id;  // its namespace is where it goes
  std::string version, contract;
};

// A value.
struct DirectRelease {
  Installable provider;
  std::vector<kube::Manifest> manifests;  // all but the entry in clusterctl's inventory
  std::vector<std::string> warnings;
  kube::Manifest Entry() const;  // in clusterctl's inventory
};

// What it is made of. A value; what it points to outlives the call.
struct ReleaseInput {
  api::ProviderType type = api::ProviderType::kCore;
  std::string name;
  const api::Release* release = nullptr;
  templating::Variables variables;
  std::string target_namespace;  // "" for the release's own
  templating::ImageOverrides images;
};

// Reads of the cluster only which kinds have a namespace. kInvalidArgument: the release or a variable is wrong, or one
// is missing; kFailedPrecondition: its metadata says no contract.
Result<DirectRelease> Prepare(const Context& ctx, kube::Client& client, const ReleaseInput& input);

// Kinds that neither the cluster nor one of the releases has: kFailedPrecondition names them.
Status CheckKinds(const Context& ctx, kube::Client& client, const std::vector<DirectRelease>& releases);

}  // namespace capi::lifecycle
