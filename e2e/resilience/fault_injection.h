// Faults of an API server by chance, of all the kinds that docs/behaviour.md F3 names.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {

// The same seed makes the same faults for the same requests. By chance, not by turns: what repeats itself in the same
// rhythm would meet the same fault for ever. Thread-safe.
class FaultInjection {
 public:
  explicit FaultInjection(unsigned seed) : random_(seed) {}
  kube::Fault Next(const kube::ProxyRequest& request);
  void Note(const std::string& what);  // a fault that was made otherwise: "away"
  // The kinds of faults that there was none of so far, or "many" where there were few.
  std::vector<std::string> Lacks();
  // How long the server is there before it goes for a while, and for how long.
  Millis There();
  Millis Away();

 private:
  kube::Fault OfAWatch() CAPI_REQUIRES(mu_);
  kube::Fault OfACall(const kube::ProxyRequest& request) CAPI_REQUIRES(mu_);
  int Number(int from, int to) CAPI_REQUIRES(mu_);

  Mutex mu_;
  std::map<std::string, int> made_ CAPI_GUARDED_BY(mu_);  // by kind
  std::mt19937 random_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::e2e
