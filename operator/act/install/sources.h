// The network sources of releases, by a provider's spec (behaviour.md I2).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/url.h"
#include "base/mutex.h"
#include "fetch/credentials.h"
#include "fetch/git/git.h"
#include "fetch/oci/oci.h"
#include "fetch/repository.h"
#include "operator/decide/observation.h"
#include "operator/observe/settings.h"

namespace capi::ops {

struct SourceOptions {
  fetch::GitHubOptions github;
  fetch::GitLabOptions gitlab = {};
  fetch::OciOptions oci = {};
  std::vector<std::string> allowed = {};  // hosts that a spec may name, as CanonicalSource gives them (T2)
  size_t at_once = 1;                     // providers that the network is asked for (T13)
  std::string folder;  // a clusterctl local repository instead of the network: "<folder>/<label>/<version>/<file>"
};

// "example.com", "*.example.com" for all below it, or with a port; in lower case. kInvalidArgument for what is none.
Result<std::string> CanonicalSource(std::string_view text);

// Thread-safe.
class Sources {
 public:
  Sources(const Settings& settings, SourceOptions options);

  // The repository of a provider without a selector. `git`: what fetchConfig.git.secretRef names (T15). Where it is for
  // a look (U12) nothing of it is to be installed: it takes none of the few requests that an installation needs for its
  // digests (T6, I17), nor the place of those.
  Result<std::unique_ptr<fetch::Repository>> Open(const api::Provider& provider,
                                                  const fetch::SourceCredentials& credentials,
                                                  const std::map<std::string, std::string>& git = {},
                                                  bool is_look = false) const;

  // Where that leads, in words that are others for another place; "" for a selector, and where no source is known.
  std::string PlaceOf(const api::Provider& provider) const;

  size_t at_once() const { return options_.at_once; }

 private:
  // T2: whether a spec may name this URL's host; without a list, one of `otherwise` alone.
  Status CheckAllowed(std::string_view url, const std::vector<std::string>& otherwise) const;
  Status CheckAllowed(const http::Url& named, const std::vector<std::string>& otherwise) const;
  Result<std::unique_ptr<fetch::Repository>> OpenGit(const api::ProviderId& id, const api::GitSource& git,
                                                     const std::map<std::string, std::string>& secret,
                                                     fetch::GitFiles files) const;

  const Settings& settings_;
  SourceOptions options_;
};

}  // namespace capi::ops
