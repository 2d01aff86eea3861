// The network sources of releases, by a provider's spec (behaviour.md I2).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "fetch/repository.h"
#include "operator/decide/observation.h"
#include "operator/observe/settings.h"

namespace capi::ops {

struct SourceOptions {
  fetch::GitHubOptions github;
  std::string folder;  // a clusterctl local repository instead of the network: "<folder>/<label>/<version>/<file>"
};

// Thread-safe.
class Sources {
 public:
  Sources(const Settings& settings, SourceOptions options) : settings_(settings), options_(std::move(options)) {
    options_.github.digests = std::make_shared<fetch::NamedDigests>();  // one look at a provider tells the next (T6)
  }

  // The repository of a provider without a selector. `token` is the Secret's github-token; "" for the operator's own.
  Result<std::unique_ptr<fetch::Repository>> Open(const api::Provider& provider, const std::string& token) const;

 private:
  const Settings& settings_;
  SourceOptions options_;
};

}  // namespace capi::ops
