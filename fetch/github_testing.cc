#include "fetch/github_testing.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/encoding.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/testing/value_or_abort.h"

namespace capi::fetch {
namespace {

constexpr size_t kPageSize = 2;
constexpr std::string_view kRepository = "/repos/o/r/releases";
constexpr std::string_view kDownloads = "/o/r/releases/download/";

http::Response JsonResponse(const Json& body) { return TextResponse(200, ToJsonText(body), "application/json"); }

http::Response NotFound() { return TextResponse(404, R"({"message": "Not Found"})", "application/json"); }

http::Response Redirect(const std::string& url) {
  http::Response response = TextResponse(302, "");
  response.headers.Set("Location", url);
  return response;
}

// An asset's id: which release, which of its assets.
std::int64_t IdOf(size_t release, size_t asset) { return static_cast<std::int64_t>(release * 100 + asset + 1); }

Json JsonOf(const GitHubRelease& release, size_t index) {
  Json assets = Json::array();
  for (const auto& [name, text] : release.assets) {
    bool named = !release.digest.empty() && (release.digest_of.empty() || release.digest_of == name);
    assets.push_back({{"id", IdOf(index, assets.size())},
                      {"name", name},
                      {"size", static_cast<std::int64_t>(text.size()) + release.size_lie},
                      {"digest", named ? Json(release.digest) : Json()}});
  }
  return {{"tag_name", release.tag}, {"draft", release.draft}, {"assets", assets}};
}

size_t PageOf(std::string_view query) {
  size_t page = 1;
  size_t at = query.find("&page=");
  if (at != std::string_view::npos) std::from_chars(query.data() + at + 6, query.data() + query.size(), page);
  return page;
}

// With "r" in the place of another repository of "o".
std::string AsOfR(const std::string& path, std::string_view owner) {
  if (!path.starts_with(owner)) return path;
  size_t end = path.find_first_of("/.", owner.size());
  return end == std::string::npos ? path : std::string(owner) + "r" + path.substr(end);
}

std::string Line(std::string_view text) { return fmt::format("{:04x}{}\n", text.size() + 5, text); }

}  // namespace

http::Response TextResponse(int status, std::string body, std::string_view content_type) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", content_type);
  response.body = std::move(body);
  return response;
}

std::string RefsOf(const std::vector<std::string>& tags) {
  constexpr std::string_view kCommit = "e83c5163316f89bfbde7d9ab23ca2e25604af290";
  std::string out = Line("# service=git-upload-pack") + "0000";
  using std::string_literals::operator""s;
  out += Line(fmt::format("{} HEAD", kCommit) + "\0multi_ack symref=HEAD:refs/heads/main"s);
  out += Line(fmt::format("{} refs/heads/main", kCommit)) + Line(fmt::format("{} refs/pull/7/head", kCommit));
  for (const std::string& tag : tags) {
    out += Line(fmt::format("{} refs/tags/{}", kCommit, tag)) + Line(fmt::format("{} refs/tags/{}^{{}}", kCommit, tag));
  }
  return out + "0000";
}

GitHubStandIn::GitHubStandIn(std::vector<GitHubRelease> releases) : releases_(std::move(releases)) {
  objects_ = Serve("objects", &GitHubStandIn::Objects);
  web_ = Serve("web", &GitHubStandIn::Web);
  api_ = Serve("api", &GitHubStandIn::ApiWithETag);
}

std::unique_ptr<http::Server> GitHubStandIn::Serve(std::string_view host, Answer answer) {
  auto server = http::Server::Start({}, [this, host, answer](const http::ServerRequest& request) {
    http::Response response = (this->*answer)(request);
    Note(host, request, response.status);
    return response;
  });
  return ValueOrAbort(std::move(server), "stand-in for GitHub");
}

GitHubStandIn::~GitHubStandIn() = default;

GitHubOptions GitHubStandIn::options(std::string token) const {
  GitHubOptions options;
  options.api_url = "http://" + api_->address();
  options.download_url = "http://" + web_->address();
  options.token = std::move(token);
  options.user_agent = "capi-operator/test";
  return options;
}

std::vector<SeenRequest> GitHubStandIn::seen() const {
  MutexLock lock(mu_);
  return seen_;
}

void GitHubStandIn::MakePrivate() {
  MutexLock lock(mu_);
  private_ = true;
}

void GitHubStandIn::MakePublic() {
  MutexLock lock(mu_);
  private_ = false;
}

void GitHubStandIn::AnswerApiWith(http::Response response) {
  MutexLock lock(mu_);
  api_answer_ = std::make_unique<http::Response>(std::move(response));
}

void GitHubStandIn::AnswerApi() {
  MutexLock lock(mu_);
  api_answer_.reset();
}

void GitHubStandIn::AnswerDownloadsWith(std::string text) {
  MutexLock lock(mu_);
  download_text_ = std::make_unique<std::string>(std::move(text));
}

