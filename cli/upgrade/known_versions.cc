#include "cli/upgrade/known_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <set>
#include <sstream>

#include "api/text.h"
#include "base/files.h"
#include "base/run_all.h"
#include "base/strings.h"
#include "cli/frame/overrides.h"
#include "cli/frame/provider_release.h"
#include "cli/frame/source_secret.h"
#include "fetch/forwarding.h"
#include "fetch/newest.h"
#include "fetch/url.h"
#include "releases/release_store.h"

namespace capi::cli {
namespace {

constexpr size_t kAtOnce = 8;

// What the cluster has, and what only the other one has. Both name their components file in their own way. Where the
// other one can't be reached, the cluster's versions alone are known: it says so, and keeps why. Thread-compatible.
class Both : public fetch::ForwardingRepository {
 public:
  Both(std::unique_ptr<fetch::Repository> first, std::unique_ptr<fetch::Repository> second, Notes& notes)
      : ForwardingRepository(std::move(first)), second_(std::move(second)), notes_(notes) {}

  std::string Describe() const override { return inner().Describe() + ", and " + second_->Describe(); }
  bool IsLocal() const override { return inner().IsLocal() && second_->IsLocal(); }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    auto first = TRY(inner().Versions(ctx));
    auto second = second_->Versions(ctx);
    TRY(ctx.Check());
    std::set<api::Version> all(first.begin(), first.end());
    if (second.ok()) {
      all.insert(second->begin(), second->end());
    } else {
      unreached_ = second.error();
      notes_.Warn(fmt::format("the versions of {} alone are known: {}", inner().Describe(), unreached_->message));
    }
    return std::vector<api::Version>(all.begin(), all.end());
  }

  // What is in the cluster is a release.
  Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context& ctx) override {
    if (unreached_) return std::optional<std::vector<api::Version>>();
    auto released = TRY(second_->ReleasedVersions(ctx));
    if (!released) return released;
    const auto first = TRY(inner().Versions(ctx));
    std::set<api::Version> all(first.begin(), first.end());
    all.insert(released->begin(), released->end());
    return std::optional(std::vector<api::Version>(all.begin(), all.end()));
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    auto file = inner().File(ctx, version, name);
    if (file.ok() || file.code() != Code::kNotFound) return file;
    return second_->File(ctx, version, name == ComponentsFile() ? second_->ComponentsFile() : name);
  }

  Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version,
                                       std::string_view name) override {
    auto found = inner().SignaturesOf(ctx, version, name);
    if (found.ok() || found.code() != Code::kNotFound) return found;
    return second_->SignaturesOf(ctx, version, name == ComponentsFile() ? second_->ComponentsFile() : name);
  }

  // Why the other one wasn't reached, once the versions were asked for.
  const std::optional<Error>& unreached() const { return unreached_; }

 private:
  const std::unique_ptr<fetch::Repository> second_;
  Notes& notes_;
  std::optional<Error> unreached_;
};

bool IsBuiltIn(const ProviderSource& source) {
  const api::KnownProvider* known = api::FindKnownProvider(source.type, source.name);
  return known != nullptr && known->Url() == source.url;
}

// Whose releases are asked for. A value.
struct Asker {
  const Context& ctx;
  kube::Client& client;
  const api::Provider* provider;  // null where the cluster has no object of it
};

// Of its Secret what a source of that URL may ask for (T9, T10), so that a folder is read without it.
Result<SourceSecret> SecretFor(const Asker& asker, const std::string& url, bool own_url) {
  const fetch::UrlKind kind = TRY(fetch::KindOfUrl(url));
  const bool counts = kind == fetch::UrlKind::kGitHub || (own_url && kind == fetch::UrlKind::kGitLab);
  if (asker.provider == nullptr || !counts) return SourceSecret();
  return ForItsSource(asker.ctx, asker.client, *asker.provider);
}

Result<std::unique_ptr<fetch::Repository>> OpenSource(const Asker& asker, const Config& config,
                                                      const ProviderSource& source, bool own_url, Notes& notes) {
  std::string label = api::ManifestLabel(source.type, source.name);
  fetch::UrlOptions options = TRY(UrlOptionsOf(config));
  options.github.signatures = true;  // of a provider whose releases the operator verifies (T14)
  const SourceSecret secret = TRY(SecretFor(asker, source.url, own_url));
  UseCredentials(secret.credentials, own_url, options);
  auto plain = WithUnread(TRY(fetch::OpenUrl(source.url, label, options)), secret.unread);
  return WithOverrides(std::move(plain), TRY(config.OverridesFolder()), label, notes);
}

void TellOdd(const UpgradeCandidate& candidate, Notes& notes) {
  if (!candidate.info || candidate.info->odd.empty()) return;
  std::vector<std::string> odd;
  for (const api::Version& version : candidate.info->odd) odd.push_back(version.ToString());
  notes.Warn(fmt::format("{}: {} isn't offered: metadata.yaml of the highest version doesn't say its contract",
                         InstanceName(candidate.provider), JoinNames(odd, 5)));
}

