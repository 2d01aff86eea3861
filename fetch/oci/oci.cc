#include "fetch/oci/oci.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/text.h"
#include "base/encoding.h"
#include "base/http/url.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"
#include "fetch/oci/answers.h"
#include "fetch/oci/blob.h"
#include "fetch/oci/manifest.h"
#include "fetch/oci/signatures.h"

namespace capi::fetch {
namespace {

constexpr int kPageSize = 1'000;
constexpr int kMostTagPages = 1'000;  // many registries give a hundred tags at most
constexpr size_t kMostVersions = 100'000;
constexpr size_t kLongestTag = 128;   // of the distribution protocol
constexpr size_t kMostManifests = 2;  // that are kept: both files of a release come from one (T9)
constexpr std::string_view kManifestTypes =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.artifact.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.index.v1+json";

using Files = std::vector<OciFile>;

// A manifest that was read. A value.
struct Artifact {
  Files files;
  std::shared_ptr<const std::string> manifest;  // byte by byte; null where it is too large to be kept with a signature
};

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }
Error NotFound(std::string message) { return Error{Code::kNotFound, std::move(message), {}}; }
Error Wrong(std::string message) { return Error{Code::kFailedPrecondition, std::move(message), {}}; }

// A tag can't have a "+": "_" stands for it.
Result<api::Version> VersionOf(const std::string& tag) { return api::Version::Parse(ReplaceAll(tag, "_", "+")); }

std::string NamesOf(const std::vector<api::Version>& versions) {
  std::vector<std::string> names;
  for (const api::Version& version : versions) names.push_back(version.ToString());
  return names.empty() ? "none" : JoinNames(names, 10);
}

// Who limits requests and names no time is asked again after a minute.
Error WithWait(const Context& ctx, Error error) {
  constexpr Seconds kLimitWait{60};
  if (error.code != Code::kRateLimited || error.retry_after) return error;
  error.retry_after = kLimitWait;
  error.message += "; the next one may come at " + FormatTime(ctx.clock->Now() + kLimitWait);
  return error;
}

// Thread-safe.
class OciRepository : public Repository {
 public:
  OciRepository(api::OciReference reference, api::ProviderType type, std::string_view name, const OciOptions& options)
      : reference_(std::move(reference)), type_(type), name_(name), registry_(reference_, options) {}

  std::string Describe() const override { return reference_.ToString(); }
  std::string ComponentsFile() const override { return TypedComponents(type_); }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    auto versions = IsOne() ? OfArtifact(ctx) : OfTags(ctx.WithTimeout(kListTime));
    if (!versions.ok()) {
      const Error why = WithWait(ctx, OfOwnLimit(ctx, versions.error()));
      return why.With(fmt::format("failed to list the versions of {}", Describe()));
    }
    Order(*versions);
    return versions;
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    auto text = Read(ctx, version, name);
    if (text.ok()) return text;
    const std::string failed = fmt::format("failed to get {} of {} {}", name, Describe(), version.ToString());
    return WithWait(ctx, text.error()).With(failed);
  }

