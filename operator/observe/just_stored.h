// Releases that were just stored, until the watch of their ConfigMaps shows them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/decide/observation.h"
#include "operator/observe/tracks.h"

namespace capi::ops {

// One for each provider, by key. Thread-safe.
class JustStored {
 public:
  explicit JustStored(Clock& clock) : maps_(clock) {}

  void Put(const std::string& key, const StoredRelease& stored);
  void Forget(const std::string& key);
  // For every event of the watch that stored releases are read from, as an informer tells it; and when
  // it ends.
  void Saw(const kube::ObjectPtr& was, const kube::ObjectPtr& is);
  void WatchEnds();

  // nullopt once that watch has shown that version of the ConfigMap, or its end, be it before Put; and half a minute
  // after it was stored (Tracks). To be asked before the watch's store is listed: what it has shown is in the list
  // then.
  std::optional<StoredRelease> Awaited(const std::string& key);

 private:
  Tracks maps_;
  Mutex mu_;
  std::map<std::string, StoredRelease> releases_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
