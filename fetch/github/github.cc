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
#include "fetch/github/git_refs.h"
#include "fetch/github/github_releases.h"
#include "fetch/github/known_answers.h"
#include "fetch/github/module_proxy.h"
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
  GitHubRepository(GitHubUrl url, GitHubOptions options)
      : url_(std::move(url)),
        options_(std::move(options)),
        asker_(options_.api_url + " " + (options_.token.empty() ? "" : Sha256Hex(options_.token))) {}

  std::string Describe() const override {
    auto url = http::Url::Parse(options_.download_url);
    std::string host = url.ok() ? url->HostHeader() + url->path : options_.download_url;
    return fmt::format("{}/{}/{}", host, url_.owner, url_.repository);
  }
  std::string ComponentsFile() const override { return url_.file; }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    return Ordered(ctx, AllVersions(ctx.WithTimeout(kListTime)));
  }

  Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context& ctx) override {
    {
      MutexLock lock(mu_);
      if (!lists_tags_) return std::optional<std::vector<api::Version>>();
      spelled_.clear();
    }
    return std::optional(TRY(Ordered(ctx, ListReleases(ctx.WithTimeout(kListTime)))));
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    // Of any other one nobody has asked what its digest is (T6).
    std::string asset = AssetName(name);
    if (std::vector<std::string> files = Files(); std::find(files.begin(), files.end(), asset) == files.end()) {
      return Invalid(
          fmt::format("\"{}\" is none of the files that are read of a release: {}", name, JoinNames(files, 10)));
    }
    std::string what = fmt::format("{} of {} {}", name, Describe(), version.ToString());
    const std::string tag = version.ToString();
    Result<std::string> text =
        options_.token.empty() ? DownloadByName(ctx, tag, asset) : DownloadWithToken(ctx, tag, asset);
    if (!text.ok()) return text.error().With(fmt::format("failed to get {}", what));
    return text;
  }

 private:
  Result<std::vector<api::Version>> Ordered(const Context& ctx, Result<std::vector<api::Version>> versions) const {
    if (!versions.ok()) {
      return OfOwnLimit(ctx, versions.error()).With(fmt::format("failed to list the releases of {}", Describe()));
    }
    Order(*versions);
    return versions;
  }

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
    for (const auto& [file, asset] : named->second) options_.digests->Put(KeyOf(tag, file), asset.digest);
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
  // where it never has. `spelled`: the release's tag.
  std::string DigestOf(const Context& ctx, const std::string& tag, const std::string& spelled,
                       const std::string& asset) {
    if (!IsToBeAsked(tag)) {
      KeepDigests(tag);  // where a list has named them
    } else if (options_.asks_digests) {
      Status status = AskDigests(ctx.WithTimeout(kDigestTime), tag, {spelled});
      if (!status.ok()) WarnOfDigests(ctx, tag, status.error());
    }
    return options_.digests->Of(KeyOf(tag, asset));
  }

  void WarnOfDigests(const Context& ctx, const std::string& tag, const Error& error) const {
    ctx.log.Warn("can't ask GitHub for the digests of a release's files",
                 {{"release", Describe() + " " + tag}, {"error", error.message}});
  }

  bool IsToBeAsked(const std::string& tag) {
    MutexLock lock(mu_);
    return !named_.contains(tag) && !unanswered_.contains(tag);
  }

  // Once, also where there is no answer: each request counts.
  Status AskDigests(const Context& ctx, const std::string& tag, const std::vector<std::string>& spellings) {
    if (const std::optional<Error> error = WhyUnanswered(tag)) return *error;
    const Result<http::Response> answer = AskForRelease(ctx, tag, spellings, /*past_hold=*/false);
    Status status = answer.ok() ? TakeRelease(*answer, tag) : Status(answer.error());
    if (status.ok()) return status;
    MutexLock lock(mu_);
    unanswered_.emplace(tag, status.error());
    return status;
  }

  std::optional<Error> WhyUnanswered(const std::string& tag) {
    MutexLock lock(mu_);
    auto error = unanswered_.find(tag);
    return error == unanswered_.end() ? std::nullopt : std::optional(error->second);
  }

  // With a token the API is asked, which takes 5,000 requests an hour then. Without, it is where there are no tags.
  Result<std::vector<api::Version>> AllVersions(const Context& ctx) {
    if (!options_.token.empty()) return ListReleases(ctx);
    SetListsTags(true);
    if (!options_.module_proxy.empty()) {
      auto versions = ModuleVersions(ctx, options_, options_.module_proxy, url_.owner, url_.repository);
      if (versions.ok()) return versions;
      TRY(ctx.Check());
      TellOtherWay(ctx, versions.error());
    }
    Result<std::vector<api::Version>> versions = ListTags(ctx);
    if (versions.ok() || (IsAway(versions.code()) && IsOneServer())) return versions;
    TRY(ctx.Check());
    TellOtherWay(ctx, versions.error());
    SetListsTags(false);
    auto released = ListReleases(ctx);
    if (released.ok() || !IsAway(versions.code())) return released;
    TRY(ctx.Check());
    // A mirror that is away is what is to be looked after, and not that nobody else answers either.
    Error away = versions.error().With(options_.download_url);
    away.message += fmt::format("; {}: {}", options_.api_url, released.error().message);
    if (released.error().retry_after) away.retry_after = released.error().retry_after;
    return away;
  }

  // Whether the API is but another door of the server that has the tags: where that is away, it isn't asked. A mirror
  // may know nothing of git.
  bool IsOneServer() const {
    const GitHubOptions github;
    return SameOrigin(options_.download_url, options_.api_url) ||
           (SameOrigin(options_.download_url, github.download_url) && SameOrigin(options_.api_url, github.api_url));
  }

  void SetListsTags(bool lists_tags) {
    MutexLock lock(mu_);
    lists_tags_ = lists_tags;
  }

  void TellOtherWay(const Context& ctx, const Error& error) const {
    ctx.log.Debug("versions are looked for in another way", {{"repository", Describe()}, {"error", error.message}});
  }

  // The tags, as git's server names them all in one answer. Each that is a version may be a release.
  Result<std::vector<api::Version>> ListTags(const Context& ctx) {
    const std::string url = fmt::format("{}/{}/{}.git/info/refs?service=git-upload-pack", options_.download_url,
                                        url_.owner, url_.repository);
    const http::Response answer = TRY(Get(ctx, options_, {url, "*/*", "", options_.max_answer}, GitHubError));
    if (answer.headers.Get("Content-Type") != kGitRefsType) return Invalid("no git server answered");
    std::vector<api::Version> versions;
    std::map<std::string, std::set<std::string>> tags;  // by version
    for (const std::string& tag : TRY(ReadTags(answer.body))) {
      Result<api::Version> version = api::Version::Parse(tag);
      if (!version.ok()) continue;
      if (versions.size() == kMostReleases) return Invalid("there are more tags than any repository has releases");
      tags[version->ToString()].insert(tag);
      versions.push_back(*std::move(version));
    }
    // Of two spellings either may be the release's: then both are asked for.
    for (const auto& [version, spellings] : tags) {
      if (spellings.size() == 1) Spell(version, *spellings.begin());
    }
    return versions;
  }

  // One that has the "v" comes first.
  void Spell(const std::string& with_v, const std::string& tag) {
    MutexLock lock(mu_);
    if (tag == with_v || !spelled_.contains(with_v)) spelled_[with_v] = tag;
  }

  // How the tag may be written: without the "v", too (I12).
  std::vector<std::string> Spellings(const std::string& tag) {
    MutexLock lock(mu_);
    auto known = spelled_.find(tag);
    if (known != spelled_.end()) return {known->second};
    return {tag, tag.substr(1)};
  }

  Result<std::vector<api::Version>> ListReleases(const Context& ctx) {
    Result<std::vector<api::Version>> versions = std::vector<api::Version>();
    for (int page_size : kPageSizes) {
      bool too_large = false;
      versions = List(ctx, page_size, too_large);
      if (!too_large) break;
    }
    return versions;
  }

  // `too_large`: whether a page was larger than an answer may be.
  Result<std::vector<api::Version>> List(const Context& ctx, int page_size, bool& too_large) {
    std::vector<api::Version> versions;
    std::string page = Api(fmt::format("/releases?per_page={}", page_size));
    for (int pages = 0; !page.empty(); ++pages) {
      if (pages == kMostPages) return Invalid("the list of releases does not end");
      http::Response response = TRY(AskApi(ctx, page, /*past_hold=*/false, &too_large));
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
      Spell(tag, release.tag);
      versions.push_back(std::move(*version));
    });
  }

  Result<std::string> DownloadByName(const Context& ctx, const std::string& tag, const std::string& asset) {
    for (const std::string& spelled : Spellings(tag)) {
      Result<std::string> text = Download(ctx, tag, spelled, asset);
      if (text.ok() || text.code() != Code::kNotFound) return text;
    }
    if (auto named = Named(tag, asset); named && !named->ok()) return named->error();
    std::string hint = options_.token.empty() ? " (a private repository needs a token)" : "";
    return Error{
        Code::kNotFound,
        fmt::format("release not found for version {}, or it has no file \"{}\": 404 Not Found{}", tag, asset, hint),
        {}};
  }

  // As a browser does: no token, and nothing of the API's budget but the question for the digest.
  Result<std::string> Download(const Context& ctx, const std::string& tag, const std::string& spelled,
                               const std::string& asset) {
    std::string url = fmt::format("{}/{}/{}/releases/download/{}/{}", options_.download_url, url_.owner,
                                  url_.repository, PercentEscape(spelled), PercentEscape(asset));
    http::Response response = TRY(GetFile(ctx, {std::move(url), "", asset}));
    TRY(CheckIsNoPage(response.body));
    Status status = CheckNamed(tag, asset, DigestOf(ctx, tag, spelled, asset), response.body);
    if ((!status.ok() || !Names(tag, asset)) && TakeNewer(ctx, tag, {spelled})) {
      status = CheckNamed(tag, asset, options_.digests->Of(KeyOf(tag, asset)), response.body);
    }
    TRY(status);
    return std::move(response.body);
  }

  bool Names(const std::string& tag, const std::string& asset) {
    const std::optional<Result<Asset>> named = Named(tag, asset);
    return named && named->ok();
  }

  Status CheckNamed(const std::string& tag, const std::string& asset, const std::string& digest,
                    const std::string& body) {
    if (auto named = Named(tag, asset); named && named->ok()) TRY(CheckSize(**named, body));
    return CheckDigest(digest, body, kService);
  }

  // T6: what is held (I17) may be of before a file was uploaded, or replaced: then GitHub is asked once all the same.
  bool TakeNewer(const Context& ctx, const std::string& tag, const std::vector<std::string>& spellings) {
    {
      MutexLock lock(mu_);
      if (!took_held_ || !named_.contains(tag) || !asked_again_.insert(tag).second) return false;
    }
    const auto answer = AskForRelease(ctx.WithTimeout(kDigestTime), tag, spellings, /*past_hold=*/true);
    const Status status = answer.ok() ? TakeRelease(*answer, tag) : Status(answer.error());
    if (!status.ok()) WarnOfDigests(ctx, tag, status.error());
    return status.ok();
  }

  // By the API, which tells a private repository's files, too. Nothing of a public one needs it: its files come by name
  // where the API doesn't give them (a limit of requests, a token that isn't taken any more, a mirror without it).
  Result<std::string> DownloadWithToken(const Context& ctx, const std::string& tag, const std::string& asset) {
    Result<std::string> text = DownloadByApi(ctx, tag, asset);
    if (text.ok() || text.code() == Code::kFailedPrecondition || !ctx.Check().ok()) return text;
    Result<std::string> by_name = DownloadByName(ctx, tag, asset);
    if (!by_name.ok() && by_name.code() != Code::kFailedPrecondition) return text;
    if (by_name.ok()) {
      ctx.log.Warn("GitHub's API doesn't give a file with the token: it came without",
                   {{"release", Describe() + " " + tag}, {"file", asset}, {"error", text.error().message}});
    }
    return by_name;
  }

  Result<std::string> DownloadByApi(const Context& ctx, const std::string& tag, const std::string& name) {
    Result<std::string> text = DownloadAsset(ctx, tag, name);
    if (text.ok() || (text.code() != Code::kNotFound && text.code() != Code::kFailedPrecondition)) return text;
    return TakeNewer(ctx, tag, Spellings(tag)) ? DownloadAsset(ctx, tag, name) : text;
  }

  Result<std::string> DownloadAsset(const Context& ctx, const std::string& tag, const std::string& name) {
    Asset asset = TRY(FindAsset(ctx, tag, name));
    http::Response response =
        TRY(GetFile(ctx, {Api(fmt::format("/releases/assets/{}", asset.id)), options_.token, name}));
    TRY(CheckIsNoPage(response.body));
    TRY(CheckSize(asset, response.body));
    TRY(CheckDigest(asset.digest, response.body, kService));
    return std::move(response.body);
  }

  // What a list or the first file's answer has said of it isn't asked again: each request counts.
  Result<Asset> FindAsset(const Context& ctx, const std::string& tag, const std::string& name) {
    if (auto asset = Named(tag, name)) {
      KeepDigests(tag);
      return *asset;
    }
    TRY(AskDigests(ctx, tag, Spellings(tag)));
    return *Named(tag, name);
  }

  Result<http::Response> AskForRelease(const Context& ctx, const std::string& tag,
                                       const std::vector<std::string>& spellings, bool past_hold) {
    for (const std::string& candidate : spellings) {
      Result<http::Response> response = AskApi(ctx, Api("/releases/tags/" + PercentEscape(candidate)), past_hold);
      if (response.ok() || response.code() != Code::kNotFound) return response;
    }
    return Error{Code::kNotFound, fmt::format("release not found for version {}: 404 Not Found", tag), {}};
  }

  static Status CheckSize(const Asset& asset, const std::string& body) {
    if (asset.size < 0 || static_cast<std::uint64_t>(asset.size) == body.size()) return Ok();
    return Error{Code::kUnavailable, fmt::format("got {} bytes of {}", body.size(), asset.size), {}};
  }

  // What an answer has said isn't sent again while it is so. Of one that was kept only what IsKept says is known.
  // `past_hold`: also where GitHub has said that it still holds.
  Result<http::Response> AskApi(const Context& ctx, const std::string& url, bool past_hold, bool* too_large = nullptr) {
    const std::string question = url + " " + asker_;
    const std::vector<std::string> files = Files();
    const bool keeps = std::all_of(files.begin(), files.end(), IsKept);
    const std::optional<GitHubAnswers::Answer> known = keeps ? options_.answers->Of(question) : std::nullopt;
    if (known && !past_hold && ctx.clock->Monotonic() < known->holds_until) {
      MutexLock lock(mu_);
      took_held_ = true;
      return known->response;
    }
    TRY(options_.answers->CheckLimit(asker_, ctx.clock->Monotonic()));
    http::Response response = TRY(CountLimit(
        ctx,
        Get(ctx, options_, {url, kJsonType, options_.token, options_.max_answer, known ? known->etag : std::string()},
            GitHubError, too_large)));
    if (response.status == 304) {
      options_.answers->Renew(question, response, ctx.clock->Monotonic());
      return known->response;
    }
    // One that is worth keeping: with an ETag, and with all that is read of it.
    if (!keeps || !response.headers.Has("ETag")) return response;
    if (Result<std::string> text = Shortened(response.body); text.ok()) {
      response.body = *std::move(text);
      options_.answers->Put(question, response, ctx.clock->Monotonic());
    }
    return response;
  }

  // Who has been told to wait doesn't ask for anything else meanwhile.
  Result<http::Response> CountLimit(const Context& ctx, Result<http::Response> response) const {
    if (!response.ok() && response.code() == Code::kRateLimited) {
      options_.answers->Limit(asker_, response.error(), ctx.clock->Monotonic());
    }
    return response;
  }

  struct Asked {
    std::string url;
    const std::string& token;  // of the API; "" for a file by its name
    const std::string& name;
  };
  Result<http::Response> GetFile(const Context& ctx, const Asked& file) const {
    const bool of_api = !file.token.empty();
    if (of_api) TRY(options_.answers->CheckLimit(asker_, ctx.clock->Monotonic()));
    fetch::Download download{file.url, kFileType, file.token, options_.max_file};
    download.optional = IsSignatureFile(file.name);
    Result<http::Response> response = fetch::Get(ctx, options_, download, GitHubError);
    return of_api ? CountLimit(ctx, std::move(response)) : response;
  }

  const GitHubUrl url_;
  const GitHubOptions options_;
  const std::string asker_;  // whose requests GitHub counts together: no token itself, which nothing should show
  mutable Mutex mu_;
  bool lists_tags_ CAPI_GUARDED_BY(mu_) = false;  // Versions does, or a module proxy's
  std::map<std::string, std::map<std::string, Asset>> named_ CAPI_GUARDED_BY(mu_);  // by tag, then asset
  bool took_held_ CAPI_GUARDED_BY(mu_) = false;             // something that was told is of an answer that is held
  std::set<std::string> asked_again_ CAPI_GUARDED_BY(mu_);  // tags, past what is held
  std::map<std::string, Error> unanswered_ CAPI_GUARDED_BY(mu_);     // by tag: it isn't asked again
  std::map<std::string, std::string> spelled_ CAPI_GUARDED_BY(mu_);  // tags of a list, by version
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
  if (!used.answers) used.answers = std::make_shared<GitHubAnswers>();
  while (used.api_url.ends_with('/')) used.api_url.pop_back();
  while (used.download_url.ends_with('/')) used.download_url.pop_back();
  return std::unique_ptr<Repository>(std::make_unique<GitHubRepository>(std::move(parsed), std::move(used)));
}

}  // namespace capi::fetch