// Whether the folder of overrides has files of releases of this provider, of whatever version.
Result<bool> HasOverrides(const Config& config, const ProviderSource& source) {
  const std::string folder = TRY(config.OverridesFolder()), label = api::ManifestLabel(source.type, source.name);
  if (folder.empty()) return false;
  const std::string file = fetch::FileOf(source.url, source.type, source.name);
  const auto versions = ListDir(folder + "/" + label);
  return versions.ok() && std::any_of(versions->begin(), versions->end(), [&](const std::string& version) {
           const auto parsed = api::Version::Parse(version);
           return parsed.ok() && IsOverridden(folder, label, parsed->ToString(), file);
         });
}

// Whether this machine has something to say of where the provider's releases are.
Result<bool> IsNamedHere(const Config& config, const ProviderSource& source) {
  if (!IsBuiltIn(source) || TRY(HasMirror(config))) return true;
  return HasOverrides(config, source);
}

const api::FetchConfig* FetchConfigOf(const ProviderObject* object) {
  return object != nullptr && object->provider.spec.fetch_config ? &*object->provider.spec.fetch_config : nullptr;
}

bool FindsInCluster(const api::FetchConfig* fetch) {
  return fetch != nullptr && fetch->selector && fetch->oci.empty() && fetch->url.empty();
}

}  // namespace

const ProviderObject* ObjectOf(std::span<const ProviderObject> objects, const InstalledProvider& provider) {
  const api::ProviderId id{provider.type, provider.ns, provider.name};
  auto found = std::find_if(objects.begin(), objects.end(), [&](const auto& one) { return one.provider.id == id; });
  return found == objects.end() ? nullptr : &*found;
}

Result<std::optional<ProviderRepository>> OpenNamed(const Context& ctx, const Config& config,
                                                    ManagementCluster& cluster, const InstalledProvider& provider,
                                                    const ProviderObject* object, Notes& notes, fetch::GitFiles files) {
  // What it says of a source is lost with the rest of its spec: the configuration's would be somebody else's.
  if (object != nullptr && object->unreadable) return object->unreadable->With(cli::Describe(object->provider.id));
  const api::FetchConfig* fetch = FetchConfigOf(object);
  if (object != nullptr && !FieldOfOwnSource(object->provider).empty()) {
    const SourceSecret secret = TRY(ForItsSource(ctx, cluster.client(), object->provider));
    return std::optional(ProviderRepository{TRY(OpenOwnSource(config, object->provider, secret, files)), true});
  }
  const Asker asker{ctx, cluster.client(), object != nullptr ? &object->provider : nullptr};
  if (fetch != nullptr && !fetch->url.empty()) {
    const ProviderSource source{provider.type, provider.name,
                                fetch::WithFile(fetch->url, provider.type, provider.name)};
    auto repository = TRY(OpenSource(asker, config, source, true, notes));
    return std::optional(ProviderRepository{std::move(repository), true});
  }
  auto source = config.FindProvider(provider.type, provider.name);
  // GitHub isn't asked where nothing names it: the releases were put into the cluster for some reason.
  const bool selects = FindsInCluster(fetch);
  if (selects && (!source.ok() || !TRY(IsNamedHere(config, *source)))) return std::optional<ProviderRepository>();
  if (!source.ok()) return source.error();
  auto repository = TRY(OpenSource(asker, config, *source, false, notes));
  return std::optional(ProviderRepository{std::move(repository), !selects && IsBuiltIn(*source)});
}

Result<ProviderRepository> OpenRepository(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                          const InstalledProvider& provider, const ProviderObject* object, Notes& notes,
                                          fetch::GitFiles files) {
  auto named = TRY(OpenNamed(ctx, config, cluster, provider, object, notes, files));
  if (!FindsInCluster(FetchConfigOf(object))) return *std::move(named);
  auto selected = TRY(releases::FindSelected(ctx, cluster.client(), object->provider)).repository;
  if (!named) return ProviderRepository{std::move(selected), true};
  auto both = std::make_unique<Both>(std::move(selected), std::move(named->repository), notes);
  const std::optional<Error>* unreached = &both->unreached();
  return ProviderRepository{std::move(both), false, unreached};
}

