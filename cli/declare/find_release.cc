#include "cli/declare/find_release.h"

#include <fmt/format.h>

#include "api/release_choice.h"
#include "api/validate/git_reference.h"
#include "cli/frame/overrides.h"
#include "cli/frame/provider_release.h"
#include "cli/frame/source_secret.h"
#include "fetch/url.h"
#include "releases/release_store.h"

namespace capi::cli {
namespace {

// spec.version, else the newest one that fits (I3).
Result<api::Version> VersionOf(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider,
                               fetch::Repository& repository) {
  if (!provider.spec.version.empty()) return ParseVersion(provider.spec.version);
  return TRY_WITH(fetch::LatestVersion(ctx, repository, sources.contracts), "failed to get latest version");
}

Result<api::Release> InFiles(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider) {
  const kube::Object* map = TRY(SelectRelease(ctx, sources.maps, provider, sources.contracts));
  return releases::ReadReleaseMap(*map, [&](const std::string& name) -> Result<kube::Object> {
    for (const kube::Object* other : sources.maps) {
      if (other->name() == name) return *other;
    }
    return Error{Code::kNotFound, fmt::format("there is no ConfigMap {}", name), {}};
  });
}

// As the operator takes it (I14): no other ConfigMap than that one is read whole, but for the metadata of those of
// which the newest that fits is chosen.
Result<api::Release> InCluster(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider) {
  const auto selected = TRY(releases::FindSelected(ctx, *sources.client, provider));
  fetch::Repository& repository = *selected.repository;
  const api::Version version = TRY(VersionOf(ctx, sources, provider, repository));
  const api::StoredRelease* counts = api::ReleaseThatCounts(selected.releases, provider, version.ToString());
  if (counts != nullptr) return releases::ReadRelease(ctx, *sources.client, *counts);
  return WithVersions(
      ctx, repository,
      Error{
          Code::kNotFound, fmt::format("there is no {} among the {}", version.ToString(), repository.Describe()), {}});
}

// A server may say of what it lets nobody read without credentials, or from this address, that it isn't there: without
// its list nobody knows whether the version is.
Error NotThere(const Context& ctx, fetch::Repository& repository, Error error) {
  if (error.code != Code::kNotFound) return error;
  const auto versions = repository.Versions(ctx);
  if (!versions.ok() && !repository.IsLocal()) error.code = Code::kUnauthenticated;
  return WithVersions(versions, std::move(error));
}

// The same; the provider's URL may name one.
Result<api::Version> VersionAt(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider,
                               const std::string& url, fetch::Repository& repository) {
  if (!provider.spec.version.empty()) return ParseVersion(provider.spec.version);
  const std::string label = api::ManifestLabel(provider.id.type, provider.id.name);
  return DefaultVersion(ctx, repository, url, label, sources.contracts);
}

// A source, and the version that it is asked for. A value.
struct Choice {
  std::unique_ptr<fetch::Repository> repository;
  api::Version version;
};

Result<Choice> ChooseByUrl(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider,
                           Notes& notes) {
  const api::ProviderId& id = provider.id;
  const auto& fetch = provider.spec.fetch_config;
  const std::string label = api::ManifestLabel(id.type, id.name);
  const bool own_url = fetch && !fetch->url.empty();
  std::string url =
      own_url ? fetch::WithFile(fetch->url, id.type, id.name) : TRY(sources.config.FindProvider(id.type, id.name)).url;
  if (sources.offline && TRY(fetch::KindOfUrl(url)) != fetch::UrlKind::kFolder)
    return Error{Code::kFailedPrecondition, fmt::format("{} isn't on this machine (--offline)", url), {}};
  fetch::UrlOptions options = TRY(UrlOptionsOf(sources.config));
  UseCredentials(sources.credentials, own_url, options);
  options.github.signatures = sources.signatures;
  auto plain = TRY(fetch::OpenUrl(url, label, options));
  const auto version = VersionAt(ctx, sources, provider, url, *plain);
  if (!version.ok()) return NotThere(ctx, *plain, version.error());
  if (own_url) return Choice{std::move(plain), *version};
  // The folder of overrides is for what the configuration names, as with `generate provider`.
  return Choice{WithOverrides(std::move(plain), TRY(sources.config.OverridesFolder()), label, notes), *version};
}

// Where no server answers whoever has no key.
bool IsOverSsh(const api::Provider& provider) {
  const auto& git = provider.spec.fetch_config->git;
  if (!git) return false;
  const auto reference = api::ParseGitReference(*git);
  return reference.ok() && reference->scheme == api::GitReference::Scheme::kSsh;
}

// Of a registry or a git repository.
Result<Choice> ChooseOfItsOwn(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider) {
  const SourceSecret secret{sources.credentials, sources.unread, sources.git};
  auto repository = TRY(OpenOwnSource(sources.config, provider, secret));
  if (sources.offline) {
    return Error{
        Code::kFailedPrecondition, fmt::format("{} isn't on this machine (--offline)", repository->Describe()), {}};
  }
  if (!sources.unread.empty() && IsOverSsh(provider)) {
    return Error{Code::kUnauthenticated,
                 fmt::format("{} is asked over ssh, and {}", repository->Describe(), sources.unread),
                 {}};
  }
  const auto version = VersionOf(ctx, sources, provider, *repository);
  if (!version.ok()) return NotThere(ctx, *repository, version.error());
  return Choice{std::move(repository), *version};
}

// spec.version, or the newest that fits. Nothing but metadata is read for that.
Result<Choice> Choose(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider, Notes& notes) {
  if (!FieldOfOwnSource(provider).empty()) return ChooseOfItsOwn(ctx, sources, provider);
  return ChooseByUrl(ctx, sources, provider, notes);
}

Result<api::Release> Get(const Context& ctx, const ReleaseSources& sources, const Choice& choice) {
  auto release = fetch::GetRelease(ctx, *choice.repository, choice.version, sources.signatures);
  if (!release.ok()) return NotThere(ctx, *choice.repository, release.error());
  return release;
}

// Nothing, too, where the operator would ask the source: for what it has fetched and isn't asked for any more (T6,
// T14).
Result<std::optional<api::Release>> Kept(const Context& ctx, kube::Client& client, const api::Provider& provider,
                                         const api::Version& version) {
  auto stored = TRY(releases::FindStored(ctx, client, provider, version));
  if (!stored) return std::optional<api::Release>();
  const auto& fetch = provider.spec.fetch_config;
  const bool other = !CheckDigest(provider, stored->release).ok();
  const bool lacks = fetch && fetch->verify && !releases::IsSigned(stored->release);
  if (!stored->kept && (other || lacks)) return std::optional<api::Release>();
  return std::optional(std::move(stored->release));
}

// Of the version that is named, else of the one that the source has, of which no more is read then.
Result<api::Release> InClusterFirst(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider,
                                    Notes& notes) {
  std::optional<Choice> choice;
  if (provider.spec.version.empty()) choice = TRY(Choose(ctx, sources, provider, notes));
  const api::Version version = choice ? choice->version : TRY(ParseVersion(provider.spec.version));
  auto kept = TRY(Kept(ctx, *sources.client, provider, version));
  if (kept) return *std::move(kept);
  if (!choice) choice = TRY(Choose(ctx, sources, provider, notes));
  return Get(ctx, sources, *choice);
}

Result<api::Release> Found(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider,
                           Notes& notes) {
  const auto& fetch = provider.spec.fetch_config;
  if (fetch && fetch->selector)
    return sources.client != nullptr ? InCluster(ctx, sources, provider) : InFiles(ctx, sources, provider);
  if (sources.cluster_first) return InClusterFirst(ctx, sources, provider, notes);
  const Choice choice = TRY(Choose(ctx, sources, provider, notes));
  return Get(ctx, sources, choice);
}

}  // namespace

std::optional<api::FieldError> RefusedSource(const api::Provider& provider) {
  for (api::FieldError& error : api::Validate(provider, true)) {
    if (error.path.starts_with("spec.fetchConfig")) return std::move(error);
  }
  return std::nullopt;
}

Result<api::Release> FindRelease(const Context& ctx, const ReleaseSources& sources, const api::Provider& provider,
                                 Notes& notes) {
  const auto& fetch = provider.spec.fetch_config;
  if (auto refused = RefusedSource(provider)) return Error{Code::kInvalidArgument, refused->ToString(), {}};
  api::Release release = TRY(Found(ctx, sources, provider, notes));
  if (fetch && fetch->verify) {
    notes.Warn(
        fmt::format("{}: whether it was signed isn't looked at here; the operator does that before it installs it "
                    "(spec.fetchConfig.verify)",
                    release.source));
  }
  TRY(CheckDigest(provider, release));
  return release;
}

Result<std::string> ContractOf(const api::Release& release, const api::ProviderId& id) {
  auto metadata = TRY(api::Metadata::Parse(release.metadata, api::ManifestLabel(id.type, id.name)));
  auto contract = metadata.ContractOf(release.version);
  if (contract) return *contract;
  return Error{
      Code::kInvalidArgument,
      fmt::format("{}: its metadata doesn't say which contract {} has", release.source, release.version.ToString()),
      {}};
}

}  // namespace capi::cli
