#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/encoding.h"
#include "base/http/url.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"
#include "fetch/gitlab_lists.h"
#include "fetch/repository.h"
#include "fetch/url.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kService = "GitLab";
constexpr std::string_view kJsonType = "application/json";
constexpr int kPageSize = 100;  // GitLab gives no more

struct NamedPackage {
  std::string version;  // as it is written there
  std::int64_t id = 0;
};

// A package that GitLab has put away, or not yet taken in, is no release.
bool IsThere(const ListedPackage& package) {
  return package.status.empty() || package.status == "default" || package.status == "deprecated";
}

// Thread-safe.
class GitLabRepository : public Repository {
 public:
  // `token`: the one that goes to this host, "" for none. `hint`: what to do where a token is wanted.
  GitLabRepository(GitLabUrl url, GitLabOptions options, std::string token, std::string hint)
      : url_(std::move(url)), options_(std::move(options)), token_(std::move(token)), hint_(std::move(hint)) {}

  std::string Describe() const override {
    return fmt::format("{}/{}/{}", url_.host, PercentUnescape(url_.project), url_.package);
  }
  std::string ComponentsFile() const override { return url_.file; }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    std::vector<api::Version> versions;
    Status status = EachPackage(ctx.WithTimeout(kListTime), "", [&](const ListedPackage& package) {
      Result<api::Version> version = api::Version::Parse(package.version);
      if (!version.ok() || !IsThere(package) || versions.size() > kMostReleases) return;
      Remember(version->ToString(), package);
      versions.push_back(std::move(*version));
    });
    if (status.ok() && versions.size() > kMostReleases) status = Invalid("the list has more versions than any package");
    if (!status.ok()) {
      return WithHint(OfOwnLimit(ctx, status.error()))
          .With(fmt::format("failed to list the versions of {}", Describe()));
    }
    Order(versions);
    return versions;
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos) {
      return Invalid(fmt::format("\"{}\" is no name of a file in a package", name));
    }
    Result<std::string> text = Invalid("");
    for (const std::string& written : Spellings(version)) {
      text = Download(ctx, written, std::string(name));
      if (text.ok() || text.code() != Code::kNotFound) break;
    }
    if (text.ok()) return text;
    return WithHint(text.error()).With(fmt::format("failed to get {} of {} {}", name, Describe(), version.ToString()));
  }

 private:
  static Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

  // GitLab doesn't tell a private project from none.
  Error WithHint(Error error) const {
    const bool may_lack_it =
        error.code == Code::kNotFound || error.code == Code::kUnauthenticated || error.code == Code::kPermissionDenied;
    if (may_lack_it && token_.empty()) error.message += hint_;
    return error;
  }

  std::string Api(std::string_view rest) const {
    return fmt::format("https://{}/api/v4/projects/{}/packages{}", url_.host, url_.project, rest);
  }

  std::string UrlOf(const std::string& version, const std::string& name) const {
    return Api(
        fmt::format("/generic/{}/{}/{}", PercentEscape(url_.package), PercentEscape(version), PercentEscape(name)));
  }

  Result<http::Response> Ask(const Context& ctx, std::string url, std::string_view accept, size_t max_body,
                             bool optional = false) const {
    fetch::Download download{std::move(url), accept, token_, max_body};
    download.optional = optional;
    http::Response response = TRY(Get(ctx, options_, download, GitLabError));
    TRY(CheckIsNoPage(response.body));
    return response;
  }

  // `list` ends where a parameter may follow. Pages are counted here: a server behind a proxy may not know by which URL
  // it is reached.
  Status EachPage(const Context& ctx, const std::string& list, const std::function<Status(const std::string&)>& take) {
    for (int page = 1; page <= kMostPages; ++page) {
      std::string url = fmt::format("{}per_page={}&page={}", list, kPageSize, page);
      http::Response response = TRY(Ask(ctx, std::move(url), kJsonType, options_.max_answer));
      TRY(take(response.body));
      if (response.headers.Get("X-Next-Page").empty() && NextPage(response.headers.Get("Link")).empty()) return Ok();
    }
    return Invalid("the list does not end");
  }

  // Those of our name: the server finds all that have it in theirs. `query`: what else they are to be, and a "&".
  Status EachPackage(const Context& ctx, std::string_view query,
                     const std::function<void(const ListedPackage&)>& visit) {
    std::string list = Api(fmt::format("?package_type=generic&package_name={}&{}", PercentEscape(url_.package), query));
    return EachPage(ctx, list, [&](const std::string& body) {
      return ReadPackages(body, [&](const ListedPackage& package) {
        if (package.name == url_.package) visit(package);
      });
    });
  }

  // A version may be written without the "v" (I12); one that has it comes first.
  void Remember(const std::string& version, const ListedPackage& package) {
    MutexLock lock(mu_);
    NamedPackage& named = named_[version];
    if (named.version != version) named = {package.version, package.id};
  }

  // How the version may be written there.
  std::vector<std::string> Spellings(const api::Version& version) {
    const std::string with_v = version.ToString();
    MutexLock lock(mu_);
    auto named = named_.find(with_v);
    return named == named_.end() ? std::vector{with_v, with_v.substr(1)} : std::vector{named->second.version};
  }

  Result<std::string> Download(const Context& ctx, const std::string& version, const std::string& name) {
    http::Response response = TRY(Ask(ctx, UrlOf(version, name), kFileType, options_.max_file, IsSignatureFile(name)));
    TRY(CheckDigest(DigestOf(ctx, version, name), response.body, kService));
    return std::move(response.body);
  }

  // T6: the digest that GitLab names for a file now; where it can't be asked, the one that it has named before. ""
  // where it never has.
  std::string DigestOf(const Context& ctx, const std::string& version, const std::string& name) {
    if (IsToBeAsked(version)) {
      if (Status status = AskDigests(ctx.WithTimeout(kDigestTime), version); !status.ok()) {
        ctx.log.Warn("can't ask GitLab for the digests of a release's files",
                     {{"release", Describe() + " " + version}, {"error", status.error().message}});
      }
    }
    Keep(version, name);
    return options_.digests->Of(UrlOf(version, name));
  }

  // Once, also where there is no answer.
  bool IsToBeAsked(const std::string& version) {
    MutexLock lock(mu_);
    return asked_.insert(version).second;
  }

  // For other looks, where the server has said that there is such a file. One that its answer doesn't name may be under
  // way to be replaced.
  void Keep(const std::string& version, const std::string& name) {
    MutexLock lock(mu_);
    auto files = files_.find(version);
    if (files == files_.end()) return;
    auto file = files->second.find(name);
    if (file != files->second.end()) options_.digests->Put(UrlOf(version, name), file->second);
  }

  // A file that was put there again comes in the place of the former one, and both are in the list.
  Status AskDigests(const Context& ctx, const std::string& version) {
    const std::int64_t package = TRY(IdOf(ctx, version));
    std::map<std::string, ListedFile> newest;
    TRY(EachPage(ctx, Api(fmt::format("/{}/package_files?", package)), [&](const std::string& body) {
      return ReadFiles(body, [&](ListedFile file) {
        ListedFile& known = newest[file.name];
        if (newest.size() <= kMostReleases && file.id >= known.id) known = std::move(file);
      });
    }));
    std::map<std::string, std::string> digests;
    for (const auto& [name, file] : newest) {
      digests[name] = file.sha256.empty() ? "" : "sha256:" + file.sha256.substr(0, kMostOfDigest);
    }
    {
      MutexLock lock(mu_);
      files_[version] = std::move(digests);
    }
    // Also of the other one of a release's two files: it may come when the server can't be asked.
    for (const std::string& name : {std::string(kMetadataFile), url_.file}) Keep(version, name);
    return Ok();
  }

  Result<std::int64_t> IdOf(const Context& ctx, const std::string& version) {
    if (std::int64_t id = NamedId(version); id != 0) return id;
    std::int64_t found = 0;
    // Servers before 16.6 don't know that parameter, and list all versions.
    TRY(EachPackage(ctx, fmt::format("package_version={}&", PercentEscape(version)), [&](const ListedPackage& package) {
      if (package.version == version && IsThere(package)) found = package.id;
    }));
    if (found != 0) return found;
    return Error{Code::kNotFound, "the list of packages doesn't have it", {}};
  }

  std::int64_t NamedId(const std::string& version) {
    MutexLock lock(mu_);
    for (const auto& [name, package] : named_) {
      if (package.version == version) return package.id;
    }
    return 0;
  }

  const GitLabUrl url_;
  const GitLabOptions options_;
  const std::string token_, hint_;
  mutable Mutex mu_;
  std::map<std::string, NamedPackage> named_ CAPI_GUARDED_BY(mu_);                        // by version with "v"
  std::map<std::string, std::map<std::string, std::string>> files_ CAPI_GUARDED_BY(mu_);  // digests, as versions are
                                                                                          // written there, by name;
                                                                                          // "" where none is named
  std::set<std::string> asked_ CAPI_GUARDED_BY(mu_);                                      // the same, for digests
};

