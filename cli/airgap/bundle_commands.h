// `clusterctl bundle`: the releases of a set of providers in one file, and out of it.
#pragma once

#include <string>

#include "cli/airgap/collect.h"
#include "cli/airgap/images.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags of `bundle create`. A value.
struct BundleCreateOptions {
  ClusterOptions cluster;
  CollectOptions collect;
  std::string file;
  std::string operator_image;
  bool cert_manager = true;
  bool images = false;  // themselves, too
  ImageSources image_sources;
};

// The flags of `bundle load`. A value.
struct BundleLoadOptions {
  ClusterOptions cluster;
  std::string file;
  std::string to;         // a registry, with what goes before each repository's name
  std::string to_folder;  // or a folder; without either, and without images_to, into the cluster
  std::string images_to;  // a registry for the images, with what goes before their names
  std::string ns;
  bool force = false;
};

// The flags of `bundle list-images`. A value.
struct BundleImagesOptions {
  std::string file;
  std::string output = "table";
};

// behaviour.md L27, L28.
Status CreateBundle(const Context& ctx, const GlobalOptions& global, const BundleCreateOptions& options, World& world);
Status LoadBundle(const Context& ctx, const GlobalOptions& global, const BundleLoadOptions& options, World& world);
Status ListBundleImages(const BundleImagesOptions& options, World& world);

}  // namespace capi::cli
