#include "fetch/repository.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "fetch/download.h"
#include "fetch/folders/http_folder.h"
#include "fetch/newest.h"
#include "fetch/text.h"
#include "fetch/url.h"
#include "verify/bundle.h"

namespace capi::fetch {
namespace {

constexpr size_t kCandidates = 5;  // a release may lack its files while it is being published; older ones are not asked
constexpr size_t kNewerSeries = 10;
constexpr size_t kMostForbidden = 2;  // minor versions, one after the other

// The series that metadata names; nullopt for what can't be read, and for what another tool's format may mean by them.
std::optional<api::Metadata> ReadSeries(std::string_view text) {
  Result<Json> root = ParseYaml(text);
  if (!root.ok()) return std::nullopt;
  std::string api_version = GetString(*root, {"apiVersion"});
  if (!api_version.empty() && !api_version.starts_with("clusterctl.cluster.x-k8s.io/")) return std::nullopt;
  Result<api::Metadata> metadata = api::Metadata::ParseLenient(text);
  return metadata.ok() ? std::optional(std::move(*metadata)) : std::nullopt;
}

// Stable versions before prereleases, each descending.
std::vector<api::Version> NewestFirst(std::vector<api::Version> versions) {
  std::stable_sort(versions.begin(), versions.end(), [](const api::Version& a, const api::Version& b) {
    bool a_stable = a.prerelease.empty(), b_stable = b.prerelease.empty();
    return a_stable != b_stable ? a_stable : a > b;
  });
  return versions;
}

constexpr std::string_view kNoVersions = "failed to get repository versions";

}  // namespace

Result<std::optional<std::vector<api::Version>>> Released(const Context& ctx, Repository& repository) {
  auto released = repository.ReleasedVersions(ctx);
  if (released.ok()) return released;
  if (released.code() != Code::kNotFound) return released.error().With(kNoVersions);
  return std::optional<std::vector<api::Version>>();
}

Result<std::optional<Newest>> FirstWithMetadata(const Context& ctx, Repository& repository,
                                                std::vector<api::Version> versions, const Fits& fits) {
  size_t tried = 0;
  for (const api::Version& version : NewestFirst(std::move(versions))) {
    if (!fits(version)) continue;
    if (tried++ == kCandidates) break;
    Result<std::string> metadata = repository.File(ctx, version, kMetadataFile);
    if (metadata.ok()) return std::optional(Newest{version, std::move(*metadata)});
    if (metadata.code() != Code::kNotFound) return metadata.error();
  }
  return std::optional<Newest>();
}

Result<std::optional<Newest>> FirstReleased(const Context& ctx, Repository& repository,
                                            std::vector<api::Version> versions, const Fits& fits) {
  auto first = TRY(FirstWithMetadata(ctx, repository, std::move(versions), fits));
  if (first) return first;
  auto released = TRY(Released(ctx, repository));
  if (!released) return first;
  return FirstWithMetadata(ctx, repository, *std::move(released), fits);
}

namespace {

struct Choice {
  api::Version version;
  bool fits = false;
};

Error NoRelease(const Repository& repository, std::string_view why) {
  return Error{Code::kNotFound,
               fmt::format("failed to find releases tagged with a valid semantic version number in {}{}",
                           repository.Describe(), why),
               {}};
}

Result<Choice> ChooseOf(const Context& ctx, Repository& repository, const std::vector<api::Version>& versions,
                        const std::vector<std::string>& contracts) {
  if (versions.empty()) return NoRelease(repository, "");

  auto any = [](const api::Version&) { return true; };
  std::optional<Newest> newest = TRY(FirstWithMetadata(ctx, repository, versions, any));
  if (!newest) return NoRelease(repository, " that have a metadata.yaml; the five newest were tried");
  std::optional<api::Metadata> metadata = ReadSeries(newest->metadata);
  if (!metadata) return Choice{newest->version, false};

  for (const std::string& contract : contracts) {
    if (metadata->NewestWith(contract) == nullptr) continue;
    if (metadata->ContractOf(newest->version) == contract) return Choice{newest->version, true};
    auto fits = [&](const api::Version& v) { return metadata->ContractOf(v) == contract; };
    std::optional<Newest> fitting = TRY(FirstWithMetadata(ctx, repository, versions, fits));
    if (fitting) return Choice{fitting->version, true};
    return NoRelease(repository, fmt::format(" for contract {}", contract));
  }
  return Choice{newest->version, false};
}

// Tags that aren't releases (of the repository that a fork was made of, say) may be newer than all that are.
Result<Choice> Choose(const Context& ctx, Repository& repository, const std::vector<std::string>& contracts) {
  const auto versions = TRY_WITH(repository.Versions(ctx), kNoVersions);
  Result<Choice> choice = ChooseOf(ctx, repository, versions, contracts);
  if (choice.ok() || choice.code() != Code::kNotFound) return choice;
  const auto released = TRY(Released(ctx, repository));
  return released ? ChooseOf(ctx, repository, *released, contracts) : choice;
}

}  // namespace

namespace {

// What a ConfigMap can have, and the release beside it.
Status CheckSignatureText(const std::string& text, const std::string& file) {
  if (text.size() <= verify::kMaxSignatureBytes && IsValidUtf8(text)) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is no signature: it has more than {} bytes, or isn't valid UTF-8", file,
                           verify::kMaxSignatureBytes),
               {}};
}

}  // namespace

