// The worker that migrates storage (behaviour.md U3): beside the passes, so that drift, changes and deletions wait for
// no migration, however many objects there are.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "operator/act/storage_migration.h"

namespace capi::ops {

// Thread-safe. In memory: after a restart it is asked for anew, and begins from the start, which costs reads and
// patches that change nothing.
class Migrations {
 public:
  // Does the work: StorageMigration::Migrate. `wake` is told the key of each provider that asked, when there is
  // something to report: an end, good or bad, or progress every ten seconds.
  using Migrate =
      std::function<Status(const Context&, const CrdState&, MigrationCursor&, const std::function<void()>&)>;
  Migrations(Migrate migrate, std::function<void(const std::string& key)> wake, Clock& clock);

  // `key` needs the objects of `crd` migrated. One that failed is tried again a minute later, if it is asked for then.
  // Returns how it stands.
  MigrationProgress Ask(const std::string& key, const CrdState& crd);
  MigrationProgress ProgressOf(const std::string& crd);
  void Forget(const std::string& key);

  // Blocks until the context stops; works on one CRD after the other.
  void Run(const Context& ctx);

 private:
  struct Job {
    CrdState crd;
    std::set<std::string> users;
    MigrationCursor cursor;  // of the worker alone, while it runs
    size_t objects = 0;
    bool asked = false, running = false;
    std::optional<Error> error;  // of the last try
    MonoTime not_before, told;
  };
  std::optional<std::string> Next() CAPI_REQUIRES(mu_);
  void RunOne(const Context& ctx, const std::string& crd);
  void Looked(const std::string& crd);
  MigrationProgress Describe(const Job& job) const CAPI_REQUIRES(mu_);

  const Migrate migrate_;
  const std::function<void(const std::string&)> wake_;
  Clock& clock_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::map<std::string, Job> jobs_ CAPI_GUARDED_BY(mu_);  // by the CRD's name
};

}  // namespace capi::ops
