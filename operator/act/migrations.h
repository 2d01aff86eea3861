// The worker that migrates storage (behaviour.md U3): beside the passes, so that drift, changes and deletions wait for
// no migration, however many objects there are. (Five million of a kind at most: a list has 20,000 pages, F8. With more
// it fails.)
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/mutex.h"
#include "lifecycle/plan/crd_state.h"
#include "lifecycle/storage_migration.h"

namespace capi::ops {

using lifecycle::CrdState;
using lifecycle::MigrationProgress;

// Thread-safe. In memory: after a restart it is asked for anew, and begins from the start, which costs reads and
// patches that change nothing.
class Migrations {
 public:
  // Does the work: StorageMigration::Migrate. `wake` is told the key of each provider that asked, when there is
  // something to report: an end, good or bad, or progress every ten seconds.
  using Migrate = std::function<Result<std::string>(const Context&, const std::string& crd, lifecycle::MigrationCursor&,
                                                    const lifecycle::GoOn& go_on)>;
  Migrations(Migrate migrate, std::function<void(const std::string& key)> wake, Clock& clock);

  // `key` needs the objects of `crd` migrated. One that failed is tried again after 15 s, 30 s and so on to ten
  // minutes, if it is asked for then. For kWatchLag nothing is begun for a CRD as it was before its migration ended:
  // its watch is late. `runs`: the provider's workloads aren't at zero, so that what they convert may succeed now;
  // where nobody has needed it since it failed, that counts no more. Returns how it stands, and when to ask again.
  MigrationProgress Ask(const std::string& key, const CrdState& crd, bool runs);
  MigrationProgress ProgressOf(const std::string& crd);

  // `key` needs none for now: hands are off it (P4), or it is paused (P1). What nobody else needs stops before the next
  // object, and goes on from there when it is asked for again. Until then nothing is told of its failures.
  void Withdraw(const std::string& key);
  // `key` is gone: what was kept for nobody else is dropped.
  void Forget(const std::string& key);

  // Blocks until the context stops; works on one CRD after the other.
  void Run(const Context& ctx);

 private:
  struct Job {
    std::set<std::string> users;        // who need it now
    std::set<std::string> askers;       // whoever asked, and isn't gone: it is kept for them
    lifecycle::MigrationCursor cursor;  // of the worker alone, while it runs
    size_t objects = 0;                 // looked at so far, as the cursor says
    bool asked = false, running = false;
    std::optional<Error> error;  // of the last try, until one comes further
    int failures = 0;            // in a row
    MonoTime not_before, told;
    std::uint64_t done_at = 0;  // of an end: the version of the CRD that says so
    MonoTime seen_by;           // and when the watch shows it at the latest
  };
  std::optional<std::string> Next() CAPI_REQUIRES(mu_);
  void RunOne(const Context& ctx, const std::string& crd);
  void Ended(const Context& ctx, const std::string& crd, const lifecycle::MigrationCursor& cursor,
             const Result<std::string>& ended);
  void Fail(Job& job, const Error& error) CAPI_REQUIRES(mu_);
  static void Withdraw(Job& job, const std::string& key);
  Status Looked(const std::string& crd, size_t objects);
  MigrationProgress Describe(const Job& job) const CAPI_REQUIRES(mu_);

  const Migrate migrate_;
  const std::function<void(const std::string&)> wake_;
  Clock& clock_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::map<std::string, Job> jobs_ CAPI_GUARDED_BY(mu_);  // by the CRD's name; one that runs stays
};

}  // namespace capi::ops
