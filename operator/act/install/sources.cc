#include "operator/act/install/sources.h"

#include <fmt/core.h>

#include "fetch/url.h"

namespace capi::ops {
namespace {

std::string ComponentsFile(const api::ProviderId& id) {
  const api::KnownProvider* known = api::FindKnownProvider(id.type, id.name);
  return std::string(known != nullptr ? known->file : api::KindOf(id.type).components_file);
}

// The proposal names a repository by its page of releases alone; which file of which release is said elsewhere.
std::string WithFile(std::string url, const api::ProviderId& id) {
  constexpr std::string_view kGitHub = "https://github.com/", kPage = "/releases";
  if (url.ends_with('/')) url.pop_back();
  if (!url.starts_with(kGitHub) || !url.ends_with(kPage)) return url;
  return fmt::format("{}/latest/{}", url, ComponentsFile(id));
}

}  // namespace

Result<std::unique_ptr<fetch::Repository>> Sources::Open(const api::Provider& provider,
                                                         const std::string& token) const {
  const api::ProviderId& id = provider.id;
  const auto& fetch = provider.spec.fetch_config;
  if (!options_.folder.empty() && !(fetch && !fetch->url.empty())) {
    return fetch::OpenFolder(options_.folder, api::ManifestLabel(id.type, id.name), ComponentsFile(id));
  }
  std::optional<std::string> url =
      fetch && !fetch->url.empty() ? WithFile(fetch->url, id) : settings_.UrlOf(id.type, id.name);
  if (!url) return Error{Code::kNotFound, fmt::format("no URL is known for {}", id.ToString()), {}};
  fetch::GitHubOptions github = options_.github;
  if (!token.empty()) github.token = token;
  if (fetch && !fetch->url.empty()) TRY_WITH(fetch::ParseGitHubUrl(*url), "spec.fetchConfig.url");
  return fetch::OpenGitHub(*url, github);
}

}  // namespace capi::ops
