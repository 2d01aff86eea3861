// A repository that git itself makes and serves over HTTP on loopback, for tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "fetch/git/git.h"

namespace capi::fetch {

// A value.
struct GitStandInOptions {
  bool filters = true;        // serves what it is asked for without files
  bool speaks_v2 = true;      // else version 0
  std::string authorization;  // that it asks for; "" for none
  std::string format = "sha1";
};

// Thread-safe, but for what changes the repository.
class GitStandIn {
 public:
  using Fault = std::function<std::optional<http::Response>(const http::ServerRequest& request)>;

  explicit GitStandIn(GitStandInOptions options = {});
  ~GitStandIn();

  // Runs git on the repository that is served; what it says. The test fails where git does.
  std::string Git(const std::string& arguments);
  // What a commit of the branch has, by their paths, and a tag of it.
  void Release(const std::string& tag, const std::map<std::string, std::string>& files, bool annotated = false);

  std::string url() const;  // "http://127.0.0.1:1234/org/repository.git"
  std::string folder() const { return folder_ + "/org/repository.git"; }
  std::unique_ptr<Repository> Open(const std::string& path = "", const std::map<std::string, std::string>& secret = {},
                                   const HttpOptions& options = {}, GitFiles files = GitFiles::kAll) const;
  std::vector<std::string> seen() const;                      // "GET /org/repository.git/info/refs Basic ..."
  void set_fault(Fault fault) { fault_ = std::move(fault); }  // before the first request
  // What its upload-pack answers.
  http::Response Serve(const http::ServerRequest& request) const;

 private:
  http::Response Answer(const http::ServerRequest& request);

  const GitStandInOptions options_;
  const std::string folder_;
  Fault fault_;
  mutable Mutex mu_;
  std::vector<std::string> seen_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
};

// A small release of provider aws, by the paths of its files.
std::map<std::string, std::string> AwsRelease(const std::string& folder = "", const std::string& mark = "one");

}  // namespace capi::fetch
