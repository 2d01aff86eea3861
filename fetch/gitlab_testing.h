// A server on loopback that speaks GitLab's API for the packages of one project, for tests.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "fetch/github_testing.h"
#include "fetch/repository.h"

namespace capi::fetch {

// A value.
struct GitLabPackage {
  std::string version;
  std::map<std::string, std::string> files;  // by name
  std::string name = "p";
  std::string status = "default";                  // of others than default and deprecated no list tells
  std::map<std::string, std::string> former = {};  // files that those of the same name have replaced
  std::map<std::string, std::string> sha256 = {};  // what the API says in place of the truth; "" for null
};

// A certificate for 127.0.0.1, and the file with the authority that vouches for it. Thread-compatible.
class LoopbackCertificate {
 public:
  LoopbackCertificate();
  ~LoopbackCertificate();
  LoopbackCertificate(const LoopbackCertificate&) = delete;
  LoopbackCertificate& operator=(const LoopbackCertificate&) = delete;
  const std::string& ca_file() const { return ca_file_; }

  std::string cert_pem, key_pem;

 private:
  std::string ca_file_;
};

// What this process takes for the system's trusted roots, for as long as it lives; made and gone while no other
// thread looks at the environment. Thread-compatible.
class TrustedCa {
 public:
  explicit TrustedCa(const std::string& file) { setenv("SSL_CERT_FILE", file.c_str(), 1); }
  ~TrustedCa() { unsetenv("SSL_CERT_FILE"); }
  TrustedCa(const TrustedCa&) = delete;
  TrustedCa& operator=(const TrustedCa&) = delete;
};

// Project "group/project" on two hosts, both with TLS: the server, and the store of objects that it redirects to. Lists
// come in pages of two. Thread-safe.
class GitLabStandIn {
 public:
  explicit GitLabStandIn(std::vector<GitLabPackage> packages);
  ~GitLabStandIn();

  std::string host() const { return server_->address(); }
  const std::string& ca_file() const { return certificate_.ca_file(); }
  std::string url(std::string_view version = "latest", std::string_view file = "core-components.yaml") const;
  GitLabOptions options(std::string url_token = "") const;
  std::vector<SeenRequest> seen() const;  // hosts: "gitlab", "objects"

  // From now on: whoever has another token, or none, is told that there is no such project; the API's lists, or the
  // downloads, are `response`, or again what it has; there are other packages.
  void MakePrivate(std::string token);
  void AnswerListsWith(http::Response response);
  void AnswerLists();
  void AnswerDownloadsWith(http::Response response);
  void Publish(std::vector<GitLabPackage> packages);

 private:
  http::Response Answer(const http::ServerRequest& request);
  http::Response Objects(const http::ServerRequest& request);
  void Note(std::string_view host, const http::ServerRequest& request);
  Json ListOf(const http::ServerRequest& request) const CAPI_REQUIRES(mu_);
  http::Response Page(const http::ServerRequest& request, const Json& list) const;
  http::Response Download(const std::string& path) const CAPI_REQUIRES(mu_);

  LoopbackCertificate certificate_;
  mutable Mutex mu_;
  std::vector<GitLabPackage> packages_ CAPI_GUARDED_BY(mu_);
  std::vector<SeenRequest> seen_ CAPI_GUARDED_BY(mu_);
  std::string wanted_token_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Response> lists_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Response> downloads_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> objects_, server_;
};

// With kMetadata and components.
GitLabPackage Package(std::string version);

}  // namespace capi::fetch
