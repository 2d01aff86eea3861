// The release that a Provider object asks for, as the operator would find it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/types.h"
#include "api/validate/validate.h"
#include "cli/declare/release_maps.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/world.h"
#include "fetch/credentials.h"
#include "kube/client/client.h"

namespace capi::cli {

// Where releases are looked for. A value.
struct ReleaseSources {
  const Config& config;
  bool offline = false;  // without what isn't on this machine
  // Where fetchConfig.selector selects: the ConfigMaps of the provider's namespace in this cluster, or these.
  kube::Client* client = nullptr;
  bool cluster_first = false;  // a release that lies in `client`'s goes before its source (I14), as the operator has it
  std::vector<const kube::Object*> maps = {};
  fetch::SourceCredentials credentials = {};    // of the provider's Secret; "" for those of the configuration
  std::map<std::string, std::string> git = {};  // that of fetchConfig.git.secretRef, all of it
  std::string unread = {};                      // "Secret a/b isn't read here": why `git` has nothing
  bool signatures = false;                      // with those of both files (T14)
  std::vector<std::string> contracts = {std::string(kContract)};  // for the newest version that fits (I3)
};

// What of spec.fetchConfig the operator refuses, whatever the release is: a URL of another host, say.
std::optional<api::FieldError> RefusedSource(const api::Provider& provider);

// By fetchConfig.selector, what lies in the cluster (`cluster_first`), fetchConfig.url, fetchConfig.oci,
// fetchConfig.git, or the configuration (with its folder of overrides). kNotFound: the version isn't there.
// kFailedPrecondition: not looked for, being offline. kInvalidArgument: a source or a digest that the operator refuses.
// Anything else: it can't be read, or a project on GitLab may be a private one.
Result<api::Release> FindRelease(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider,
                                 Notes& notes);

// The contract of a release. kInvalidArgument where its metadata can't be read, or doesn't name its series.
Result<std::string> ContractOf(const api::Release& release, const api::ProviderId& id);

}  // namespace capi::cli
