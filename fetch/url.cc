#include "fetch/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "api/release.h"
#include "api/validate/folder_url.h"
#include "api/version.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kGitHubHost = "invalid url: a GitHub repository url should start with https://github.com";
constexpr std::string_view kGitHubForm =
    "invalid url: a GitHub repository url should be in the form "
    "https://github.com/{owner}/{Repository}/releases/{latest|version-tag}/{componentsClient.yaml}";
constexpr std::string_view kGitLabForm =
    "invalid url: a GitLab repository url should be in the form "
    "https://{host}/api/v4/projects/{projectSlug}/packages/generic/{packageName}/{defaultVersion}/{componentsPath}";

struct Parts {
  std::string scheme, host, path;  // the path as written, without query and fragment
};

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

constexpr std::string_view kAfterScheme = "://";

Result<Parts> Take(std::string_view url) {
  TRY_WITH(CheckUrl(url), "invalid url");
  std::string_view rest = url.substr(0, url.find_first_of("?#"));
  Parts parts{.scheme = SchemeOf(rest), .host = "", .path = ""};
  if (!parts.scheme.empty()) {
    rest.remove_prefix(parts.scheme.size() + kAfterScheme.size());
    size_t slash = std::min(rest.find('/'), rest.size());
    parts.host = rest.substr(0, slash);
    rest.remove_prefix(slash);
  }
  parts.path = rest;
  return parts;
}

// Elements of a path without the slash at its front.
std::vector<std::string> Elements(std::string_view path) {
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  return Split(path, '/');
}

// Names of owners and repositories go into request paths: nothing that would leave their place there. `more`: further
// characters that they may have.
bool IsPlainName(std::string_view name, std::string_view more = "") {
  return !name.empty() && name != "." && name != ".." && std::all_of(name.begin(), name.end(), [&](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || more.find(static_cast<char>(c)) != more.npos;
  });
}

// That names of packages, versions and files may have on GitLab beside those.
constexpr std::string_view kMoreOfPackages = "+~@";

// A number, or the path of a project with its slashes escaped.
bool IsProject(std::string_view project) {
  std::vector<std::string> names = Split(ReplaceAll(ReplaceAll(std::string(project), "%2F", "/"), "%2f", "/"), '/');
  return !names.empty() &&
         std::all_of(names.begin(), names.end(), [](const std::string& name) { return IsPlainName(name); });
}

// With a port, but without user and password.
bool IsPlainHost(std::string_view host) { return host.find_first_of("@%\\") == host.npos; }

}  // namespace

std::string SchemeOf(std::string_view url) {
  std::string scheme = ToLower(url.substr(0, std::min(url.find(kAfterScheme), url.size())));
  const bool is_one = scheme.size() < url.size() && std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
                        return std::isalnum(c) || c == '+' || c == '-' || c == '.';
                      });
  return is_one ? scheme : "";
}

Status CheckUrl(std::string_view url) {
  auto bad = [&](std::string_view why) { return Invalid(fmt::format("parse \"{}\": {}", url, why)); };
  for (size_t i = url.find('%'); i != std::string_view::npos; i = url.find('%', i + 1)) {
    std::string_view escape = url.substr(i, 3);
    bool valid = escape.size() == 3 && std::isxdigit(static_cast<unsigned char>(escape[1])) &&
                 std::isxdigit(static_cast<unsigned char>(escape[2]));
    if (!valid) return bad(fmt::format("invalid URL escape \"{}\"", escape));
  }
  const std::string scheme = SchemeOf(url);
  std::string_view host = scheme.empty() ? "" : url.substr(scheme.size() + kAfterScheme.size());
  host = host.substr(0, host.find_first_of("/?#"));
  if (host.starts_with('[') && host.find(']') == host.npos) return bad("missing ']' in host");
  return Ok();
}

Result<GitHubUrl> ParseGitHubUrl(std::string_view url) {
  Parts parts = TRY(Take(url));
  if (parts.scheme != "https" || parts.host != "github.com") return Invalid(std::string(kGitHubHost));
  std::vector<std::string> path = Elements(parts.path);
  if (path.size() < 5 || path[2] != "releases" || path[3].empty()) return Invalid(std::string(kGitHubForm));
  if (!IsPlainName(path[0]) || !IsPlainName(path[1])) return Invalid(std::string(kGitHubForm));
  GitHubUrl out{path[0], path[1], path[3], ".", path.back()};
  if (path.size() > 5) out.root = Join(std::span(path).subspan(4, path.size() - 5), "/");
  return out;
}

