// Releases that were just stored, until the watch of their ConfigMaps shows them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/cache/store.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// One for each provider, by key. Thread-safe.
class JustStored {
 public:
  explicit JustStored(Clock& clock) : clock_(clock) {}

  void Put(const std::string& key, const StoredRelease& stored);
  void Forget(const std::string& key);

  // nullopt once the watch shows that version of the ConfigMap, and half a minute after it was stored: it may have been
  // deleted before anybody saw it. `cached` reads the watch's store. To be asked before that store is listed: what it
  // shows is in the list then, too.
  using Cached = std::function<kube::ObjectPtr(const std::string& ns, const std::string& name)>;
  std::optional<StoredRelease> Awaited(const std::string& key, const Cached& cached);

 private:
  struct Entry {
    StoredRelease release;
    MonoTime until;
  };
  Clock& clock_;
  Mutex mu_;
  std::map<std::string, Entry> entries_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
