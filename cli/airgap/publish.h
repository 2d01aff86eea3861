// `clusterctl publish`: a release as an artifact of a registry.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"
#include "cli/install/choose.h"

namespace capi::cli {

// The flags. A value.
struct PublishOptions {
  std::string artifact_url;
  std::string folder;              // its release's files,
  ProviderFlags providers;         // or those of a provider's source
  std::vector<std::string> files;  // and these
  bool force = false;
  std::string output = "table";
};

// behaviour.md L26.
Status Publish(const Context& ctx, const GlobalOptions& global, const PublishOptions& options, World& world);

}  // namespace capi::cli
