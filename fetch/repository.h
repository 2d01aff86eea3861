// Where a provider's releases come from.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/release.h"
#include "base/context.h"
#include "base/http/client.h"
#include "base/mutex.h"

namespace capi::fetch {

// Thread-safe. Errors: kNotFound for a version or file that isn't there; kRateLimited with retry_after and the time of
// the reset in the message; kUnavailable when the source can't be reached; kInvalidArgument for what it sends;
// kFailedPrecondition for a file without the digest that the source names.
class Repository {
 public:
  virtual ~Repository() = default;
  virtual std::string Describe() const = 0;  // "github.com/kubernetes-sigs/cluster-api", "folder /releases"
  // It is read without a network, and as often as one likes.
  virtual bool IsLocal() const { return false; }
  // All versions that parse, ascending.
  virtual Result<std::vector<api::Version>> Versions(const Context& ctx) = 0;
  // Those that are releases, where Versions has named others, too (tags, say); nullopt where it was asked for the same.
  virtual Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context&) {
    return std::optional<std::vector<api::Version>>();
  }
  // One file of a version, by its name in the release: "metadata.yaml" or ComponentsFile(). GitHub refuses any other
  // one than GitHubOptions names (kInvalidArgument): it is asked for the digests of these alone (behaviour.md T6).
  virtual Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) = 0;
  // Name of the components file, "core-components.yaml".
  virtual std::string ComponentsFile() const = 0;
  // What such a file was signed with (T14), for the release's ConfigMap. Unless said otherwise what lies beside it,
  // under its name and a suffix; of GitHub only with GitHubOptions::signatures. kNotFound says what there isn't. With
  // some, an outage that kept others from being read is in `unread`.
  virtual Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version, std::string_view name);
};

// Both files of one version. Missing metadata or components are kNotFound and say which; empty components are
// kInvalidArgument (F2). `signatures`: with those of both, all of which have to be read (T14).
Result<api::Release> GetRelease(const Context& ctx, Repository& repository, const api::Version& version,
                                bool signatures = false);

// What "latest" means (clusterctl.md 3.2, behaviour.md I3). The newest version is the first with metadata.yaml among
// the five newest, stable ones before prereleases; where none has it, of those that the source says are releases. Its
// metadata says which series have a contract in `contracts` (tried in order); the newest version of those, chosen in
// the same way, is the answer. Where no series has one of them, or `contracts` is empty, or the metadata can't be read,
// it is the newest version.
Result<api::Version> LatestVersion(const Context& ctx, Repository& repository,
                                   const std::vector<std::string>& contracts);
// The same, but nullopt where no version has one of the contracts, or nobody can tell which it has.
Result<std::optional<api::Version>> NewestFitting(const Context& ctx, Repository& repository,
                                                  const std::vector<std::string>& contracts);

// A version, and the contract that the metadata of its own release gives it. A value.
struct NewerVersion {
  api::Version version;
  std::string contract;
  std::string unread = {};  // why these can't be had, though the source answers; without a contract then
  bool operator==(const NewerVersion&) const = default;
};
// Of each minor version the newest stable release above `than`, ascending: those of the ten newest minor versions, and
// of `than`'s own. Where one of these has tags, but no release, those count that the source says are releases. A
// release without metadata.yaml may be on its way yet: the one before it counts. Left out is what its own metadata says
// no contract of. The newest that can't be read is named, and so is the one before it that can; where none can, that is
// an error.
Result<std::vector<NewerVersion>> NewerVersions(const Context& ctx, Repository& repository, const api::Version& than);

// A clusterctl local repository: "<base>/<manifest label>/<version>/<file>".
Result<std::unique_ptr<Repository>> OpenFolder(std::string base, std::string manifest_label,
                                               std::string components_file);

// Digests that a server has named for files of releases, kept beyond one look at a repository (behaviour.md T6). Of the
// last thousand files, in memory. Thread-safe.
class NamedDigests {
 public:
  // `digest` "": it names none any more.
  void Put(const std::string& file, const std::string& digest);
  std::string Of(const std::string& file) const;  // "" where none is known

 private:
  mutable Mutex mu_;
  std::map<std::string, std::string> digests_ CAPI_GUARDED_BY(mu_);
  std::deque<std::string> oldest_first_ CAPI_GUARDED_BY(mu_);  // the files of digests_
};

// How a server is reached, and how much is read of it.
struct HttpOptions {
  std::string user_agent;
  std::string ca_file;  // trusted roots instead of the system's
  http::Proxy proxy;
  Millis connect_timeout = Seconds(2);  // an unreachable server is found out quickly
  Millis request_timeout = Seconds(60);
  size_t max_file = api::kMaxReleaseBytes;
  size_t max_answer = 8u << 20;                // of the API: a page of releases has their notes, too
  std::shared_ptr<NamedDigests> digests = {};  // null: what is named is forgotten with the repository
  // Where redirects may lead though it is an address of a private network (T11), see InwardFrom; unset: anywhere.
  std::function<bool(const http::Url&)> inward_hosts = {};
};

class GitHubAnswers;

struct GitHubOptions : HttpOptions {
  std::string api_url = "https://api.github.com";   // GitHub Enterprise: "https://host/api/v3"
  std::string download_url = "https://github.com";  // of release assets by name
  std::string token;                                // never logged
  std::vector<std::string> more_files = {};         // names that are read beside metadata and components
  bool signatures = false;                          // and what lies beside these two to verify them by (T14)
  bool asks_digests = true;                         // false: nothing is installed of it (U12), no digest is asked for
  std::string module_proxy = {};                    // of Go modules, asked for versions first; "" for none
  std::shared_ptr<GitHubAnswers> answers = {};      // null: they are forgotten with the repository
};

// Any host may be a GitLab, so tokens go to chosen ones alone (behaviour.md T10). They are never logged.
struct GitLabOptions : HttpOptions {
  std::string token;                  // goes to `token_hosts`: those that its owner has named as sources
  std::set<std::string> token_hosts;  // GitLabUrl::host
  std::string url_token;              // of whoever wrote the URL: goes to its host, in the place of `token`
};

struct UrlOptions {
  GitHubOptions github;
  GitLabOptions gitlab;
};

// Releases of "owner/repo" on GitHub. `url` is
// "https://github.com/{owner}/{repo}/releases/{latest|tag}/{file}" (clusterctl.md 3.3). Without a token the versions
// are the tags, as git lists them, and files come by their names: the API, which answers few such requests, is asked
// for digests (T6), and for versions where there are no tags to be had. With one it is asked for all.
Result<std::unique_ptr<Repository>> OpenGitHub(std::string_view url, const GitHubOptions& options);

// Versions of a generic package on GitLab: list through the API, files as those of the package. `url` is
// "https://{host}/api/v4/projects/{project}/packages/generic/{package}/{latest|version}/{file}" (clusterctl.md 3.4).
Result<std::unique_ptr<Repository>> OpenGitLab(std::string_view url, const GitLabOptions& options);

// The repository that a URL names: on GitHub, on GitLab, or an absolute path (fetch/url.h).
Result<std::unique_ptr<Repository>> OpenUrl(std::string_view url, std::string_view manifest_label,
                                            const UrlOptions& options);

}  // namespace capi::fetch
