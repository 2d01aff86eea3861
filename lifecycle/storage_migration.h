// Brings the objects of a CRD to the version that it stores, so that status.storedVersions is that version alone and a
// later release may drop the older ones (behaviour.md U3).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "kube/client/client.h"
#include "lifecycle/plan/crd_stages.h"

namespace capi::lifecycle {

// The CRDs among these manifests that are in the cluster, as they are there.
Result<CrdStates> LiveCrds(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests);

// How far it came, to go on from. A value.
struct MigrationCursor {
  std::string storage;  // what it is about: another one, or another generation, begins anew
  std::int64_t generation = 0;
  std::string last;                 // the last object that was looked at, in the server's order
  size_t objects = 0;               // that were
  std::vector<std::string> failed;  // that have to be looked at once more; a few
};

// Whether the work goes on: an error ends it, with that error, before the next request.
using GoOn = std::function<Status()>;

// Thread-safe. Each object gets an empty patch: the server writes it again where it is stored at another version, and
// does nothing where it isn't. So it may be interrupted and begun again at any time, and others may do the same work.
class StorageMigration {
 public:
  explicit StorageMigration(kube::Client& client, std::string_view field_manager = api::kFieldManager)
      : client_(client), field_manager_(field_manager) {}

  // All of one CRD, page by page, from where `cursor` stands; `go_on` is asked for each listing, after each object, and
  // before storedVersions is written. An object that has gone, or that somebody else writes, is as good as written.
  // Others that can't be written don't stop the rest until they are many; they, like any other error, leave
  // storedVersions as it is. kConflict: the CRD changed meanwhile. Returns the resourceVersion of the CRD at which
  // nothing is left to do; "" where there is no such CRD.
  Result<std::string> Migrate(const Context& ctx, const std::string& crd, MigrationCursor& cursor,
                              const GoOn& go_on = nullptr);

 private:
  struct Mark {
    CrdState crd;
    std::int64_t generation = 0;
    bool one_version = false;
  };
  struct Walk;
  Result<Mark> Look(const Context& ctx, const std::string& crd);
  Status RewriteFailed(const Context& ctx, Walk& walk);
  Status RewriteAll(const Context& ctx, Walk& walk);
  Result<bool> RewriteNext(const Context& ctx, Walk& walk, const kube::Object& item);
  Status Rewrite(const Context& ctx, Walk& walk, const std::string& object);
  Result<bool> HasGone(const Context& ctx, const Walk& walk, const std::string& ns, const std::string& name);
  Result<std::string> Trim(const Context& ctx, const Mark& before);

  kube::Client& client_;
  const std::string field_manager_;
};

}  // namespace capi::lifecycle
