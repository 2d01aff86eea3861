#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/encoding.h"
#include "base/http/url.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"
#include "fetch/github_releases.h"
#include "fetch/repository.h"
#include "fetch/url.h"

namespace capi::fetch {
namespace {

// Releases on a page: GitHub counts requests, sixty an hour without a token. Notes and assets of a hundred have been
// 6 MB; where they are more than an answer may have, thirty are asked for.
constexpr int kPageSizes[] = {100, 30};
constexpr std::string_view kService = "GitHub";
constexpr std::string_view kJsonType = "application/vnd.github+json";

// Thread-safe.
class GitHubRepository : public Repository {
 public:
  GitHubRepository(GitHubUrl url, GitHubOptions options) : url_(std::move(url)), options_(std::move(options)) {}

  std::string Describe() const override {
    auto url = http::Url::Parse(options_.download_url);
    std::string host = url.ok() ? url->HostHeader() + url->path : options_.download_url;
    return fmt::format("{}/{}/{}", host, url_.owner, url_.repository);
  }
  std::string ComponentsFile() const override { return url_.file; }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    const Context timed = ctx.WithTimeout(kListTime);
    Result<std::vector<api::Version>> versions = std::vector<api::Version>();
    for (int page_size : kPageSizes) {
      bool too_large = false;
      versions = List(timed, page_size, too_large);
      if (!too_large) break;
    }
    if (!versions.ok()) {
      return OfOwnLimit(ctx, versions.error()).With(fmt::format("failed to list the releases of {}", Describe()));
    }
    Order(*versions);
    return versions;
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    // Of any other one nobody has asked what its digest is (T6).
    std::string asset = AssetName(name);
    if (std::vector<std::string> files = Files(); std::find(files.begin(), files.end(), asset) == files.end()) {
      return Invalid(
          fmt::format("\"{}\" is none of the files that are read of a release: {}", name, JoinNames(files, 10)));
    }
    std::string what = fmt::format("{} of {} {}", name, Describe(), version.ToString());
    Result<std::string> text = Download(ctx, version.ToString(), asset);
    // No such file, or a private repository: only the API can tell, and which of them it is.
    if (!text.ok() && text.code() == Code::kNotFound) text = DownloadByApi(ctx, version, asset);
    if (!text.ok()) return text.error().With(fmt::format("failed to get {}", what));
    return text;
  }

 private:
  static Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

  std::string Api(std::string_view rest) const {
    return fmt::format("{}/repos/{}/{}{}", options_.api_url, url_.owner, url_.repository, rest);
  }

  std::string AssetName(std::string_view file) const {
    return url_.root == "." ? std::string(file) : url_.root + "/" + std::string(file);
  }

  // The files of a release that are read by name.
  std::vector<std::string> Files() const {
    std::vector<std::string> files = {AssetName(kMetadataFile), AssetName(url_.file)};
    for (const std::string& name : options_.more_files) files.push_back(AssetName(name));
    if (!options_.signatures) return files;
    for (const std::string& file : {AssetName(kMetadataFile), AssetName(url_.file)}) {
      for (std::string_view suffix : api::kSignatureSuffixes) files.push_back(file + std::string(suffix));
    }
    return files;
  }

  // What the API says of these files. Also where it names none of them: it needn't be asked for them again.
  void Remember(const std::string& tag, std::map<std::string, Asset> assets) {
    for (auto& [file, asset] : assets) asset.digest = asset.digest.substr(0, kMostOfDigest);
    MutexLock lock(mu_);
    named_[tag] = std::move(assets);
  }

  // T6: for other looks, of all files of a release that is fetched: another one of them may come when the API can't be
  // asked. Not of the rest of a list: its releases are many, and would push out those that are fetched.
  void KeepDigests(const std::string& tag) {
    MutexLock lock(mu_);
    auto named = named_.find(tag);
    if (named == named_.end()) return;
    for (const std::string& file : Files()) {
      auto asset = named->second.find(file);
      options_.digests->Put(KeyOf(tag, file), asset == named->second.end() ? "" : asset->second.digest);
    }
  }

