// Releases that were fetched, and are not stored in the cluster because something holds their installation back.
// Without them each look at the provider would fetch again, and a source limits requests (behaviour.md F6).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/release.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace capi::ops {

// In memory, compressed, one for each provider, and each for ten minutes: what is corrected at the source is seen then.
// Holds `max_bytes` at most; what was fetched the longest ago goes first. Thread-safe.
class FetchedReleases {
 public:
  explicit FetchedReleases(size_t max_bytes = 4u << 20) : max_bytes_(max_bytes) {}

  // `inputs` is what decides what is fetched: another spec fetches anew, and so does another Secret with the variables.
  // Not one for the source alone (spec.fetchConfig.secretRef): what has come by it is the release all the same.
  void Put(const std::string& provider, const std::string& inputs, const api::Release& release, MonoTime now);
  // nullopt: none of these inputs, or it is too old.
  std::optional<api::Release> Get(const std::string& provider, const std::string& inputs, MonoTime now);
  void Drop(const std::string& provider);

 private:
  struct Kept {
    std::string inputs;
    api::Release release;  // its components are gzip, and its texts fit: their size is what they take
    MonoTime fetched;
    size_t bytes() const;
  };
  void DropLocked(const std::string& provider) CAPI_REQUIRES(mu_);

  const size_t max_bytes_;
  Mutex mu_;
  std::map<std::string, Kept> kept_ CAPI_GUARDED_BY(mu_);
  size_t bytes_ CAPI_GUARDED_BY(mu_) = 0;
};

}  // namespace capi::ops
