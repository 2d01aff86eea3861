#include "operator/act/install/sources.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/text.h"
#include "api/validate/git_reference.h"
#include "api/validate/oci_reference.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/configuration_file.h"
#include "fetch/folders/http_folder.h"
#include "fetch/github/known_answers.h"
#include "fetch/url.h"

namespace capi::ops {
namespace {

constexpr std::string_view kBelow = "*.";

// That it names, as Url has it; of one without a port, that of `scheme`.
int PortOf(std::string_view pattern, const std::string& scheme) {
  auto https = http::Url::Parse(fmt::format("https://{}", pattern));
  auto http = http::Url::Parse(fmt::format("http://{}", pattern));
  if (!https.ok() || !http.ok()) return 0;
  if (https->port == http->port) return https->port;
  return scheme == "https" ? 443 : scheme == "http" ? 80 : 22;
}

// Of a pattern without a port, the scheme's own is meant.
bool IsListed(const std::vector<std::string>& patterns, const http::Url& url) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    const bool below = pattern.starts_with(kBelow);
    if (below) pattern.remove_prefix(kBelow.size());
    auto listed = http::Url::Parse(fmt::format("https://{}", pattern));
    if (!listed.ok() || PortOf(pattern, url.scheme) != url.port) return false;
    return below ? url.host.ends_with("." + listed->host) : url.host == listed->host;
  });
}

std::string UrlOfRegistry(const api::OciReference& reference) {
  return fmt::format("{}://{}", reference.plain_http ? "http" : "https", reference.host);
}

http::Url UrlOfServer(const api::GitReference& reference) {
  using Scheme = api::GitReference::Scheme;
  http::Url url;
  url.scheme = reference.scheme == Scheme::kSsh ? "ssh" : reference.scheme == Scheme::kHttp ? "http" : "https";
  url.host = reference.host;
  url.port = reference.port;
  return url;
}

}  // namespace

Result<std::string> CanonicalSource(std::string_view text) {
  const bool below = text.starts_with(kBelow);
  std::string_view host = below ? text.substr(kBelow.size()) : text;
  auto url = http::Url::Parse(fmt::format("https://{}", host));
  if (!url.ok() || !url->user_info.empty() || !url->path.empty() || host.find('*') != host.npos ||
      (below && http::IsIpAddress(url->host))) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is no host: write example.com, example.com:5000, or *.example.com for all below it",
                             api::GoQuote(text)),
                 {}};
  }
  return (below ? std::string(kBelow) : "") + ToLower(host);
}

Sources::Sources(const Settings& settings, SourceOptions options) : settings_(settings), options_(std::move(options)) {
  // One look at a provider tells the next (T6).
  options_.github.digests = options_.gitlab.digests = std::make_shared<fetch::NamedDigests>();
  options_.github.answers = std::make_shared<fetch::GitHubAnswers>();
  options_.gitlab.token_hosts = fetch::GitLabHosts(settings.file.providers);
  options_.gitlab.inward_hosts =
      options_.oci.inward_hosts = [allowed = options_.allowed](const http::Url& url) { return IsListed(allowed, url); };
}

Status Sources::CheckAllowed(std::string_view url, const std::vector<std::string>& otherwise) const {
  return CheckAllowed(TRY(http::Url::Parse(url)), otherwise);
}

Status Sources::CheckAllowed(const http::Url& named, const std::vector<std::string>& otherwise) const {
  if (IsListed(options_.allowed.empty() ? otherwise : options_.allowed, named)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("{} isn't asked: the operator was started without --allowed-sources for that host, which "
                           "whoever runs it may name there",
                           named.scheme == "ssh" ? named.HostPort() : named.HostHeader()),
               {}};
}

