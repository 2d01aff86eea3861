#include "api/validate/folder_url.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include "api/version.h"
#include "base/http/url.h"
#include "base/strings.h"

namespace capi::api {
namespace {

constexpr std::string_view kScheme = "https://";

Error Invalid(const char* message) { return Error{Code::kInvalidArgument, message, {}}; }

// With a port, and without a user and a password.
bool IsHost(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  });
}

// Nothing that would leave its place in a request's path, or end it.
bool IsPart(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && std::all_of(part.begin(), part.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~' || c == '+' || c == '@';
  });
}

bool IsVersion(const std::string& text) { return text == "latest" || Version::Parse(text).ok(); }

// A mistake in a URL of theirs isn't a folder elsewhere.
bool IsMeantForAnother(const std::string& host, const std::vector<std::string>& path) {
  const bool by_name = host.find("github") != host.npos || host.find("gitlab") != host.npos;
  const bool as_github = (path.size() == 5 && path[2] == "releases") ||
                         (path.size() == 6 && path[2] == "releases" && path[3] == "download");
  return by_name || as_github || (path.size() > 2 && path[0] == "api" && path[1] == "v4");
}

}  // namespace

Result<HttpFolderUrl> ParseHttpFolderUrl(std::string_view url) {
  if (!url.starts_with(kScheme)) return Invalid("it doesn't begin with https://");
  if (url.find('?') != url.npos)
    return Invalid("it has a query, which belongs to one file, so that a signed URL can't be taken");
  std::vector<std::string> path = Split(url.substr(kScheme.size()), '/');
  const std::string host = ToLower(path.front());
  path.erase(path.begin());
  if (!IsHost(host) || !http::Url::Parse(std::string(kScheme) + host).ok())
    return Invalid("it has no host that can be asked; a user or a password can't stand there");
  if (!std::all_of(path.begin(), path.end(), IsPart))
    return Invalid("its path has an empty part, one that leads elsewhere, or characters that no release's name has");
  if (path.size() < 2 || !IsVersion(path[path.size() - 2]) || !path.back().ends_with(".yaml"))
    return Invalid("its path doesn't end with a version, or latest, and a .yaml file");
  if (IsMeantForAnother(host, path)) return Invalid("it is like one of GitHub or GitLab, and isn't one");
  HttpFolderUrl out{std::string(kScheme) + host, path[path.size() - 2], path.back()};
  for (const std::string& part : std::span(path).first(path.size() - 2)) out.base += "/" + part;
  return out;
}

}  // namespace capi::api