  // What the API answers of the release that is fetched as `tag`.
  Status TakeRelease(const http::Response& response, const std::string& tag) {
    TRY(CheckIsNoPage(response.body));
    Remember(tag, TRY(ReadRelease(response.body, Files())).assets);
    KeepDigests(tag);
    return Ok();
  }

  // nullopt: nobody has said anything of that release. kNotFound: it was told of, and has no such file.
  std::optional<Result<Asset>> Named(const std::string& tag, const std::string& name) {
    MutexLock lock(mu_);
    auto assets = named_.find(tag);
    if (assets == named_.end()) return std::nullopt;
    auto asset = assets->second.find(name);
    if (asset != assets->second.end()) return Result<Asset>(asset->second);
    return Result<Asset>(
        Error{Code::kNotFound,
              fmt::format("failed to get file \"{}\" from \"{}\" release: it has no such file", name, tag),
              {}});
  }

  bool IsNamed(const std::string& tag) {
    MutexLock lock(mu_);
    return named_.contains(tag);
  }

  // Of a file in NamedDigests.
  std::string KeyOf(const std::string& tag, const std::string& asset) const {
    return Api(fmt::format("/{}/{}", tag, asset));
  }

  // T6: the digest that GitHub names for a file now; where it can't be asked, the one that it has named before. ""
  // where it never has.
  std::string DigestOf(const Context& ctx, const std::string& tag, const std::string& asset) {
    if (!IsToBeAsked(tag)) {
      KeepDigests(tag);  // where a list has named them
    } else if (Status status = AskDigests(ctx.WithTimeout(kDigestTime), tag); !status.ok()) {
      ctx.log.Warn("can't ask GitHub for the digests of a release's files",
                   {{"release", Describe() + " " + tag}, {"error", status.error().message}});
    }
    return options_.digests->Of(KeyOf(tag, asset));
  }

  // Once, also where there is no answer.
  bool IsToBeAsked(const std::string& tag) {
    MutexLock lock(mu_);
    return !named_.contains(tag) && asked_.insert(tag).second;
  }

  Status AskDigests(const Context& ctx, const std::string& tag) {
    return TakeRelease(TRY(AskApi(ctx, Api("/releases/tags/" + PercentEscape(tag)))), tag);
  }

  // `too_large`: whether a page was larger than an answer may be.
  Result<std::vector<api::Version>> List(const Context& ctx, int page_size, bool& too_large) {
    std::vector<api::Version> versions;
    std::string page = Api(fmt::format("/releases?per_page={}", page_size));
    for (int pages = 0; !page.empty(); ++pages) {
      if (pages == kMostPages) return Invalid("the list of releases does not end");
      http::Response response = TRY(AskApi(ctx, page, &too_large));
      TRY(AddPage(response.body, versions));
      if (versions.size() > kMostReleases) return Invalid("the list has more releases than any repository");
      page = NextPage(response.headers.Get("Link"));
      if (!page.empty() && !SameOrigin(page, options_.api_url))
        return Invalid("the next page is on another host: " + page);
    }
    return versions;
  }

  Status AddPage(const std::string& body, std::vector<api::Version>& versions) {
    TRY(CheckIsNoPage(body));
    return ReadReleases(body, Files(), [&](const ListedRelease& release) {
      Result<api::Version> version = api::Version::Parse(release.tag);
      if (release.draft || !version.ok() || versions.size() > kMostReleases) return;
      // As it is asked for, with a "v" that its tag may lack (I12); one that has it comes first.
      const std::string tag = version->ToString();
      if (release.tag == tag || !IsNamed(tag)) Remember(tag, release.assets);
      versions.push_back(std::move(*version));
    });
  }