namespace {

bool IsStable(const api::Version& version) { return version.prerelease.empty(); }

// The highest version that has metadata. A value.
struct Highest {
  fetch::Newest newest;
  std::vector<api::Version> versions;  // among which it was found: those that count
  bool released = false;               // which the source says are releases: it isn't asked that again
};

// A prerelease above `stable`, else that one: it may say series which no stable version is of yet.
Result<std::optional<fetch::Newest>> OrAbove(const Context& ctx, fetch::Repository& repository,
                                             const std::vector<api::Version>& versions,
                                             std::optional<fetch::Newest> stable) {
  auto above = [&](const api::Version& version) {
    return !IsStable(version) && (!stable || version > stable->version);
  };
  auto prerelease = TRY(fetch::FirstWithMetadata(ctx, repository, versions, above));
  return prerelease ? prerelease : stable;
}

Result<Highest> FindHighest(const Context& ctx, fetch::Repository& repository, std::vector<api::Version> versions) {
  auto stable = TRY(fetch::FirstWithMetadata(ctx, repository, versions, IsStable));
  if (!stable) {
    auto released = TRY(fetch::Released(ctx, repository));
    if (released) {
      auto first = TRY(fetch::FirstWithMetadata(ctx, repository, *released, IsStable));
      auto highest = TRY(OrAbove(ctx, repository, *released, std::move(first)));
      if (highest) return Highest{*std::move(highest), *std::move(released), true};
    }
  }
  auto highest = TRY(OrAbove(ctx, repository, versions, std::move(stable)));
  if (highest) return Highest{*std::move(highest), std::move(versions), false};
  return Error{Code::kNotFound, fmt::format("none of the newest versions of {} has it", repository.Describe()), {}};
}

// The version that would be offered for each contract has its metadata: a tag may be there without a release. One whose
// newest tags are all without isn't offered; that is no reason to say nothing of the others.
Status DropUnreleased(const Context& ctx, fetch::Repository& repository, const Highest& highest, UpgradeInfo& info) {
  const auto first = highest.released ? fetch::FirstWithMetadata : fetch::FirstReleased;
  for (const std::string& contract : ContractsForUpgrade(info)) {
    const std::optional<api::Version> latest = LatestNext(info, {contract});
    if (!latest || *latest == highest.newest.version) continue;
    auto fits = [&](const api::Version& version) {
      return IsStable(version) && version > info.current && info.metadata.ContractOf(version) == contract;
    };
    const auto found = TRY(first(ctx, repository, info.next, fits));
    std::erase_if(info.next,
                  [&](const api::Version& version) { return fits(version) && (!found || version > found->version); });
  }
  return Ok();
}

}  // namespace

Result<UpgradeInfo> ReadUpgradeInfo(const Context& ctx, fetch::Repository& repository,
                                    const InstalledProvider& provider) {
  std::string label = api::ManifestLabel(provider.type, provider.name);
  auto versions = TRY_WITH(repository.Versions(ctx),
                           fmt::format("failed to get available versions for the {} provider", InstanceName(provider)));
  if (versions.empty()) return MakeUpgradeInfo(provider, {}, {});
  const std::string unread =
      fmt::format("failed to read \"metadata.yaml\" from the repository for provider {}", api::GoQuote(label));
  Highest highest = TRY_WITH(FindHighest(ctx, repository, std::move(versions)), unread);
  api::Metadata metadata = TRY(api::Metadata::Parse(highest.newest.metadata, label));
  std::erase_if(highest.versions, [&](const api::Version& version) { return version > highest.newest.version; });
  UpgradeInfo info = TRY(MakeUpgradeInfo(provider, highest.versions, std::move(metadata)));
  TRY_WITH(DropUnreleased(ctx, repository, highest, info), unread);
  return info;
}

std::vector<UpgradeCandidate> LookUpVersions(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                             std::span<const InstalledProvider> installed,
                                             std::span<const ProviderObject> objects, Notes& notes) {
  std::vector<UpgradeCandidate> out(installed.size());
  std::deque<std::ostringstream> said(installed.size());
  std::deque<Notes> own;
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < installed.size(); ++i) {
    const ProviderObject* object = ObjectOf(objects, installed[i]);
    out[i].provider = installed[i];
    if (object != nullptr) out[i].running_contract = object->provider.status.contract;
    own.push_back(notes.Into(said[i]));
    // To open it is a look at the cluster, for its Secret or its ConfigMaps.
    tasks.push_back([&, i, object] {
      auto opened = OpenRepository(ctx, config, cluster, installed[i], object, own[i], fetch::GitFiles::kMetadata);
      auto info =
          opened.ok() ? ReadUpgradeInfo(ctx, *opened->repository, installed[i]) : Result<UpgradeInfo>(opened.error());
      if (opened.ok() && opened->unreached != nullptr) out[i].partly = *opened->unreached;
      if (!info.ok()) out[i].error = info.error();
      if (info.ok()) out[i].info = *std::move(info);
    });
  }
  RunAll(kAtOnce, tasks);
  for (size_t i = 0; i < installed.size(); ++i) {
    notes.Pass(said[i].str());
    TellOdd(out[i], notes);
  }
  return out;
}

}  // namespace capi::cli
