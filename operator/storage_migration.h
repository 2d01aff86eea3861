// Brings the objects of a CRD to the version that it stores, so that status.storedVersions is that version alone and a
// later release may drop the older ones (behaviour.md U3).
#pragma once

#include <string>

#include "kube/client/client.h"
#include "operator/observation.h"

namespace capi::ops {

// Thread-safe. Each object gets an empty patch: the server writes it again where it is stored at another version, and
// does nothing where it isn't. So it may be interrupted and begun again at any time, and others may do the same work.
class StorageMigration {
 public:
  explicit StorageMigration(kube::Client& client) : client_(client) {}

  struct Outcome {
    size_t objects = 0;  // that were looked at
    bool done = false;   // storedVersions is one version now, through us or somebody else
  };
  // All of one CRD, page by page. An error leaves storedVersions as it is. kConflict: the CRD changed meanwhile.
  Result<Outcome> Migrate(const Context& ctx, const CrdState& crd);

 private:
  struct Mark {
    std::string storage, resource_version;
    std::int64_t generation = 0;
    bool one_version = false;
  };
  Result<Mark> Look(const Context& ctx, const std::string& crd);
  Result<size_t> RewriteAll(const Context& ctx, const kube::Resource& resource, const std::string& subresource);
  Status Rewrite(const Context& ctx, const kube::Resource& resource, const Json& item, const std::string& subresource);
  Status Trim(const Context& ctx, const std::string& crd, const Mark& before);

  kube::Client& client_;
};

}  // namespace capi::ops
