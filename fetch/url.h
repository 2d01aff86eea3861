// The URLs by which people name a provider's releases, taken apart as clusterctl takes them apart. Here and not by
// http::Url: a path alone is one, or another scheme's, and the path counts as written, escapes and all. What is asked
// for over HTTP in the end goes through http::Url all the same.
#pragma once

#include <string>
#include <string_view>

#include "api/kinds.h"
#include "base/result.h"

namespace capi::fetch {

// "https" of "HTTPS://host"; "" for a path, and all else without one.
std::string SchemeOf(std::string_view url);

// kInvalidArgument in the words of Go's parser for what is no URL, as far as escapes and a bracketed host go.
Status CheckUrl(std::string_view url);

// "https://github.com/{owner}/{repository}/releases/{latest|tag}/{file}". A value.
struct GitHubUrl {
  std::string owner, repository;
  std::string version;  // "latest" or a tag, not checked
  std::string root;     // folder of `file`, "." for none
  std::string file;
};
Result<GitHubUrl> ParseGitHubUrl(std::string_view url);

// Name of the components file of a provider's releases, where no URL says another one.
std::string ComponentsFileOf(api::ProviderType type, std::string_view name);

// What fetchConfig.url names, with its file: a repository may be named by its page of releases alone,
// "https://github.com/{owner}/{repository}/releases" (behaviour.md I2); which release of it is said elsewhere.
std::string WithFile(std::string url, api::ProviderType type, std::string_view name);

// The components file that such a URL, or a path, names; where it names none, as for "", the usual one of that
// provider.
std::string FileOf(std::string_view url, api::ProviderType type, std::string_view name);

// "https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}", of any host. A value.
struct GitLabUrl {
  std::string host;     // in lower case, with its port
  std::string project;  // a number, or "group%2Fproject" as written
  std::string package, version, file;
};
Result<GitLabUrl> ParseGitLabUrl(std::string_view url);

// "[file://]{base}/{manifest label}/{latest|version}/{file}". A value.
struct FolderUrl {
  std::string base, label, version, file;
};
Result<FolderUrl> ParseFolderUrl(std::string_view url, std::string_view manifest_label);

// Which of the four a URL is; clusterctl's messages for what is none of them. More than scheme and host is checked of a
// folder on a server alone (api/validate/folder_url.h), which clusterctl doesn't know.
enum class UrlKind { kFolder, kGitHub, kGitLab, kHttpFolder };
Result<UrlKind> KindOfUrl(std::string_view url);

}  // namespace capi::fetch