Result<std::unique_ptr<fetch::Repository>> Sources::OpenGit(const api::ProviderId& id, const api::GitSource& git,
                                                            const std::map<std::string, std::string>& secret,
                                                            fetch::GitFiles files) const {
  const std::string where = "spec.fetchConfig.git.";
  std::string field;
  auto reference = api::ParseGitReference(git, &field);
  if (!reference.ok()) return reference.error().With(where + field);
  TRY_WITH(CheckAllowed(UrlOfServer(*reference), {"github.com", "gitlab.com"}), where + "url");
  return TRY_WITH(fetch::OpenGit(git, secret, id.type, id.name, options_.oci, files), where + "url");
}

Result<std::unique_ptr<fetch::Repository>> Sources::Open(const api::Provider& provider,
                                                         const fetch::SourceCredentials& credentials,
                                                         const std::map<std::string, std::string>& git,
                                                         bool is_look) const {
  const api::ProviderId& id = provider.id;
  const auto& fetch = provider.spec.fetch_config;
  if (fetch && !fetch->oci.empty()) {
    const api::OciReference reference = TRY_WITH(api::ParseOciReference(fetch->oci), "spec.fetchConfig.oci");
    TRY_WITH(CheckAllowed(UrlOfRegistry(reference), {}), "spec.fetchConfig.oci");
    fetch::OciOptions oci = options_.oci;
    oci.credentials = credentials.oci;
    return TRY_WITH(fetch::OpenOci(fetch->oci, id.type, id.name, oci), "spec.fetchConfig.oci");
  }
  if (fetch && fetch->git) {
    // Of all that a version has a look wants the least.
    return OpenGit(id, *fetch->git, git, is_look ? fetch::GitFiles::kMetadata : fetch::GitFiles::kAll);
  }
  if (!options_.folder.empty() && !(fetch && !fetch->url.empty())) {
    return fetch::OpenFolder(options_.folder, api::ManifestLabel(id.type, id.name),
                             fetch::ComponentsFileOf(id.type, id.name));
  }
  const bool own_url = fetch && !fetch->url.empty();
  std::optional<std::string> url =
      own_url ? fetch::WithFile(fetch->url, id.type, id.name) : settings_.UrlOf(id.type, id.name);
  if (!url) return Error{Code::kNotFound, fmt::format("no URL is known for {}", id.ToString()), {}};
  const std::string where = own_url ? "spec.fetchConfig.url" : "the operator's configuration file";
  const fetch::UrlKind kind = TRY_WITH(fetch::KindOfUrl(*url), where);
  if (kind == fetch::UrlKind::kHttpFolder) {
    if (own_url) TRY_WITH(CheckAllowed(*url, {}), where);
    return TRY_WITH(fetch::OpenHttpFolder(*url, options_.gitlab), where);
  }
  if (kind == fetch::UrlKind::kGitLab) {
    TRY_WITH(fetch::ParseGitLabUrl(*url), where);
    if (own_url) TRY_WITH(CheckAllowed(*url, {"gitlab.com"}), where);
    fetch::GitLabOptions gitlab = options_.gitlab;
    if (own_url) gitlab.url_token = credentials.gitlab_token;
    if (is_look) gitlab.digests.reset();
    return fetch::OpenGitLab(*url, gitlab);
  }
  TRY_WITH(fetch::ParseGitHubUrl(*url), where);
  fetch::GitHubOptions github = options_.github;
  if (!credentials.github_token.empty()) github.token = credentials.github_token;
  github.signatures = fetch && fetch->verify;
  github.asks_digests = !is_look;
  if (is_look) github.digests.reset();
  return fetch::OpenGitHub(*url, github);
}

// As Open takes them, one before the other.
std::string Sources::PlaceOf(const api::Provider& provider) const {
  const api::ProviderId& id = provider.id;
  const auto& fetch = provider.spec.fetch_config;
  if (fetch && fetch->selector) return "";
  if (fetch && !fetch->oci.empty()) return "oci " + fetch->oci;
  if (fetch && fetch->git) return fmt::format("git {} {}", fetch->git->url, fetch->git->path);
  if (fetch && !fetch->url.empty()) return "url " + fetch->url;
  if (!options_.folder.empty()) return "folder " + options_.folder;
  return "url " + settings_.UrlOf(id.type, id.name).value_or("");
}

}  // namespace capi::ops
