// The secret values of every provider, from its render on: what is told of it goes by here.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "operator/decide/observation.h"
#include "operator/report/secret_values.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// Thread-safe.
class SecretMasks {
 public:
  void Put(const std::string& provider, SecretValues values);  // in the place of the former ones
  void Drop(const std::string& provider);

  std::string Hide(const std::string& provider, std::string text) const;
  // All that conditions, history and events are made of.
  void Hide(const std::string& provider, Observation& o, Done& done) const;

 private:
  std::shared_ptr<const SecretValues> Of(const std::string& provider) const;
  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<const SecretValues>> values_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
