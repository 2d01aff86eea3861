#include "operator/act/install/sources.h"

#include <fmt/core.h>

#include "fetch/configuration_file.h"
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

SourceCredentials CredentialsIn(const std::map<std::string, std::string>& secret) {
  auto token = [&](const char* key) {
    auto found = secret.find(key);
    return found == secret.end() ? std::string() : found->second;
  };
  return {.github_token = token("github-token"),
          .gitlab_token = token("gitlab-access-token"),
          .oci = fetch::OciCredentialsIn(secret)};
}

Sources::Sources(const Settings& settings, SourceOptions options) : settings_(settings), options_(std::move(options)) {
  // One look at a provider tells the next (T6).
  options_.github.digests = options_.gitlab.digests = std::make_shared<fetch::NamedDigests>();
  options_.gitlab.token_hosts = fetch::GitLabHosts(settings.file.providers);
}

Result<std::unique_ptr<fetch::Repository>> Sources::Open(const api::Provider& provider,
                                                         const SourceCredentials& credentials) const {
  const api::ProviderId& id = provider.id;
  const auto& fetch = provider.spec.fetch_config;
  if (fetch && !fetch->oci.empty()) {
    fetch::OciOptions oci = options_.oci;
    oci.credentials = credentials.oci;
    return TRY_WITH(fetch::OpenOci(fetch->oci, id.type, id.name, oci), "spec.fetchConfig.oci");
  }
  if (!options_.folder.empty() && !(fetch && !fetch->url.empty())) {
    return fetch::OpenFolder(options_.folder, api::ManifestLabel(id.type, id.name), ComponentsFile(id));
  }
  std::optional<std::string> url =
      fetch && !fetch->url.empty() ? WithFile(fetch->url, id) : settings_.UrlOf(id.type, id.name);
  if (!url) return Error{Code::kNotFound, fmt::format("no URL is known for {}", id.ToString()), {}};
  const std::string where = fetch && !fetch->url.empty() ? "spec.fetchConfig.url" : "the operator's configuration file";
  if (TRY_WITH(fetch::KindOfUrl(*url), where) == fetch::UrlKind::kGitLab) {
    TRY_WITH(fetch::ParseGitLabUrl(*url), where);
    fetch::GitLabOptions gitlab = options_.gitlab;
    gitlab.url_token = credentials.gitlab_token;
    return fetch::OpenGitLab(*url, gitlab);
  }
  TRY_WITH(fetch::ParseGitHubUrl(*url), where);
  fetch::GitHubOptions github = options_.github;
  if (!credentials.github_token.empty()) github.token = credentials.github_token;
  return fetch::OpenGitHub(*url, github);
}

}  // namespace capi::ops
