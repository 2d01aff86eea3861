#include "cli/generate/template_text.h"

#include <fmt/format.h>

#include <iterator>

#include "api/release.h"
#include "api/text.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "cli/frame/provider_release.h"
#include "fetch/text.h"
#include "fetch/url.h"

namespace capi::cli {
namespace {

constexpr size_t kMostBytes = api::kMaxReleaseBytes;
Error Cannot(Code code, std::string_view why) {
  return Error{code, fmt::format("invalid GetFromURL operation: {}", why), {}};
}

Result<TemplateText> FromInput(std::istream& in) {
  std::string text;
  char piece[1 << 16];
  while (in.read(piece, sizeof piece) || in.gcount() > 0) {
    text.append(piece, static_cast<size_t>(in.gcount()));
    if (text.size() > kMostBytes)
      return Cannot(Code::kInvalidArgument, fmt::format("standard input has more than {} bytes", kMostBytes));
  }
  if (in.bad()) return Cannot(Code::kInternal, "failed to read from standard input");
  return TemplateText{"standard input", std::move(text)};
}

Result<TemplateText> FromFile(const std::string& path) {
  auto text = ReadFile(path, kMostBytes);
  if (text.ok()) return TemplateText{path, *std::move(text)};
  return Cannot(text.code(), fmt::format("failed to read file {}: {}", api::GoQuote(path), text.error().message));
}

// A request, and its headers.
struct Download {
  std::string url, token, accept;
};

// A file of a repository is asked of the API, which takes a token for private ones and answers with the file itself.
Result<Download> PlanDownload(const Config& config, const std::string& url) {
  auto at = http::Url::Parse(url);
  if (!at.ok() || at->Origin() != "https://github.com" || !at->user_info.empty() || at->path.size() < 2) {
    return Download{url, "", "*/*"};
  }
  fetch::GitHubOptions options = TRY(GitHubOptionsOf(config));
  // What a browser adds (#L5, ?raw=true) names no other file; behind it the version would be lost.
  std::vector<std::string> steps = Split(at->path.substr(1, at->path.find('?') - 1), '/');
  if (steps.size() < 5 || (steps[2] != "blob" && steps[2] != "raw")) {
    return Download{options.download_url + at->path, "", "*/*"};
  }
  // "refs/heads/main" as a browser's link to the bare file has it: the name behind it.
  size_t ref = steps.size() > 6 && steps[3] == "refs" && (steps[4] == "heads" || steps[4] == "tags") ? 5 : 3;
  std::vector<std::string> path(steps.begin() + static_cast<std::ptrdiff_t>(ref) + 1, steps.end());
  return Download{fmt::format("{}/repos/{}/{}/contents/{}?ref={}", options.api_url, steps[0], steps[1], Join(path, "/"),
                              PercentEscape(steps[ref])),
                  options.token, "application/vnd.github.raw+json"};
}

Result<TemplateText> FromUrl(const Context& ctx, const Config& config, const std::string& url) {
  Download plan = TRY(PlanDownload(config, url));
  std::string shown = http::PrintableUrl(url);
  http::Request request;
  request.max_body = kMostBytes;
  request.headers.Set("Accept", plan.accept);
  request.headers.Set("User-Agent", TRY(GitHubOptionsOf(config)).user_agent);
  if (!plan.token.empty()) request.headers.Set("Authorization", "Bearer " + plan.token);
  http::Options options;
  options.proxy = ProxyFrom(config.getenv());
  auto response = http::Fetch(ctx.WithTimeout(Seconds(30)), plan.url, std::move(request), options);
  if (!response.ok())
    return Cannot(response.code(), fmt::format("failed to get {}: {}", shown, response.error().message));
  if (response->status == 200 && fetch::LooksLikeHtml(response->body)) {
    return Cannot(
        Code::kInvalidArgument,
        fmt::format("{} is a web page, no YAML: name the file itself, on GitHub by a URL with /blob/", shown));
  }
  if (response->status == 200) return TemplateText{shown, std::move(response->body)};
  std::string hint;
  if (response->status == 404 && plan.url != url && plan.token.empty())
    hint = "; a private repository needs GITHUB_TOKEN";
  return Cannot(response->status == 404 ? Code::kNotFound : Code::kUnavailable,
                fmt::format("failed to get {}, got {}{}", shown, response->status, hint));
}

}  // namespace

Result<TemplateText> ReadTemplateText(const Context& ctx, const Config& config, const std::string& from, World& world) {
  if (from == "-") return FromInput(world.in);
  const std::string scheme = fetch::SchemeOf(from);
  if (scheme.empty()) return FromFile(from);
  if (scheme == "file") return FromFile(from.substr(std::string_view("file://").size()));
  if (scheme == "https" || scheme == "http") return FromUrl(ctx, config, from);
  return Cannot(Code::kInvalidArgument,
                fmt::format("unable to read content from {}: write a path, or a URL of http or https",
                            api::GoQuote(http::PrintableUrl(from))));
}

}  // namespace capi::cli