void GitHubStandIn::Publish(std::vector<GitHubRelease> releases) {
  MutexLock lock(mu_);
  releases_ = std::move(releases);
}

void GitHubStandIn::ServeTags(std::vector<std::string> others) {
  MutexLock lock(mu_);
  for (const GitHubRelease& release : releases_) others.push_back(release.tag);
  refs_ = std::make_unique<std::string>(RefsOf(others));
}

void GitHubStandIn::UseETags(std::string cache_control) {
  MutexLock lock(mu_);
  cache_control_ = std::make_unique<std::string>(std::move(cache_control));
}

void GitHubStandIn::Note(std::string_view host, const http::ServerRequest& request, int status) {
  MutexLock lock(mu_);
  std::string target = request.query.empty() ? request.path : request.path + "?" + request.query;
  seen_.push_back(
      {std::string(host), target, request.headers.Get("Authorization"), request.headers.Get("User-Agent"), status});
}

http::Response GitHubStandIn::ListPage(const http::ServerRequest& request) const {
  size_t page = PageOf("&" + request.query);
  Json list = Json::array();
  for (size_t i = (page - 1) * kPageSize; i < std::min(page * kPageSize, releases_.size()); ++i) {
    list.push_back(JsonOf(releases_[i], i));
  }
  http::Response response = JsonResponse(list);
  if (page * kPageSize < releases_.size()) {
    std::string url = fmt::format("http://{}{}?per_page=100&page=", api_->address(), kRepository);
    response.headers.Set("Link", fmt::format("<{}{}>; rel=\"next\", <{}9>; rel=\"last\"", url, page + 1, url));
  }
  return response;
}

http::Response GitHubStandIn::ApiWithETag(const http::ServerRequest& request) {
  http::Response response = Api(request);
  MutexLock lock(mu_);
  if (!cache_control_ || response.status != 200) return response;
  const std::string etag = "W/\"" + Sha256Hex(response.body) + "\"";
  if (request.headers.Get("If-None-Match") == etag) response = TextResponse(304, "");
  response.headers.Set("ETag", etag);
  if (!cache_control_->empty()) response.headers.Set("Cache-Control", *cache_control_);
  return response;
}

http::Response GitHubStandIn::Api(const http::ServerRequest& request) {
  const std::string path = AsOfR(request.path, "/repos/o/");
  MutexLock lock(mu_);
  if (api_answer_) return *api_answer_;
  if (private_ && request.headers.Get("Authorization").empty()) return NotFound();
  if (path == kRepository) return ListPage(request);
  std::string rest = ReplaceAll(path, kRepository, "");
  for (size_t i = 0; i < releases_.size(); ++i) {
    if (rest == "/tags/" + releases_[i].tag) return JsonResponse(JsonOf(releases_[i], i));
    size_t number = 0;
    for (const auto& [name, text] : releases_[i].assets) {
      if (rest != fmt::format("/assets/{}", IdOf(i, number++))) continue;
      return Redirect(fmt::format("http://{}/{}/{}", objects_->address(), releases_[i].tag, name));
    }
  }
  return NotFound();
}

http::Response GitHubStandIn::Web(const http::ServerRequest& request) {
  std::string path = AsOfR(request.path, "/o/");
  MutexLock lock(mu_);
  if (private_) return NotFound();
  if (path == "/o/r.git/info/refs" && request.query == "service=git-upload-pack" && refs_)
    return TextResponse(200, *refs_, "application/x-git-upload-pack-advertisement");
  if (download_text_) return TextResponse(200, *download_text_, "text/html");
  if (!path.starts_with(kDownloads)) return NotFound();
  path = "/" + path.substr(kDownloads.size());
  if (FindObject(path) == nullptr) return NotFound();
  return Redirect(fmt::format("http://{}{}", objects_->address(), path));
}

http::Response GitHubStandIn::Objects(const http::ServerRequest& request) {
  MutexLock lock(mu_);
  const std::string* text = FindObject(request.path);
  return text == nullptr ? NotFound() : TextResponse(200, *text, "application/octet-stream");
}

const std::string* GitHubStandIn::FindObject(const std::string& path) const {
  for (const GitHubRelease& release : releases_) {
    for (const auto& [name, text] : release.assets) {
      if (path == "/" + release.tag + "/" + name) return &text;
    }
  }
  return nullptr;
}

GitHubRelease Release(std::string tag) {
  return {.tag = std::move(tag),
          .assets = {{"metadata.yaml", std::string(kMetadata)}, {"core-components.yaml", "kind: Namespace\n"}}};
}

std::unique_ptr<Repository> Open(const GitHubOptions& options, std::string_view url) {
  return ValueOrAbort(OpenGitHub(url, options), "repository");
}

http::Response RateLimited() {
  return TextResponse(403, R"({"message": "API rate limit exceeded"})", "application/json");
}

}  // namespace capi::fetch
