#include "fetch/gitlab_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/encoding.h"
#include "base/http/testing.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/testing/value_or_abort.h"

namespace capi::fetch {
namespace {

constexpr size_t kPageSize = 2;
constexpr std::string_view kPackages = "/api/v4/projects/group%2Fproject/packages";

http::Response JsonResponse(int status, std::string body) {
  return TextResponse(status, std::move(body), "application/json");
}

http::Response NotFound(std::string_view what) {
  return JsonResponse(404, fmt::format(R"({{"message": "404 {} Not Found"}})", what));
}

std::string Parameter(const http::ServerRequest& request, std::string_view name) {
  for (const std::string& one : Split(request.query, '&')) {
    if (one.starts_with(std::string(name) + "=")) return PercentUnescape(one.substr(name.size() + 1));
  }
  return "";
}

std::unique_ptr<http::Server> Serve(const LoopbackCertificate& certificate, http::Server::Handler handler) {
  http::ServerOptions options;
  options.cert_pem = certificate.cert_pem;
  options.key_pem = certificate.key_pem;
  return ValueOrAbort(http::Server::Start(std::move(options), std::move(handler)), "the stand-in for GitLab");
}

// Newest last, as the API has them.
Json FilesOf(const GitLabPackage& package) {
  Json list = Json::array();
  for (const auto* files : {&package.former, &package.files}) {
    for (const auto& [name, text] : *files) {
      auto lie = files == &package.files ? package.sha256.find(name) : package.sha256.end();
      std::string digest = lie == package.sha256.end() ? Sha256Hex(text) : lie->second;
      list.push_back({{"id", list.size() + 1},
                      {"file_name", name},
                      {"size", text.size()},
                      {"file_sha256", digest.empty() ? Json() : Json(digest)},
                      {"pipelines", {{{"id", 1}}}}});
    }
  }
  return list;
}

}  // namespace

LoopbackCertificate::LoopbackCertificate() {
  http_testing::TestCa ca;
  http_testing::Pem pem = ca.Issue({.common_name = "gitlab", .alt_names = "IP:127.0.0.1"});
  cert_pem = pem.cert;
  key_pem = pem.key;
  ca_file_ = std::filesystem::temp_directory_path() / "gitlab-ca-XXXXXX";
  if (int fd = mkstemp(ca_file_.data()); fd >= 0) close(fd);
  std::ofstream(ca_file_) << ca.pem();
}

LoopbackCertificate::~LoopbackCertificate() { std::filesystem::remove(ca_file_); }

GitLabStandIn::GitLabStandIn(std::vector<GitLabPackage> packages) : packages_(std::move(packages)) {
  objects_ = Serve(certificate_, [this](const http::ServerRequest& request) { return Objects(request); });
  server_ = Serve(certificate_, [this](const http::ServerRequest& request) { return Answer(request); });
}

GitLabStandIn::~GitLabStandIn() = default;

std::string GitLabStandIn::url(std::string_view version, std::string_view file) const {
  return fmt::format("https://{}{}/generic/p/{}/{}", host(), kPackages, version, file);
}

GitLabOptions GitLabStandIn::options(std::string url_token) const {
  GitLabOptions options;
  options.ca_file = certificate_.ca_file();
  options.user_agent = "capi-operator/test";
  options.url_token = std::move(url_token);
  return options;
}

std::vector<SeenRequest> GitLabStandIn::seen() const {
  MutexLock lock(mu_);
  return seen_;
}

void GitLabStandIn::MakePrivate(std::string token) {
  MutexLock lock(mu_);
  wanted_token_ = std::move(token);
}

void GitLabStandIn::AnswerListsWith(http::Response response) {
  MutexLock lock(mu_);
  lists_ = std::make_unique<http::Response>(std::move(response));
}

void GitLabStandIn::AnswerLists() {
  MutexLock lock(mu_);
  lists_.reset();
}

void GitLabStandIn::AnswerDownloadsWith(http::Response response) {
  MutexLock lock(mu_);
  downloads_ = std::make_unique<http::Response>(std::move(response));
}

void GitLabStandIn::Publish(std::vector<GitLabPackage> packages) {
  MutexLock lock(mu_);
  packages_ = std::move(packages);
}

void GitLabStandIn::Note(std::string_view host, const http::ServerRequest& request) {
  MutexLock lock(mu_);
  std::string target = request.query.empty() ? request.path : request.path + "?" + request.query;
  seen_.push_back({std::string(host), target, request.headers.Get("Authorization"), request.headers.Get("User-Agent")});
}

// GitLab finds every package that has the name in its own.
Json GitLabStandIn::ListOf(const http::ServerRequest& request) const {
  Json list = Json::array();
  for (size_t i = 0; i < packages_.size(); ++i) {
    const GitLabPackage& package = packages_[i];
    if (request.path == fmt::format("{}/{}/package_files", kPackages, i + 1)) return FilesOf(package);
    const std::string version = Parameter(request, "package_version");
    if (package.name.find(Parameter(request, "package_name")) == std::string::npos) continue;
    if (!version.empty() && version != package.version) continue;
    list.push_back({{"id", i + 1},
                    {"name", package.name},
                    {"version", package.version},
                    {"package_type", "generic"},
                    {"status", package.status},
                    {"_links", {{"web_path", "/group/project/-/packages/1"}}},
                    {"tags", Json::array()}});
  }
  return request.path == kPackages ? list : Json();
}

http::Response GitLabStandIn::Page(const http::ServerRequest& request, const Json& list) const {
  size_t page = 1;
  const std::string asked = Parameter(request, "page");
  std::from_chars(asked.data(), asked.data() + asked.size(), page);
  Json part = Json::array();
  for (size_t i = (page - 1) * kPageSize; i < std::min(page * kPageSize, list.size()); ++i) part.push_back(list[i]);
  http::Response response = JsonResponse(200, ToJsonText(part));
  const bool last = page * kPageSize >= list.size();
  // Of both ways to tell, each list has one. The link is what a server says that doesn't know its own URL.
  if (request.path == kPackages) {
    response.headers.Set("X-Next-Page", last ? "" : std::to_string(page + 1));
  } else if (!last) {
    response.headers.Set("Link", fmt::format("<http://gitlab.internal/x?page={}>; rel=\"next\"", page + 1));
  }
  return response;
}

// "{package}/{version}/{file}".
http::Response GitLabStandIn::Download(const std::string& path) const {
  for (const GitLabPackage& package : packages_) {
    for (const auto& [name, text] : package.files) {
      if (path != fmt::format("{}/{}/{}", package.name, package.version, name)) continue;
      http::Response response = TextResponse(302, "");
      response.headers.Set("Location", fmt::format("https://{}/{}?signature=s", objects_->address(), path));
      return response;
    }
  }
  return NotFound("Package");
}

http::Response GitLabStandIn::Answer(const http::ServerRequest& request) {
  Note("gitlab", request);
  MutexLock lock(mu_);
  const std::string authorization = request.headers.Get("Authorization");
  if (!wanted_token_.empty() && authorization.empty()) return NotFound("Project");
  if (!wanted_token_.empty() && authorization != "Bearer " + wanted_token_) {
    return JsonResponse(401, R"({"message": "401 Unauthorized"})");
  }
  const std::string generic = std::string(kPackages) + "/generic/";
  if (request.path.starts_with(generic)) {
    return downloads_ ? *downloads_ : Download(PercentUnescape(request.path.substr(generic.size())));
  }
  if (lists_) return *lists_;
  Json list = ListOf(request);
  return list.is_array() ? Page(request, list) : NotFound("Project");
}

http::Response GitLabStandIn::Objects(const http::ServerRequest& request) {
  Note("objects", request);
  MutexLock lock(mu_);
  for (const GitLabPackage& package : packages_) {
    for (const auto& [name, text] : package.files) {
      if (PercentUnescape(request.path) == fmt::format("/{}/{}/{}", package.name, package.version, name)) {
        return TextResponse(200, text, "application/octet-stream");
      }
    }
  }
  return NotFound("Object");
}

GitLabPackage Package(std::string version) {
  return {.version = std::move(version),
          .files = {{"metadata.yaml", std::string(kMetadata)}, {"core-components.yaml", "kind: Namespace\n"}}};
}

}  // namespace capi::fetch
