// How people name a folder of releases on a server (spec.fetchConfig.url, and `url` of a configuration file).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::api {

// "https://{host}/{path}/{version}/{file}". A value.
struct HttpFolderUrl {
  std::string base;     // "https://host/path", in which each version has a folder
  std::string version;  // "latest" or a version
  std::string file;     // "infrastructure-components.yaml"
};

// kInvalidArgument with what is wrong. What was meant for GitHub or GitLab is none, but has a mistake: a host with such
// a name, and a path as GitHub's releases have it.
Result<HttpFolderUrl> ParseHttpFolderUrl(std::string_view url);

}  // namespace capi::api
