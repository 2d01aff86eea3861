#include "fetch/folders/http_folder.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "api/validate/folder_url.h"
#include "base/encoding.h"
#include "base/http/url.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"

namespace capi::fetch {
namespace {

constexpr size_t kMaxVersions = 1u << 20;  // bytes of the file
constexpr Seconds kLimitWait{60};          // where a limit comes without a time

Error ErrorOf(const http::Response& response, WallTime now) {
  const std::string status = fmt::format("HTTP {}", response.status);
  switch (response.status) {
    case 401:
      return Error{Code::kUnauthenticated,
                   "the server lets nobody read it without credentials, of which none are sent: " + status,
                   {}};
    case 403:
      return Error{Code::kPermissionDenied,
                   status +
                       ": the server forbids it to who sends no credentials, and none are sent; or it isn't there, of "
                       "which a store of objects that may be read, and not listed, says the same",
                   {}};
    case 404:
    case 410: return Error{Code::kNotFound, status, {}};
    case 429: {
      const Millis wait = RetryAfter(response).value_or(kLimitWait);
      return Error{
          Code::kRateLimited,
          fmt::format("the server limits requests ({}); the next one may come at {}", status, FormatTime(now + wait)),
          wait};
    }
    default: break;
  }
  if (response.status >= 500 || response.status == 408)
    return Error{Code::kUnavailable, "the server is in trouble: " + status, RetryAfter(response)};
  return Error{Code::kInvalidArgument, "the server answered " + status, {}};
}

// What else may be there in the place of is asked for: then it doesn't matter which of the two it is.
bool MayBeMissing(Code code) { return code == Code::kNotFound || code == Code::kPermissionDenied; }

// Some editors put a mark in front of a text (U+FEFF).
std::string_view WithoutMark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

// Thread-safe.
class HttpFolder : public Repository {
 public:
  HttpFolder(api::HttpFolderUrl url, HttpOptions options) : url_(std::move(url)), options_(std::move(options)) {}

  std::string Describe() const override { return url_.base.substr(std::string_view("https://").size()); }
  std::string ComponentsFile() const override { return url_.file; }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    const std::string url = fmt::format("{}/{}", url_.base, kVersionsFile);
    auto text = Read(ctx, url, kMaxVersions);
    if (!text.ok() && MayBeMissing(text.code())) {
      return Error{
          Code::kNotFound,
          fmt::format("{} isn't there ({}), and nothing else says which versions a folder has: put that file "
                      "there, with one a line, or name the version (spec.version); no newer one is noticed then",
                      url, text.error().message),
          {}};
    }
    if (!text.ok()) return text.error().With(url);
    std::vector<api::Version> out;
    size_t number = 0;
    for (const std::string& whole : Split(WithoutMark(*text), '\n')) {
      const std::string line(Trim(whole));
      ++number;
      if (line.empty() || line.starts_with('#')) continue;
      auto version = api::Version::Parse(line);
      if (!version.ok())
        return Error{
            Code::kInvalidArgument,
            fmt::format("{}: line {} is no version: write one like v1.2.3, or # before a comment", url, number),
            {}};
      out.push_back(*std::move(version));
      if (out.size() > kMostReleases)
        return Error{Code::kInvalidArgument, fmt::format("{} names more than {} versions", url, kMostReleases), {}};
    }
    Order(out);
    return out;
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    if (name.empty() || name == ".." || name.find('/') != name.npos)
      return Error{Code::kInvalidArgument, fmt::format("\"{}\" is no name of a file in a release", name), {}};
    if (name != kMetadataFile && !KnowsFolderOf(version)) {
      auto metadata = FileOfOneFolder(ctx, version, kMetadataFile);
      // cert-manager has none: its file may be under either name.
      if (!metadata.ok() && !MayBeMissing(metadata.code())) return metadata.error();
    }
    return FileOfOneFolder(ctx, version, name);
  }

 private:
  // Of the folder that is known, else of the first that has it.
  Result<std::string> FileOfOneFolder(const Context& ctx, const api::Version& version, std::string_view name) {
    std::optional<Error> why;
    for (const std::string& folder : FoldersOf(version)) {
      const std::string url = UrlOf(folder, name);
      auto text = Read(ctx, url, options_.max_file);
      if (text.ok() && name == kMetadataFile) Remember(version, folder);
      if (text.ok()) return text;
      const bool says_more = text.code() != Code::kNotFound && (!why || text.code() != why->code);
      if (!why || says_more) why = text.error().With(url);
      if (!MayBeMissing(text.code())) break;
    }
    // Most releases have one of several. Of any other file it is a refusal, which may end.
    if (IsSignatureFile(name) && MayBeMissing(why->code)) why->code = Code::kNotFound;
    return *why;
  }

  std::string UrlOf(const std::string& version, std::string_view name) const {
    return fmt::format("{}/{}/{}", url_.base, PercentEscape(version), PercentEscape(name));
  }

  // How its folder may be called (I12): all that a release has is of the one that has its metadata.
  std::vector<std::string> FoldersOf(const api::Version& version) {
    const std::string with_v = version.ToString();
    MutexLock lock(mu_);
    auto known = folders_.find(with_v);
    return known == folders_.end() ? std::vector{with_v, with_v.substr(1)} : std::vector{known->second};
  }

  bool KnowsFolderOf(const api::Version& version) {
    MutexLock lock(mu_);
    return folders_.contains(version.ToString());
  }

  void Remember(const api::Version& version, const std::string& folder) {
    MutexLock lock(mu_);
    folders_[version.ToString()] = folder;
  }

  Result<std::string> Read(const Context& ctx, const std::string& url, size_t most) const {
    const Download download{.url = url, .accept = "*/*", .token = "", .max_body = most, .store_counts = true};
    auto response = TRY(Get(ctx, options_, download, ErrorOf));
    TRY(CheckIsNoPage(response.body));
    return std::move(response.body);
  }

  const api::HttpFolderUrl url_;
  const HttpOptions options_;
  Mutex mu_;
  std::map<std::string, std::string> folders_ CAPI_GUARDED_BY(mu_);  // by version
};

}  // namespace

Result<std::unique_ptr<Repository>> OpenHttpFolder(std::string_view url, const HttpOptions& options) {
  auto parsed = api::ParseHttpFolderUrl(url);
  if (!parsed.ok()) return parsed.error().With("invalid url");
  return std::unique_ptr<Repository>(std::make_unique<HttpFolder>(*std::move(parsed), options));
}

}  // namespace capi::fetch