// One that can't be read may be the one that counts; but of those that were read one may do. Of several errors the one
// is told that may be over with the next try.
Result<api::Signatures> Repository::SignaturesOf(const Context& ctx, const api::Version& version,
                                                 std::string_view name) {
  const std::string_view key = name == kMetadataFile ? api::kMetadataKey : api::kComponentsKey;
  api::Signatures out;
  std::vector<std::string> files;
  std::optional<Error> unread;
  for (std::string_view suffix : api::kSignatureSuffixes) {
    files.push_back(fmt::format("{}{}", name, suffix));
    auto text = File(ctx, version, files.back());
    if (text.ok()) {
      if (Status status = CheckSignatureText(*text, files.back()); !status.ok()) text = status.error();
    }
    if (text.ok()) {
      out[fmt::format("{}{}", key, suffix)] = *std::move(text);
    } else if (text.code() != Code::kNotFound && (!unread || (IsAway(text.code()) && !IsAway(unread->code)))) {
      unread = text.error();
    }
  }
  if (!out.empty()) {
    if (unread && IsAway(unread->code)) out.unread = std::move(unread);
    return out;
  }
  if (unread) return *unread;
  return Error{Code::kNotFound,
               fmt::format("{} {} has no signature of {}: none of the files {}", Describe(), version.ToString(), name,
                           Join(files, ", ")),
               {}};
}

Result<api::Release> GetRelease(const Context& ctx, Repository& repository, const api::Version& version,
                                bool signatures) {
  api::Release release;
  release.version = version;
  release.source = fmt::format("{} {}", repository.Describe(), version.ToString());
  release.metadata = TRY(repository.File(ctx, version, kMetadataFile));
  TRY(CheckText(release.metadata, fmt::format("{} of {}", kMetadataFile, release.source)));
  std::string file = repository.ComponentsFile();
  release.components = TRY(repository.File(ctx, version, file));
  TRY(CheckText(release.components, fmt::format("{} of {}", file, release.source)));
  if (!signatures) return release;
  for (const std::string& name : {std::string(kMetadataFile), file}) {
    api::Signatures found = TRY(repository.SignaturesOf(ctx, version, name));
    if (found.unread) return *found.unread;  // the one that counts may be among those
    release.signatures.merge(found);
  }
  return release;
}

Result<api::Version> LatestVersion(const Context& ctx, Repository& repository,
                                   const std::vector<std::string>& contracts) {
  return TRY(Choose(ctx, repository, contracts)).version;
}

Result<std::optional<api::Version>> NewestFitting(const Context& ctx, Repository& repository,
                                                  const std::vector<std::string>& contracts) {
  Choice choice = TRY(Choose(ctx, repository, contracts));
  return choice.fits ? std::optional(std::move(choice.version)) : std::nullopt;
}

