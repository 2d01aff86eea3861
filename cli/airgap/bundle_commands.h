// `clusterctl bundle`: the releases of a set of providers in one file, and out of it.
#pragma once

#include <string>

#include "cli/airgap/collect.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags of `bundle create`. A value.
struct BundleCreateOptions {
  ClusterOptions cluster;
  CollectOptions collect;
  std::string file;
  std::string operator_image;
  bool cert_manager = true;
};

// The flags of `bundle load`. A value.
struct BundleLoadOptions {
  ClusterOptions cluster;
  std::string file;
  std::string to;         // a registry, with what goes before each repository's name
  std::string to_folder;  // or a folder; without either into the cluster
  std::string ns;
  bool force = false;
};

// The flags of `bundle list-images`. A value.
struct BundleImagesOptions {
  std::string file;
  std::string output = "table";
};

// behaviour.md L27.
Status CreateBundle(const Context& ctx, const GlobalOptions& global, const BundleCreateOptions& options, World& world);
Status LoadBundle(const Context& ctx, const GlobalOptions& global, const BundleLoadOptions& options, World& world);
Status ListBundleImages(const BundleImagesOptions& options, World& world);

}  // namespace capi::cli
