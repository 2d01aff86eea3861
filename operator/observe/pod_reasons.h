// What the pods of a workload that doesn't come up wait for: an image that can't be pulled, a crash, no node
// (behaviour.md U5).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kube/client/client.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// The worst of `pods` in words, "" when none has anything to tell. The same trouble of several pods is told once.
std::string PodTrouble(const std::vector<kube::Object>& pods);

// Thread-safe. Pods aren't watched: they are read only while something doesn't come up, and seldom.
class PodReasons {
 public:
  explicit PodReasons(kube::Client& client) : client_(client) {}

  // Adds to the message of each unhealthy workload of `fleet` what its pods tell. Asks the server at most once in
  // kPodsEvery for a provider, and gives what it said last in between. An error is no trouble of the pods: nothing is
  // added then.
  void Explain(const Context& ctx, const std::string& key, Fleet& fleet);
  void Forget(const std::string& key);

 private:
  struct Said {
    MonoTime at;
    std::map<kube::ObjectId, std::string> words;
  };
  std::string Ask(const Context& ctx, const Workload& workload);

  kube::Client& client_;
  Mutex mu_;
  std::map<std::string, Said> said_ CAPI_GUARDED_BY(mu_);
};

// A rollout that goes well needs no look at its pods.
inline constexpr Seconds kPodsAfter{5};
inline constexpr Seconds kPodsEvery{15};

}  // namespace capi::ops