  // T14: of the artifact as a whole, whichever of its files is meant.
  Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version, std::string_view) override {
    const std::string failed = fmt::format("failed to get the signatures of {} {}", Describe(), version.ToString());
    auto found = Signatures(ctx, version);
    if (!found.ok()) return WithWait(ctx, found.error()).With(failed);
    if (found->unread) found->unread = WithWait(ctx, *found->unread).With(failed);
    return found;
  }

 private:
  // Whether one artifact is named, and not a repository of several.
  bool IsOne() const { return !reference_.tag.empty() || !reference_.digest.empty(); }

  Result<std::string> Read(const Context& ctx, const api::Version& version, std::string_view name) {
    const Artifact artifact = TRY(ArtifactOf(ctx, version));
    std::vector<std::string> titles = TitlesOf(type_, name_, version, name);
    if (registry_.options().full_titles) std::erase_if(titles, [](const auto& title) { return !IsFullTitle(title); });
    OciFile file = TRY(ChooseFile(artifact.files, titles));
    return ReadOciBlob(ctx, registry_, {file.title, file.digest, file.size, registry_.options().max_file});
  }

  Result<api::Signatures> Signatures(const Context& ctx, const api::Version& version) {
    const Artifact artifact = TRY(ArtifactOf(ctx, version));
    if (!artifact.manifest) {
      return Wrong(fmt::format("its manifest has more than the {} bytes that are kept with a signature",
                               verify::kMaxManifestBytes));
    }
    const std::string digest = Sha256Hex(*artifact.manifest);
    {
      MutexLock lock(mu_);
      if (auto kept = signatures_.find(digest); kept != signatures_.end()) return kept->second;
    }
    FoundSignatures found = TRY(ReadSignatures(ctx, registry_, *artifact.manifest));
    api::Signatures signatures{{std::string(api::kArtifactKey), found.artifact.ToText()}};
    signatures.unread = std::move(found.unread);
    if (signatures.unread) return signatures;  // there may be more with the next try
    MutexLock lock(mu_);
    if (signatures_.size() >= kMostManifests) signatures_.clear();
    signatures_[digest] = signatures;
    return signatures;
  }

  Result<Artifact> ArtifactOf(const Context& ctx, const api::Version& version) {
    if (IsOne()) return OfOne(ctx, version);
    // A tag may be written without the "v" (I12).
    const std::string tag = ReplaceAll(version.ToString(), "+", "_");
    Error none = NotFound(fmt::format("there is no tag {}", tag));
    for (const std::string& candidate : {tag, tag.substr(1)}) {
      auto found = Manifest(ctx, candidate);
      if (found.ok() || (found.code() != Code::kNotFound && found.code() != Code::kUnsupported)) return found;
      if (found.code() == Code::kUnsupported)
        none = NotFound(fmt::format("tag {}: {}", candidate, found.error().message));
    }
    return none;
  }

  // An artifact of another version isn't taken for this one, unless its files say that they are.
  Result<Artifact> OfOne(const Context& ctx, const api::Version& version) {
    Artifact artifact = TRY(Manifest(ctx, reference_.digest.empty() ? reference_.tag : reference_.digest));
    Files& files = artifact.files;
    auto tagged = VersionOf(reference_.tag);
    auto is_it = [&](const api::Version& one) { return one.ToString() == version.ToString(); };  // of the same build
    if (tagged.ok() && is_it(*tagged)) return artifact;
    std::vector<api::Version> named = VersionsInTitles(files, type_, name_);
    if (tagged.ok() && std::none_of(named.begin(), named.end(), is_it))
      return NotFound(fmt::format("its tag says that it is {}", tagged->ToString()));
    const size_t all = files.size();
    files = FilesOfVersion(std::move(files), type_, name_, version);
    if (files.empty() && all > 0)
      return NotFound(fmt::format(
          "its files are of other providers or versions, by their titles; of this one they name {}", NamesOf(named)));
    return artifact;
  }

  Result<std::vector<api::Version>> OfArtifact(const Context& ctx) {
    const Artifact artifact = TRY(Manifest(ctx, reference_.digest.empty() ? reference_.tag : reference_.digest));
    std::vector<api::Version> versions = VersionsInTitles(artifact.files, type_, name_);
    if (auto tagged = VersionOf(reference_.tag); tagged.ok()) versions.push_back(*std::move(tagged));
    if (versions.empty()) return NotFound("neither its tag nor its files say which version it is: name the version");
    return versions;
  }

  Result<std::vector<api::Version>> OfTags(const Context& ctx) {
    std::vector<api::Version> versions;
    std::string page = fmt::format("{}/tags/list?n={}", registry_.base(), kPageSize);
    for (int pages = 0; !page.empty(); ++pages) {
      if (pages == kMostTagPages) return Invalid("the list of tags does not end");
      http::Response response = TRY(registry_.Get(ctx, page, "application/json", registry_.options().max_answer));
      TRY(AddPage(response.body, versions));
      if (versions.size() > kMostVersions) return Invalid("the list has more versions than any repository");
      page = TRY(NextOf(page, NextPage(response.headers.Get("Link"))));
    }
    return versions;
  }

  static Status AddPage(const std::string& body, std::vector<api::Version>& versions) {
    TRY(CheckIsNoPage(body));
    return ReadTags(body, [&](const std::string& tag) {
      if (tag.size() > kLongestTag || versions.size() > kMostVersions) return;
      if (auto version = VersionOf(tag); version.ok()) versions.push_back(*std::move(version));
    });
  }

  static Result<std::string> NextOf(const std::string& page, const std::string& link) {
    if (link.empty()) return link;
    const http::Url at = TRY(http::Url::Parse(page));
    const http::Url next = TRY_WITH(http::ResolveReference(at, link), "the next page");
    std::string url = next.Origin() + next.path;
    if (!SameOrigin(url, page))
      return Invalid("the next page is on another host: " + Shorten(http::PrintableUrl(url), 200));
    return url;
  }

  // What a tag or a digest names.
  Result<Artifact> Manifest(const Context& ctx, const std::string& which) {
    {
      MutexLock lock(mu_);
      if (auto kept = manifests_.find(which); kept != manifests_.end()) return kept->second;
    }
    http::Response response = TRY(registry_.Get(ctx, fmt::format("{}/manifests/{}", registry_.base(), which),
                                                kManifestTypes, registry_.options().max_answer));
    TRY(CheckIsNoPage(response.body));
    const std::string said = response.headers.Get("Docker-Content-Digest");
    for (const std::string& digest : {which, said}) {
      if (digest.starts_with("sha256:")) TRY_WITH(CheckOciDigest(digest, response.body), "its manifest");
    }
    Artifact artifact{TRY_WITH(ReadOciManifest(response.body), "its manifest"), nullptr};
    if (response.body.size() <= verify::kMaxManifestBytes)
      artifact.manifest = std::make_shared<const std::string>(std::move(response.body));
    MutexLock lock(mu_);
    if (manifests_.size() >= kMostManifests) manifests_.clear();
    manifests_[which] = artifact;
    return artifact;
  }

  const api::OciReference reference_;
  const api::ProviderType type_;
  const std::string name_;
  OciRegistry registry_;
  Mutex mu_;
  std::map<std::string, Artifact> manifests_ CAPI_GUARDED_BY(mu_);  // by tag or digest
  std::map<std::string, api::Signatures> signatures_
      CAPI_GUARDED_BY(mu_);  // by the manifest's digest, as they are kept
};

}  // namespace

Result<std::unique_ptr<Repository>> OpenOci(std::string_view reference, api::ProviderType type, std::string_view name,
                                            const OciOptions& options) {
  api::OciReference parsed = TRY(api::ParseOciReference(reference));
  return std::unique_ptr<Repository>(std::make_unique<OciRepository>(std::move(parsed), type, name, options));
}

}  // namespace capi::fetch
