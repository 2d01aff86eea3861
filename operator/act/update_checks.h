// The worker that looks for newer versions (behaviour.md U12): beside the passes, so that nothing waits for a slow
// source.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// One look at a time, in the order in which they are asked for; before others those at ConfigMaps, after them those at
// sources whose last look failed. In memory: what was found is told in the status, and so
// is when it is looked again. Thread-safe.
class UpdateChecks {
 public:
  struct Needs {
    // Does the look: Installer::NewerVersions.
    std::function<Result<std::vector<api::AvailableUpgrade>>(const Context&, const Observation&)> look;
    // Whether a provider may be looked at still, when its turn has come.
    std::function<bool(const std::string& key)> may_look;
    std::function<void(const std::string& key)> wake;  // there is something to tell of this provider
    Clock& clock;
  };
  explicit UpdateChecks(Needs needs) : needs_(std::move(needs)) {}

  // A look is due for this provider. Nothing where it is in the line already, is being looked at, or was, and that
  // isn't told.
  void Ask(const Observation& o);
  // What its status doesn't tell yet. All else is forgotten: a source that is named again later is looked at anew.
  std::optional<UpdatesFound> FoundFor(const api::Provider& provider);
  // It is gone.
  void Forget(const std::string& key);

  // Blocks until the context stops.
  void Run(const Context& ctx);

 private:
  std::optional<Observation> Next(const Context& ctx);
  void Look(const Context& ctx, const Observation& o);
  void End(const std::string& key, std::optional<UpdatesFound> found);

  const Needs needs_;
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  std::deque<Observation> line_ CAPI_GUARDED_BY(mu_);
  std::string looking_ CAPI_GUARDED_BY(mu_);     // the key of the one that is being looked at; "" for none
  bool forgotten_ CAPI_GUARDED_BY(mu_) = false;  // and it is gone
  std::map<std::string, UpdatesFound> found_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