std::string ComponentsFileOf(api::ProviderType type, std::string_view name) {
  const api::KnownProvider* known = api::FindKnownProvider(type, name);
  return std::string(known != nullptr ? known->file : api::KindOf(type).components_file);
}

std::string WithFile(std::string url, api::ProviderType type, std::string_view name) {
  constexpr std::string_view kGitHub = "https://github.com/", kPage = "/releases";
  const std::string_view page = std::string_view(url).substr(0, url.size() - (url.ends_with('/') ? 1 : 0));
  if (!page.starts_with(kGitHub) || !page.ends_with(kPage)) return url;
  return fmt::format("{}/latest/{}", page, ComponentsFileOf(type, name));
}

std::string FileOf(std::string_view url, api::ProviderType type, std::string_view name) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::string_view file = url.substr(url.rfind('/') + 1);
  return file.empty() ? ComponentsFileOf(type, name) : std::string(file);
}

Result<GitLabUrl> ParseGitLabUrl(std::string_view url) {
  Parts parts = TRY(Take(url));
  std::vector<std::string> path = Elements(parts.path);
  bool fits = parts.scheme == "https" && !parts.host.empty() && path.size() == 9 && path[0] == "api" &&
              path[1] == "v4" && path[2] == "projects" && path[4] == "packages" && path[5] == "generic";
  fits = fits && IsPlainHost(parts.host) && IsProject(path[3]) && IsPlainName(path[6], kMoreOfPackages) &&
         IsPlainName(path[7], kMoreOfPackages) && IsPlainName(path[8], kMoreOfPackages);
  if (!fits) return Invalid(std::string(kGitLabForm));
  return GitLabUrl{ToLower(parts.host), path[3], path[6], path[7], path[8]};
}

Result<FolderUrl> ParseFolderUrl(std::string_view url, std::string_view manifest_label) {
  Parts parts = TRY(Take(url));
  if (parts.path.empty() || parts.path.front() != '/') {
    return Invalid(fmt::format("invalid path: path \"{}\" must be an absolute path", parts.path));
  }
  std::vector<std::string> path = Elements(parts.path);
  if (path.size() < 3) {
    return Invalid("invalid path: path should be in the form {basepath}/{provider-name}/{version}/{components.yaml}");
  }
  size_t n = path.size();
  FolderUrl out{"/" + Join(std::span(path).first(n - 3), "/"), path[n - 3], path[n - 2], path[n - 1]};
  if (out.version != "latest" && !api::Version::Parse(out.version).ok()) {
    return Invalid(fmt::format(
        "invalid version: \"{}\". Version must obey the syntax and semantics of the \"Semantic Versioning\" "
        "specification "
        "(http://semver.org/) and path format {{basepath}}/{{provider-name}}/{{version}}/{{components.yaml}}",
        out.version));
  }
  if (out.label != manifest_label) {
    return Invalid(
        fmt::format("invalid path: path \"{}\" must contain provider \"{}\" in the format "
                    "{{basepath}}/{{provider-label}}/{{version}}/{{components.yaml}}",
                    parts.path, manifest_label));
  }
  return out;
}

Result<UrlKind> KindOfUrl(std::string_view url) {
  Parts parts = TRY(Take(url));
  if (parts.scheme.empty() || parts.scheme == "file") return UrlKind::kFolder;
  if (parts.scheme != "https") {
    return Invalid(
        fmt::format("invalid provider url. there are no provider implementation for \"{}\" schema", parts.scheme));
  }
  if (parts.host == "github.com") return UrlKind::kGitHub;
  // Cluster API's clusterctl asks for a host that begins with "gitlab."; others have theirs elsewhere.
  if (parts.path.starts_with("/api/v4/projects/")) return UrlKind::kGitLab;
  auto folder = api::ParseHttpFolderUrl(url);
  if (folder.ok()) return UrlKind::kHttpFolder;
  return Invalid("invalid provider url. Only GitHub and GitLab are supported for \"https\" schema, and folders: " +
                 folder.error().message);
}

}  // namespace capi::fetch
