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

// Whether something in it was written by others: by an API server, a pod, or who changed an object.
bool HasForeignWords(const Fleet& fleet);
bool HasForeignWords(const Done& done);

// What others wrote of a provider whose values aren't known is not shown: after a restart, until they are read.
// Thread-safe.
class SecretMasks {
 public:
  void Put(const std::string& provider, SecretValues values);  // in the place of the former ones
  void Drop(const std::string& provider);
  bool Knows(const std::string& provider) const;

  std::string Hide(const std::string& provider, std::string text) const;
  // What a pod says of itself is in the health of its workload.
  void Hide(const std::string& provider, Fleet& fleet) const;
  // All that conditions, history and events are made of.
  void Hide(const std::string& provider, Observation& o, Done& done) const;
  // Every message of a status that is to be written, whoever put it together: the values that are known.
  api::ProviderStatus Hide(const std::string& provider, api::ProviderStatus status) const;

 private:
  std::shared_ptr<const SecretValues> Of(const std::string& provider) const;  // never null
  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<const SecretValues>> values_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
