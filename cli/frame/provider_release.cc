#include "cli/frame/provider_release.h"

#include <fmt/format.h>

#include "api/text.h"
#include "api/validate/folder_url.h"
#include "base/strings.h"
#include "base/version.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/overrides.h"
#include "fetch/github/module_proxy.h"
#include "fetch/url.h"

namespace capi::cli {
namespace {

constexpr char kMirror[] = "clusterctl-github-url", kMirrorOfApi[] = "clusterctl-github-api-url";

Status CheckContract(const ProviderRelease& found, std::string_view label, Notes& notes) {
  const api::Release& release = found.release;
  auto metadata = TRY(api::Metadata::Parse(release.metadata, label));
  std::string version = release.version.ToString();
  auto contract = metadata.ContractOf(release.version);
  if (!contract) {
    return Error{Code::kInvalidArgument,
                 fmt::format("invalid provider metadata: version {} for the provider {} does not match any release "
                             "series",
                             version, found.source.name),
                 {}};
  }
  if (api::Accepts(kContract, *contract)) return Ok();
  if (!api::KnownContract(*contract)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("current version of clusterctl is only compatible with provider implementing v1beta2, "
                             "v1beta1 contract versions, detected {} for provider {}",
                             *contract, found.source.name),
                 {}};
  }
  notes.Warn(
      fmt::format("{} {} has the old contract {}; it can be printed, but not be installed beside a Cluster API "
                  "of contract {}",
                  found.source.name, version, *contract, kContract));
  return Ok();
}

}  // namespace

Result<std::string> VersionInUrl(std::string_view url, std::string_view label) {
  switch (TRY(fetch::KindOfUrl(url))) {
    case fetch::UrlKind::kGitHub: return TRY(fetch::ParseGitHubUrl(url)).version;
    case fetch::UrlKind::kGitLab: return TRY(fetch::ParseGitLabUrl(url)).version;
    case fetch::UrlKind::kHttpFolder: return TRY(api::ParseHttpFolderUrl(url)).version;
    case fetch::UrlKind::kFolder: return TRY(fetch::ParseFolderUrl(url, label)).version;
  }
  return std::string("latest");
}

Result<bool> HasMirror(const Config& config) {
  for (const char* key : {kMirror, kMirrorOfApi}) {
    if (TRY(config.Get(key))) return true;
  }
  return false;
}

Result<fetch::GitHubOptions> GitHubOptionsOf(const Config& config) {
  fetch::GitHubOptions options;
  options.token = TRY(config.Get("github-token")).value_or("");
  if (auto url = TRY(config.Get(kMirrorOfApi))) options.api_url = *url;
  if (auto url = TRY(config.Get(kMirror))) options.download_url = *url;
  // As with Cluster API's clusterctl, but that nobody is asked where it isn't set: the tags themselves say more. Nor
  // with a mirror: the versions are to be those that it has files of.
  const bool mirrored = TRY(HasMirror(config));
  if (auto proxy = config.getenv()("GOPROXY"); proxy && !mirrored) options.module_proxy = fetch::ModuleProxyIn(*proxy);
  options.answers = config.github_answers();
  options.proxy = ProxyFrom(config.getenv());
  options.user_agent = fmt::format("clusterctl/{}", kProjectVersion);
  return options;
}

Result<fetch::UrlOptions> UrlOptionsOf(const Config& config) {
  fetch::UrlOptions options{.github = TRY(GitHubOptionsOf(config)), .gitlab = {}};
  options.gitlab.token = TRY(config.Get("gitlab-access-token")).value_or("");
  options.gitlab.token_hosts = fetch::GitLabHosts(TRY(config.Providers()));
  options.gitlab.proxy = options.github.proxy;
  options.gitlab.user_agent = options.github.user_agent;
  return options;
}

void UseCredentials(const fetch::SourceCredentials& credentials, bool own_url, fetch::UrlOptions& options) {
  if (!credentials.github_token.empty()) options.github.token = credentials.github_token;
  if (own_url) options.gitlab.url_token = credentials.gitlab_token;
}

fetch::OciOptions OciOptionsOf(const Config& config) { return OciOptionsOf(config.getenv()); }

