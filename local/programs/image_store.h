// Images that are unpacked on this machine, each once, from their registries.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "fetch/oci/pull.h"
#include "local/programs/executable.h"
#include "local/programs/image_config.h"
#include "local/programs/programs.h"
#include "local/programs/scratch.h"
#include "local/programs/turns.h"

namespace capi::local {

// Below its folder: `sha256-<digest of the manifest>/root` and `.../config.json`, which is there when all
// is, and `.../entries`, how many files it has; `names/<...>`, which digest a name had, and a lock for each digest.
// What was lost of it is pulled again. As a kubelet does by default, it asks the registry for an image that is here
// already only where it is named by "latest", or by no tag; one that is away then doesn't matter. Several processes may
// use one folder, and several kinds of machine. Thread-safe.
class ImageStore {
 public:
  using RegistryOf = std::function<fetch::OciOptions(const std::string& host)>;

  // `platform`: whose images they are, as "linux/amd64".
  ImageStore(std::string folder, RegistryOf registry, std::string_view platform = ThisPlatform())
      : folder_(std::move(folder)), registry_(std::move(registry)), platform_(platform) {}

  // Errors as Programs::Find has them.
  Result<Program> Find(const Context& ctx, const api::OciReference& reference);
  // It is here, under this name, and the registry needn't be asked.
  bool Has(const api::OciReference& reference) const;

 private:
  // The digest of the manifest for this machine, of which all is here.
  Result<std::string> Unpacked(const Context& ctx, const api::OciReference& reference);
  // What the registry has under this name.
  Result<fetch::OciImage> Look(const Context& look, fetch::OciPull& pull, const api::OciReference& reference) const;
  // `look` bounds how long it is looked for; `anew`: also where it is here already, in the place of that one.
  Result<std::string> Pull(const Context& ctx, const Context& look, const api::OciReference& reference, bool anew);
  Result<std::string> Take(const Context& ctx, fetch::OciPull& pull, const fetch::OciImage& image,
                           const api::OciReference& reference, bool anew);
  Status Unpack(const Context& ctx, fetch::OciPull& pull, const ChosenManifest& manifest,
                const api::OciReference& reference);
  Status UnpackLayers(const Context& ctx, fetch::OciPull& pull, const ChosenManifest& manifest,
                      const api::OciReference& reference, const std::string& folder);
  Status PutThere(const Context& ctx, Scratch& scratch, const std::string& digest);
  // Says so where there are no credentials to give, since a registry's own words would ask for them.
  Error OfRegistry(Error error, const api::OciReference& reference) const;
  // An error of an image's own bytes, which stays what it is.
  std::optional<Error> BadImage(const std::string& digest) const;
  Error KeepBad(const std::string& digest, Error error);
  // Files of it are gone. Counted once in a run, and where its program doesn't start. kInternal where they can't be
  // counted.
  Result<bool> IsLost(const std::string& digest, bool again);
  std::string FolderOf(const std::string& digest) const;
  std::string NameFile(const api::OciReference& reference) const;
  // Of an image that is here whole; "" for none.
  std::string KnownDigest(const api::OciReference& reference) const;
  Result<Program> ProgramOf(const std::string& digest) const;
  bool IsThere(const std::string& digest) const;
  Status MoveAside(const std::string& digest) const;

  const std::string folder_;
  const RegistryOf registry_;
  const std::string platform_;
  Turns pulls_;  // of each name one at a time: the others wait
  mutable Mutex mu_;
  std::map<std::string, Error> bad_ CAPI_GUARDED_BY(mu_);  // by digest
  std::set<std::string> counted_ CAPI_GUARDED_BY(mu_);     // digests
};

}  // namespace capi::local
