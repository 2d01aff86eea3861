// Which passes are resyncs: time alone began them, and nothing was due (behaviour.md F6). What one of them finds is a
// change without an event.
#pragma once

#include <map>
#include <string>

#include "api/types.h"
#include "base/mutex.h"

namespace capi::ops {

// Thread-safe. By a provider's key.
class Resyncs {
 public:
  // A pass begins; `by_time` if time alone asked for it.
  void Begin(const std::string& key, bool by_time);
  // Whether the next one is a resync if nothing wakes the provider before. Each pass has to say it anew.
  void Next(const std::string& key, bool resync);
  // Whether the pass under way is one, and nothing was found by it yet: it counts once.
  bool Found(const std::string& key);
  void Forget(const std::string& key);

 private:
  struct Pass {
    bool resync = false, next = false;
  };
  Mutex mu_;
  std::map<std::string, Pass> passes_ CAPI_GUARDED_BY(mu_);
};

// Whether a pass changed more of Ready than words.
bool Turned(const api::ProviderStatus& was, const api::ProviderStatus& is);

}  // namespace capi::ops