std::string HintOf(const GitLabOptions& options, const std::string& host) {
  if (options.token.empty()) {
    return " (a private project needs a token: GITLAB_ACCESS_TOKEN for a host that the configuration file names as a "
           "source, or, for spec.fetchConfig.url, the key gitlab-access-token of the Secret that spec.configSecret "
           "names)";
  }
  return fmt::format(
      " (GITLAB_ACCESS_TOKEN isn't sent to {}: it goes to hosts that the configuration file names as sources; the key "
      "gitlab-access-token of the Secret that spec.configSecret names goes there)",
      host);
}

}  // namespace

Result<std::unique_ptr<Repository>> OpenGitLab(std::string_view url, const GitLabOptions& options) {
  GitLabUrl parsed = TRY(ParseGitLabUrl(url));
  TRY_WITH(http::Url::Parse("https://" + parsed.host), "invalid url");
  GitLabOptions used = options;
  if (used.url_token.empty() && used.token_hosts.contains(parsed.host)) used.url_token = used.token;
  std::string token = TRY(CheckToken(used.url_token, kService));
  if (!used.digests) used.digests = std::make_shared<NamedDigests>();
  std::string hint = HintOf(used, parsed.host);
  return std::unique_ptr<Repository>(
      std::make_unique<GitLabRepository>(std::move(parsed), std::move(used), std::move(token), std::move(hint)));
}

}  // namespace capi::fetch
