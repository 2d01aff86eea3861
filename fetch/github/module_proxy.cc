#include "fetch/github/module_proxy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/download.h"

namespace capi::fetch {
namespace {

constexpr int kMostMajors = 50;
// Behind the version of a module that has no go.mod, or not the path of its major version. The tag is without it.
constexpr std::string_view kIncompatible = "incompatible";

// As proxies have it, whose paths may be files of a system that knows no upper case.
std::string ModulePath(std::string_view owner, std::string_view repository) {
  std::string path = "github.com/";
  for (char c : PercentEscape(owner) + "/" + PercentEscape(repository)) {
    if (c >= 'A' && c <= 'Z') {
      path += '!';
      c = static_cast<char>(c - 'A' + 'a');
    }
    path += c;
  }
  return path;
}

Error ProxyError(const http::Response& response, WallTime) {
  const bool none = response.status == 404 || response.status == 410;
  return Error{none ? Code::kNotFound : Code::kUnavailable,
               fmt::format("the module proxy answered HTTP {}", response.status),
               {}};
}

void AddVersions(std::string_view list, std::vector<api::Version>& versions) {
  for (const std::string& line : Split(list, '\n')) {
    Result<api::Version> version = api::Version::ParseTolerant(Trim(line));
    if (!version.ok()) continue;
    if (version->build == kIncompatible) version->build.clear();
    versions.push_back(*std::move(version));
  }
}

}  // namespace

std::string ModuleProxyIn(std::string_view goproxy) {
  for (const std::string& entry : Split(ReplaceAll(std::string(goproxy), "|", ","), ',')) {
    std::string named(Trim(entry));
    if (named.empty()) continue;
    if (named == "off" || named == "direct") return "";
    if (named.find("://") == std::string::npos) named = "https://" + named;
    while (named.ends_with('/')) named.pop_back();
    auto url = http::Url::Parse(named);
    return url.ok() ? url->Origin() + url->path : "";
  }
  return "";
}

Result<std::vector<api::Version>> ModuleVersions(const Context& ctx, const HttpOptions& options,
                                                 const std::string& proxy, std::string_view owner,
                                                 std::string_view repository) {
  std::vector<api::Version> versions;
  const std::string module = fmt::format("{}/{}", proxy, ModulePath(owner, repository));
  for (int major = 1; major <= kMostMajors; ++major) {
    const std::string suffix = major == 1 ? "" : fmt::format("/v{}", major);
    Result<http::Response> list =
        Get(ctx, options, {module + suffix + "/@v/list", "text/plain", "", options.max_answer}, ProxyError);
    if (!list.ok() && list.code() == Code::kNotFound) break;
    if (!list.ok()) return list.error();
    TRY(CheckIsNoPage(list->body));
    AddVersions(list->body, versions);
    if (versions.size() > kMostReleases) break;
  }
  if (versions.empty()) return Error{Code::kNotFound, "the module proxy has no version of " + module, {}};
  if (versions.size() > kMostReleases)
    return Error{Code::kInvalidArgument, "the module proxy has more versions than any repository", {}};
  return versions;
}

}  // namespace capi::fetch
