// The secret values of every provider: what others say of it is told without them (behaviour.md I7).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/types.h"
#include "base/mutex.h"
#include "operator/decide/observation.h"
#include "operator/report/secret_values.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// Whether something in it was written by others: by an API server, a pod, who changed an object, or a source.
bool HasForeignWords(const Fleet& fleet);
bool HasForeignWords(const Observation& o);
bool HasForeignWords(const Done& done);

// What others wrote of a provider whose values aren't all known is not shown: after a restart, until they are read. A
// value that was known stays so as long as something in the cluster may hold it: what is there changes with an apply,
// not with a render, and old pods run with the former values until the rollout has ended. Thread-safe.
class SecretMasks {
 public:
  // With those that are known already these are all.
  void Put(const std::string& provider, const SecretValues& values);
  // These, too.
  void Add(const std::string& provider, const SecretValues& values);
  // Those of a render that is now applied, object by object; they were added.
  void ApplyBegins(const std::string& provider, std::shared_ptr<const SecretValues> values);
  // All of it is sent: with the former ones, which old pods have, its values are all there are.
  void ApplyEnds(const std::string& provider);
  // Nothing of what was there before is left: what was sent has all values.
  void RolloutEnds(const std::string& provider);
  void Drop(const std::string& provider);
  // They are all known.
  bool Knows(const std::string& provider) const;

  std::string Hide(const std::string& provider, std::string text) const;
  // What a pod says of itself is in the health of its workload.
  void Hide(const std::string& provider, Fleet& fleet) const;
  // All that conditions, history and events are made of.
  void Hide(const std::string& provider, Observation& o, Done& done) const;
  // Every message of a status that is to be written, whoever put it together: the values that are known.
  api::ProviderStatus Hide(const std::string& provider, api::ProviderStatus status) const;

 private:
  using Shared = std::shared_ptr<const SecretValues>;  // never null
  struct Known {
    Shared values = std::make_shared<const SecretValues>();
    bool all = false;                // there are no others
    Shared to_be_applied = nullptr;  // null: none is
    bool sent = false;               // `to_be_applied` is, whole
  };
  // Those to hide in what others wrote, and those that are known.
  Shared ToHide(const std::string& provider) const;
  Shared KnownOf(const std::string& provider) const;
  static void Merge(Known& known, const SecretValues& values);

  mutable Mutex mu_;
  std::map<std::string, Known> known_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
