// A server on loopback that speaks GitHub's API for one repository, for tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "fetch/repository.h"

namespace capi::fetch {

// A release of the repository. A value.
struct GitHubRelease {
  std::string tag;
  std::map<std::string, std::string> assets;  // by name
  bool draft = false;
  std::int64_t size_lie = 0;   // added to the size that the API names
  std::string digest = {};     // that the API names for every asset; "" for none
  std::string digest_of = {};  // the only asset that it names it for; "" for all
};

// A request that came. A value.
struct SeenRequest {
  std::string host;  // "api", "web" or "objects"
  std::string target, authorization, user_agent;
  int status = 0;  // of the answer
};

// Repository "o/r" on three hosts, as GitHub has them: the API, the web site with downloads, and the store of objects
// that both redirect to. All others of "o" have the same releases. Lists of releases come in pages of two. Thread-safe.
class GitHubStandIn {
 public:
  explicit GitHubStandIn(std::vector<GitHubRelease> releases);
  ~GitHubStandIn();

  GitHubOptions options(std::string token = "") const;
  std::vector<SeenRequest> seen() const;

  // From now on: the web site answers 404 as it does for private repositories, or again what it has; the API answers
  // `response` to everything, or again what it has; downloads get `text` instead of the file.
  void MakePrivate();
  void MakePublic();
  void AnswerApiWith(http::Response response);
  void AnswerApi();
  void AnswerDownloadsWith(std::string text);
  void Publish(std::vector<GitHubRelease> releases);  // these, and no others
  // From now on the web site's git server names the tags of the releases, and these.
  void ServeTags(std::vector<std::string> others = {});
  // From now on the API's answers have an ETag, and say for how long they hold.
  void UseETags(std::string cache_control = "");

 private:
  using Answer = http::Response (GitHubStandIn::*)(const http::ServerRequest& request);

  std::unique_ptr<http::Server> Serve(std::string_view host, Answer answer);
  http::Response Api(const http::ServerRequest& request);
  http::Response ApiWithETag(const http::ServerRequest& request);
  http::Response Web(const http::ServerRequest& request);
  http::Response Objects(const http::ServerRequest& request);
  void Note(std::string_view host, const http::ServerRequest& request, int status);
  http::Response ListPage(const http::ServerRequest& request) const CAPI_REQUIRES(mu_);
  const std::string* FindObject(const std::string& path) const CAPI_REQUIRES(mu_);

  mutable Mutex mu_;
  std::vector<GitHubRelease> releases_ CAPI_GUARDED_BY(mu_);
  std::vector<SeenRequest> seen_ CAPI_GUARDED_BY(mu_);
  bool private_ CAPI_GUARDED_BY(mu_) = false;
  std::unique_ptr<http::Response> api_answer_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<std::string> download_text_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<std::string> refs_ CAPI_GUARDED_BY(mu_);           // what the git server answers
  std::unique_ptr<std::string> cache_control_ CAPI_GUARDED_BY(mu_);  // of answers with an ETag; null for none
  std::unique_ptr<http::Server> api_, web_, objects_;
};

inline constexpr std::string_view kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 10, contract: v1beta1}\n- {major: 1, minor: 11, contract: v1beta2}\n";

// With kMetadata and components.
GitHubRelease Release(std::string tag);

inline constexpr std::string_view kReleases = "https://github.com/o/r/releases/latest/core-components.yaml";
inline constexpr std::string_view kToken = "ghp_s3cret";
std::unique_ptr<Repository> Open(const GitHubOptions& options, std::string_view url = kReleases);
inline api::Version V(std::string_view text) { return *api::Version::Parse(text); }

http::Response RateLimited();  // without a time
// As a git server names them. Every tag is annotated.
std::string RefsOf(const std::vector<std::string>& tags);
http::Response TextResponse(int status, std::string body, std::string_view content_type = "text/plain");

}  // namespace capi::fetch
