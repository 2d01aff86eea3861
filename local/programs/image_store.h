// Images that are unpacked on this machine, each once, from their registries.
#pragma once

#include <functional>
#include <string>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "base/result.h"
#include "fetch/oci/pull.h"
#include "local/programs/image_config.h"
#include "local/programs/programs.h"
#include "local/programs/turns.h"

namespace capi::local {

// Below its folder: `sha256-<digest of the manifest>/root` and `.../config.json`, which is there when all
// is, and `.../entries`, how many files it has; `names/<...>`, which digest a name had. What was lost of it is pulled
// again. As a kubelet does by default, it asks the registry for an image that is here already only where it is named by
// "latest", or by no tag; one that is away then doesn't matter. Several processes may use one folder. Thread-safe.
class ImageStore {
 public:
  using RegistryOf = std::function<fetch::OciOptions(const std::string& host)>;

  ImageStore(std::string folder, RegistryOf registry) : folder_(std::move(folder)), registry_(std::move(registry)) {}

  // Errors as Programs::Find has them.
  Result<Program> Find(const Context& ctx, const api::OciReference& reference);

 private:
  // The digest of the manifest for this machine, of which all is here.
  Result<std::string> Unpacked(const Context& ctx, const api::OciReference& reference);
  Result<std::string> Pull(const Context& ctx, const api::OciReference& reference);
  Status Unpack(const Context& ctx, fetch::OciPull& pull, const ChosenManifest& manifest);
  std::string FolderOf(const std::string& digest) const;
  std::string NameFile(const api::OciReference& reference) const;
  // Of an image that is here whole; "" for none.
  std::string KnownDigest(const api::OciReference& reference) const;
  Result<Program> ProgramOf(const std::string& digest) const;
  bool IsThere(const std::string& digest) const;
  Status MoveAside(const std::string& digest) const;

  const std::string folder_;
  const RegistryOf registry_;
  Turns pulls_;  // of each name one at a time: the others wait
};

}  // namespace capi::local
