// `clusterctl init`: makes a cluster a management cluster.
#pragma once

#include <string>

#include "cli/frame/world.h"
#include "cli/install/choose.h"

namespace capi::cli {

// The flags. A value.
struct InitOptions {
  ClusterOptions cluster;
  ProviderFlags providers;
  std::string target_namespace;
  std::string operator_image;
  std::string output = "table";  // of list-images
  bool wait_providers = false;
  int wait_provider_timeout = 300;  // seconds
  bool validate = true;
  bool cert_manager = true;
  bool with_operator = true;
};

// kInvalidArgument for flags that say nothing together.
Status CheckOptions(const InitOptions& options);

// behaviour.md L10, and L23 without an operator.
Status Init(const Context& parent, const GlobalOptions& global, const InitOptions& options, World& world);

// The same within a command that looks after Ctrl-C itself: `ctx` stops then.
Status InitUninterrupted(const Context& ctx, const GlobalOptions& global, const InitOptions& options, World& world);

}  // namespace capi::cli
