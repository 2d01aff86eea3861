// From a provider's name on the command line to its release.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/release.h"
#include "api/types.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/provider_name.h"
#include "cli/frame/world.h"
#include "fetch/credentials.h"
#include "fetch/oci/oci.h"
#include "fetch/repository.h"

namespace capi::cli {

// A value.
struct ProviderRelease {
  ProviderSource source;
  std::string file;  // name of the components file
  api::Release release;
};

// The version that `name` asks for, else the one of the provider's URL ("latest" there: the newest of the contract that
// clusterctl works with). Files in the folder of overrides go before those of the release. A release of a known but old
// contract is given, with a warning; one of another contract, or whose metadata doesn't name its series, is refused.
Result<ProviderRelease> FetchProvider(const Context& ctx, const Config& config, api::ProviderType type,
                                      const ProviderName& name, Notes& notes);

// The same, whatever its contract.
Result<ProviderRelease> FetchRelease(const Context& ctx, const Config& config, api::ProviderType type,
                                     const ProviderName& name, Notes& notes);

// Another file of a provider's release: a template, or a ClusterClass. As above with the folder of overrides. kNotFound
// where there is none.
Result<std::string> FetchFile(const Context& ctx, const Config& config, const ProviderSource& source,
                              const api::Version& version, const std::string& file, Notes& notes);

// T6: whether it has the digest of spec.fetchConfig.digest, where there is one. kInvalidArgument, with the field's
// path.
Status CheckDigest(const api::Provider& provider, const api::Release& release);

// Of a version as people write it. kInvalidArgument.
Result<api::Version> ParseVersion(const std::string& text);

// How GitHub is reached.
Result<fetch::GitHubOptions> GitHubOptionsOf(const Config& config);
// How registries are. Without credentials: which registry it is, an object says, and not who runs this.
fetch::OciOptions OciOptionsOf(const Config& config);
// The same where no configuration is read.
fetch::OciOptions OciOptionsOf(const Getenv& getenv);

// Whether this machine is told of a mirror of GitHub; the operator isn't.
Result<bool> HasMirror(const Config& config);

// How any source is reached that a URL names. The token for GitLab goes to hosts that the configuration names (T10).
Result<fetch::UrlOptions> UrlOptionsOf(const Config& config);

// With those of a provider's Secret in the place of this machine's. `own_url`: the URL is that of the provider's
// object, to whose host its token for GitLab goes, and to no other (T10).
void UseCredentials(const fetch::SourceCredentials& credentials, bool own_url, fetch::UrlOptions& options);

// The version in a provider's URL, as it stands there; "latest" where it names none.
Result<std::string> VersionInUrl(std::string_view url, std::string_view label);
// The same; for "latest" the newest that fits one of `contracts` (I3).
Result<api::Version> DefaultVersion(const Context& ctx, fetch::Repository& repository, std::string_view url,
                                    std::string_view label,
                                    const std::vector<std::string>& contracts = {std::string(kContract)});

// A version that isn't there: which ones are is the next question.
Error WithVersions(const Context& ctx, fetch::Repository& repository, Error error);
// The same with those that it was asked for already.
Error WithVersions(const Result<std::vector<api::Version>>& versions, Error error);

}  // namespace capi::cli