namespace {

// It says nothing of the source, nor of its other files. Access to one may be denied: a registry's scanner keeps it
// back.
bool IsOfOneFile(Code code) { return !IsAway(code) && code != Code::kUnauthenticated; }

// What there is of one minor version. A value.
struct OfSeries {
  bool is_released = false;
  bool is_forbidden = false;  // nothing else was answered
  std::optional<NewerVersion> newest, unread;
  std::optional<Error> why;  // `unread` is
};

// Who is forbidden everything isn't answered better by asking on: a firewall may count it.
OfSeries NotAskedFor(const api::Version& newest, Error why) {
  OfSeries out{.is_released = true, .is_forbidden = true};
  out.why = std::move(why);
  out.unread = NewerVersion{newest, "", "not asked for, since others were refused: " + out.why->message};
  return out;
}

// Of one minor version, newest first.
Result<OfSeries> LookAt(const Context& ctx, Repository& repository, std::span<const api::Version> versions) {
  OfSeries out;
  out.is_forbidden = true;
  for (const api::Version& version : versions.first(std::min(kCandidates, versions.size()))) {
    const Result<std::string> text = repository.File(ctx, version, kMetadataFile);
    if (text.ok() || text.code() != Code::kPermissionDenied) out.is_forbidden = false;
    if (!text.ok() && text.code() == Code::kNotFound) continue;
    if (!text.ok() && !IsOfOneFile(text.code())) return text.error();
    out.is_released = true;
    if (!text.ok()) {
      if (!out.why) out.unread = NewerVersion{version, "", text.error().message};
      if (!out.why) out.why = text.error();
      continue;
    }
    const std::optional<api::Metadata> metadata = ReadSeries(*text);
    const std::optional<std::string> contract = metadata ? metadata->ContractOf(version) : std::nullopt;
    if (contract) out.newest = NewerVersion{version, *contract};
    break;
  }
  return out;
}

// `released`: null where all are. Else what the source says are releases comes there, and nothing is told, where a
// minor version has none, so that it may hide some that are. Where the source doesn't say, those count that can be
// read.
Result<std::vector<NewerVersion>> NewerOf(const Context& ctx, Repository& repository,
                                          std::vector<api::Version> versions, const api::Version& than,
                                          std::optional<std::vector<api::Version>>* released) {
  std::erase_if(versions, [&](const api::Version& v) { return !v.prerelease.empty() || !(v > than); });
  versions = NewestFirst(std::move(versions));
  std::vector<NewerVersion> newer;
  std::optional<Error> unread, refusal;
  size_t looked_at = 0, forbidden = 0;
  for (auto rest = std::span<const api::Version>(versions); !rest.empty();) {
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const auto& v) { return !v.SameSeries(rest.front()); });
    const auto series = rest.first(static_cast<size_t>(end - rest.begin()));
    rest = rest.subspan(series.size());
    if (++looked_at > kNewerSeries && !series.front().SameSeries(than)) continue;
    const bool ask = forbidden < kMostForbidden || series.front().SameSeries(than);
    const OfSeries seen = ask ? TRY(LookAt(ctx, repository, series)) : NotAskedFor(series.front(), *refusal);
    forbidden = seen.is_forbidden ? forbidden + 1 : 0;
    if (seen.is_forbidden && ask) refusal = seen.why;
    if (!seen.is_released && released != nullptr) {
      *released = TRY(Released(ctx, repository));
      if (*released) return std::vector<NewerVersion>();
      released = nullptr;
    }
    if (seen.why && !unread) unread = seen.why;
    for (const auto& one : {seen.unread, seen.newest}) {
      if (one) newer.push_back(*one);
    }
  }
  if (unread && std::none_of(newer.begin(), newer.end(), [](const auto& one) { return one.unread.empty(); }))
    return *unread;
  std::reverse(newer.begin(), newer.end());
  return newer;
}

}  // namespace

Result<std::vector<NewerVersion>> NewerVersions(const Context& ctx, Repository& repository, const api::Version& than) {
  const auto versions = TRY_WITH(repository.Versions(ctx), kNoVersions);
  std::optional<std::vector<api::Version>> released;
  auto newer = NewerOf(ctx, repository, versions, than, &released);
  // Tags that aren't releases (of the repository that a fork was made of, say) hide none of those that are.
  return released ? NewerOf(ctx, repository, *std::move(released), than, nullptr) : newer;
}

Result<std::unique_ptr<Repository>> OpenUrl(std::string_view url, std::string_view manifest_label,
                                            const UrlOptions& options) {
  switch (TRY(KindOfUrl(url))) {
    case UrlKind::kGitHub: return OpenGitHub(url, options.github);
    case UrlKind::kGitLab: return OpenGitLab(url, options.gitlab);
    case UrlKind::kHttpFolder: return OpenHttpFolder(url, options.gitlab);
    case UrlKind::kFolder: {
      FolderUrl folder = TRY(ParseFolderUrl(url, manifest_label));
      return OpenFolder(folder.base, folder.label, folder.file);
    }
  }
  return Error{Code::kUnsupported, fmt::format("{} is of no kind that is read", url), {}};
}

}  // namespace capi::fetch