  // By name, as a browser does: no token, and nothing of the API's budget but the question for the digest.
  Result<std::string> Download(const Context& ctx, const std::string& tag, const std::string& asset) {
    std::string url = fmt::format("{}/{}/{}/releases/download/{}/{}", options_.download_url, url_.owner,
                                  url_.repository, PercentEscape(tag), PercentEscape(asset));
    http::Response response = TRY(GetFile(ctx, std::move(url), ""));
    TRY(CheckIsNoPage(response.body));
    TRY(CheckDigest(DigestOf(ctx, tag, asset), response.body, kService));
    return std::move(response.body);
  }

  Result<std::string> DownloadByApi(const Context& ctx, const api::Version& version, const std::string& name) {
    Asset asset = TRY(FindAsset(ctx, version.ToString(), name));
    http::Response response = TRY(GetFile(ctx, Api(fmt::format("/releases/assets/{}", asset.id)), options_.token));
    TRY(CheckIsNoPage(response.body));
    TRY(CheckAsset(asset, response.body));
    return std::move(response.body);
  }

  // What a list or the first file's answer has said of it isn't asked again: each request counts.
  Result<Asset> FindAsset(const Context& ctx, const std::string& tag, const std::string& name) {
    if (auto asset = Named(tag, name)) {
      KeepDigests(tag);
      return *asset;
    }
    const http::Response answer = TRY(AskForRelease(ctx, tag));
    TRY(TakeRelease(answer, tag));
    return *Named(tag, name);
  }

  // A tag may be written without the "v" (I12).
  Result<http::Response> AskForRelease(const Context& ctx, const std::string& tag) const {
    for (const std::string& candidate : {tag, tag.substr(1)}) {
      Result<http::Response> response = AskApi(ctx, Api("/releases/tags/" + PercentEscape(candidate)));
      if (response.ok() || response.code() != Code::kNotFound) return response;
    }
    std::string hint = options_.token.empty() ? " (a private repository needs a token)" : "";
    return Error{Code::kNotFound, fmt::format("release not found for version {}: 404 Not Found{}", tag, hint), {}};
  }

  static Status CheckAsset(const Asset& asset, const std::string& body) {
    if (asset.size >= 0 && static_cast<std::uint64_t>(asset.size) != body.size()) {
      return Error{Code::kUnavailable, fmt::format("got {} bytes of {}", body.size(), asset.size), {}};
    }
    return CheckDigest(asset.digest, body, kService);
  }

  Result<http::Response> AskApi(const Context& ctx, const std::string& url, bool* too_large = nullptr) const {
    return Get(ctx, options_, {url, kJsonType, options_.token, options_.max_answer}, GitHubError, too_large);
  }

  Result<http::Response> GetFile(const Context& ctx, std::string url, std::string token) const {
    return Get(ctx, options_, {std::move(url), kFileType, std::move(token), options_.max_file}, GitHubError);
  }

  const GitHubUrl url_;
  const GitHubOptions options_;
  mutable Mutex mu_;
  std::map<std::string, std::map<std::string, Asset>> named_ CAPI_GUARDED_BY(mu_);  // by tag, then asset
  std::set<std::string> asked_ CAPI_GUARDED_BY(mu_);                                // tags, for their digests
};

}  // namespace

Result<std::unique_ptr<Repository>> OpenGitHub(std::string_view url, const GitHubOptions& options) {
  GitHubUrl parsed = TRY(ParseGitHubUrl(url));
  if (parsed.file.empty() || parsed.version == "download") {
    return Error{Code::kInvalidArgument,
                 fmt::format("invalid url: {} names no components file of a release: write "
                             "https://github.com/{}/{}/releases/{{latest|version-tag}}/{{components.yaml}}",
                             url, parsed.owner, parsed.repository),
                 {}};
  }
  GitHubOptions used = options;
  used.token = TRY(CheckToken(options.token, kService));
  if (!used.digests) used.digests = std::make_shared<NamedDigests>();
  while (used.api_url.ends_with('/')) used.api_url.pop_back();
  while (used.download_url.ends_with('/')) used.download_url.pop_back();
  return std::unique_ptr<Repository>(std::make_unique<GitHubRepository>(std::move(parsed), std::move(used)));
}

}  // namespace capi::fetch
