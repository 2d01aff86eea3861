// The newest version of a provider that is known and fits, for metrics: from what lies at hand, and from lists that a
// pass fetched anyway. No source on the network is asked for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kube/client/client.h"
#include "operator/act/install/sources.h"

namespace capi::ops {

// Contracts that a version may have, the preferred first (behaviour.md I3).
std::vector<std::string> WantedContracts(const Observation& o);

// In memory, one answer for each provider. Thread-safe. What it is given outlives it.
class NewestVersions {
 public:
  NewestVersions(kube::Client& client, const Sources& sources) : client_(client), sources_(sources) {}

  // A pass chose this version from the list of its source.
  void Picked(const Observation& o, const api::Version& version);
  // "" where none is known. Of ConfigMaps that a selector finds it reads the newest ones again once they have changed;
  // a local folder it reads once a minute at most; of all else it knows what the status tells (U12), and before that
  // what was picked, as long as the source and the contracts are the same, and nothing newer is installed.
  std::string Of(const Context& ctx, const Observation& o);
  void Forget(const std::string& provider);

 private:
  struct Known {
    std::string basis;  // what it was found in, and for which contracts
    std::string version;
    MonoTime found;
  };
  std::string OfSelected(const Context& ctx, const Observation& o);
  std::string OfSource(const Context& ctx, const Observation& o);
  std::optional<Known> Get(const Observation& o, const std::string& basis);
  void Put(const Observation& o, Known known);

  kube::Client& client_;
  const Sources& sources_;
  Mutex mu_;
  std::map<std::string, Known> known_ CAPI_GUARDED_BY(mu_);  // by provider's key
};

}  // namespace capi::ops