fetch::OciOptions OciOptionsOf(const Getenv& getenv) {
  fetch::OciOptions options;
  options.proxy = ProxyFrom(getenv);
  options.user_agent = fmt::format("clusterctl/{}", kProjectVersion);
  return options;
}

Result<api::Version> ParseVersion(const std::string& text) {
  auto version = api::Version::Parse(text);
  if (version.ok()) return version;
  return Error{
      Code::kInvalidArgument,
      fmt::format("invalid version \"{}\": write a semantic version like v1.2.3: {}", text, version.error().message),
      {}};
}

Status CheckDigest(const api::Provider& provider, const api::Release& release) {
  const auto& fetch = provider.spec.fetch_config;
  if (!fetch || fetch->digest.empty() || fetch->digest == release.Digest()) return Ok();
  return Error{
      Code::kInvalidArgument,
      fmt::format("spec.fetchConfig.digest: {} has {}, and not {}", release.source, release.Digest(), fetch->digest),
      {}};
}

Error WithVersions(const Context& ctx, fetch::Repository& repository, Error error) {
  if (error.code != Code::kNotFound) return error;
  return WithVersions(repository.Versions(ctx), std::move(error));
}

Error WithVersions(const Result<std::vector<api::Version>>& versions, Error error) {
  if (error.code != Code::kNotFound || !versions.ok() || versions->empty()) return error;
  std::vector<std::string> names;
  for (auto version = versions->rbegin(); version != versions->rend(); ++version) names.push_back(version->ToString());
  error.message += fmt::format(" (versions there: {})", JoinNames(names, 10));
  return error;
}

Result<api::Version> DefaultVersion(const Context& ctx, fetch::Repository& repository, std::string_view url,
                                    std::string_view label, const std::vector<std::string>& contracts) {
  std::string named = TRY(VersionInUrl(url, label));
  if (named != "latest") return ParseVersion(named);
  return TRY_WITH(fetch::LatestVersion(ctx, repository, contracts), "failed to get latest version");
}

Result<ProviderRelease> FetchRelease(const Context& ctx, const Config& config, api::ProviderType type,
                                     const ProviderName& name, Notes& notes) {
  ProviderRelease out;
  out.source = TRY(config.FindProvider(type, name.name));
  std::string label = api::ManifestLabel(type, name.name);
  const fetch::UrlOptions options = TRY(UrlOptionsOf(config));
  auto plain = TRY(fetch::OpenUrl(out.source.url, label, options));
  api::Version version =
      TRY(name.version.empty() ? DefaultVersion(ctx, *plain, out.source.url, label) : ParseVersion(name.version));
  auto repository = WithOverrides(std::move(plain), TRY(config.OverridesFolder()), label, notes);
  out.file = repository->ComponentsFile();
  auto release = fetch::GetRelease(ctx, *repository, version);
  if (!release.ok()) {
    Error error = WithVersions(ctx, *repository, release.error());
    return error.With(fmt::format("failed to read the release of provider \"{}\"", label));
  }
  out.release = *std::move(release);
  return out;
}

Result<ProviderRelease> FetchProvider(const Context& ctx, const Config& config, api::ProviderType type,
                                      const ProviderName& name, Notes& notes) {
  ProviderRelease out = TRY(FetchRelease(ctx, config, type, name, notes));
  TRY(CheckContract(out, api::ManifestLabel(type, name.name), notes));
  return out;
}

Result<std::string> FetchFile(const Context& ctx, const Config& config, const ProviderSource& source,
                              const api::Version& version, const std::string& file, Notes& notes) {
  std::string label = api::ManifestLabel(source.type, source.name);
  fetch::UrlOptions options = TRY(UrlOptionsOf(config));
  options.github.more_files = {file};
  auto repository =
      WithOverrides(TRY(fetch::OpenUrl(source.url, label, options)), TRY(config.OverridesFolder()), label, notes);
  auto text = repository->File(ctx, version, file);
  if (text.ok()) return text;
  Error error = WithVersions(ctx, *repository, text.error());
  return error.With(
      fmt::format("failed to read {} from provider's repository {}", api::GoQuote(file), api::GoQuote(label)));
}

}  // namespace capi::cli
