#include "cli/airgap/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/text.h"
#include "api/validate/oci_reference.h"
#include "base/strings.h"
#include "cli/airgap/tar.h"
#include "cli/declare/find_release.h"
#include "cli/frame/provider_name.h"
#include "fetch/oci/manifest.h"
#include "fetch/text.h"

namespace capi::cli {
namespace {

constexpr std::string_view kLayoutFile = "oci-layout", kIndexFile = "index.json", kBlobs = "blobs/sha256/";
constexpr std::string_view kLayoutVersion = "1.0.0";
constexpr std::string_view kImagesArtifact = "application/vnd.capi-operator.images.v1";
constexpr std::string_view kCertManagerArtifact = "application/vnd.capi-operator.cert-manager.v1";
constexpr std::string_view kRefName = "org.opencontainers.image.ref.name";  // by which other tools name it
constexpr std::string_view kImagesFile = "images.txt", kMetadataFile = "metadata.yaml";
constexpr size_t kMostArtifacts = 1'000, kMostImages = 10'000, kLongestLine = 1'000, kMostLayers = 10;
constexpr size_t kMaxIndex = 4u << 20, kMaxManifest = 64u << 10;  // bytes of what is parsed as JSON

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string Quoted(std::string_view text) { return api::GoQuote(Shorten(std::string(text), 100)); }

// The name under which a registry's tool finds it: a tag can't have a "+".
std::string RefName(std::string_view label, const std::string& version) {
  return fmt::format("{}_{}", label, ReplaceAll(version, "+", "_"));
}

std::string BlobName(std::string_view digest) { return std::string(kBlobs) + std::string(digest.substr(7)); }

using Contents = std::map<std::string, std::string_view>;  // by title

// What is in one archive while it is made.
class Layout {
 public:
  void Add(std::string_view type, const fetch::PackedArtifact& artifact, std::map<std::string, std::string> about) {
    for (const auto& [digest, text] : artifact.blobs) blobs_[BlobName(digest)] = text;
    blobs_[BlobName(fetch::OciDigest(artifact.manifest))] = artifact.manifest;
    Json entry = fetch::OciDescriptor(fetch::kOciManifestType, artifact.manifest);
    entry["artifactType"] = type;
    entry["annotations"] = about;
    index_.push_back(std::move(entry));
  }

  std::string Text() const {
    const std::string layout = ToJsonText({{"imageLayoutVersion", kLayoutVersion}});
    const std::string index =
        ToJsonText({{"schemaVersion", 2}, {"mediaType", fetch::kOciIndexType}, {"manifests", index_}});
    std::vector<std::pair<std::string, std::string_view>> files = {{std::string(kLayoutFile), layout},
                                                                   {std::string(kIndexFile), index}};
    for (const auto& [name, text] : blobs_) files.emplace_back(name, text);
    return WriteTar(files);
  }

 private:
  std::map<std::string, std::string> blobs_;
  Json index_ = Json::array();
};

// Reads one archive, whose files it keeps account of.
class Reader {
 public:
  explicit Reader(std::map<std::string, std::string_view> files) : files_(std::move(files)) {}

  Result<Bundle> Read() {
    TRY(CheckFiles());
    const Json index = TRY_WITH(ParseJson(files_.at(std::string(kIndexFile))), kIndexFile);
    const Json* entries = Find(index, {"manifests"});
    if (entries == nullptr || !entries->is_array()) return Invalid("its index.json lists no artifacts");
    if (entries->size() > kMostArtifacts) return Invalid("its index.json lists too many artifacts");
    Bundle out;
    for (const Json& entry : *entries) TRY_WITH(AddEntry(entry, out), "its index.json");
    if (out.releases.empty()) return Invalid("it has no release");
    for (const auto& [name, text] : files_) {
      if (name.starts_with(kBlobs) && !named_.contains(name)) return Invalid(fmt::format("nothing names {}", name));
    }
    return out;
  }

 private:
  // Names first: what isn't of a layout is nothing that anybody should unpack.
  Status CheckFiles() const {
    for (const auto& [name, content] : files_) {
      if (name == kLayoutFile || name == kIndexFile) {
        if (content.size() > kMaxIndex) return Invalid(name + " is too large");
        continue;
      }
      const std::string digest = name.starts_with(kBlobs) ? "sha256:" + name.substr(kBlobs.size()) : "";
      if (!api::IsSha256Digest(digest))
        return Invalid(
            fmt::format("{} is no file of an image layout (oci-layout, index.json, blobs/sha256/...)", Quoted(name)));
      if (content.size() > api::kMaxReleaseBytes) return Invalid(name + " is too large");
      if (fetch::OciDigest(content) != digest) return Invalid(name + " does not have the digest that is its name");
    }
    for (std::string_view name : {kLayoutFile, kIndexFile}) {
      if (!files_.contains(std::string(name))) return Invalid(fmt::format("it has no {}: it is no bundle", name));
    }
    const Json layout = TRY_WITH(ParseJson(files_.at(std::string(kLayoutFile))), kLayoutFile);
    if (GetString(layout, {"imageLayoutVersion"}) == kLayoutVersion) return Ok();
    return Invalid("it is no image layout of version 1.0.0");
  }

  // The bytes that a descriptor names.
  Result<std::string_view> Named(const std::string& digest, std::int64_t size) {
    if (!api::IsSha256Digest(digest)) return Invalid(fmt::format("{} is no digest of SHA-256", Quoted(digest)));
    auto found = files_.find(BlobName(digest));
    if (found == files_.end()) return Invalid(fmt::format("{} is named, and isn't there", digest));
    if (size < 0 || static_cast<std::uint64_t>(size) != found->second.size())
      return Invalid(fmt::format("{} is said to have {} bytes, and has {}", digest, size, found->second.size()));
    named_.insert(found->first);
    return found->second;
  }

  // As often as it is named: a small archive may name a few files many times.
  Status Count(size_t bytes) {
    unpacked_ += bytes;
    if (unpacked_ <= kMaxBundle) return Ok();
    return Invalid(fmt::format("its artifacts have more than {} MiB together", kMaxBundle >> 20));
  }

  Result<Contents> FilesOf(const Json& entry) {
    std::string_view text = TRY(Named(GetString(entry, {"digest"}), GetInt(entry, {"size"}, -1)));
    if (text.size() > kMaxManifest) return Invalid("the manifest of an artifact is too large");
    const Json manifest = TRY(ParseJson(text));
    if (Find(manifest, {"config"}) != nullptr)
      TRY(Named(GetString(manifest, {"config", "digest"}), GetInt(manifest, {"config", "size"}, -1)));
    const std::vector<fetch::OciFile> named = TRY(fetch::ReadOciManifest(text));
    if (named.size() > kMostLayers) return Invalid("an artifact has more files than any release");
    Contents out;
    for (const fetch::OciFile& file : named) {
      std::string_view content = TRY(Named(file.digest, file.size));
      TRY(Count(content.size()));
      if (!out.emplace(file.title, content).second)
        return Invalid(fmt::format("two files have the title {}", Quoted(file.title)));
    }
    return out;
  }

  Status AddEntry(const Json& entry, Bundle& out) {
    const std::string kind = GetString(entry, {"artifactType"});
    const auto files = TRY(FilesOf(entry));
    if (kind == fetch::kReleaseArtifact) return AddRelease(entry, files, out);
    if (kind == kImagesArtifact) return AddImages(files, out);
    if (kind == kCertManagerArtifact) return AddCertManager(entry, files, out);
    return Invalid(fmt::format("an artifact of type {} is nothing that a bundle has", Quoted(kind)));
  }

  static Result<std::string_view> Only(const Contents& files, std::string_view title) {
    auto found = files.find(std::string(title));
    if (found == files.end()) return Invalid(fmt::format("an artifact has no {}", title));
    return found->second;
  }

  static Result<api::Version> VersionOf(const Json& entry) {
    const std::string text = GetString(entry, {"annotations", api::kLabelReleaseVersion});
    auto version = api::Version::Parse(text);
    if (version.ok() && version->ToString() == text) return version;
    return Invalid(fmt::format("{} is no version", Quoted(text)));
  }

  Status AddRelease(const Json& entry, const Contents& files, Bundle& out) {
    const std::string type = GetString(entry, {"annotations", api::kLabelReleaseType});
    const std::string name = GetString(entry, {"annotations", api::kLabelReleaseName});
    auto kind = std::find_if(api::kProviderKinds.begin(), api::kProviderKinds.end(),
                             [&](const api::ProviderKind& one) { return one.type_name == type; });
    if (kind == api::kProviderKinds.end()) return Invalid(fmt::format("{} is no type of providers", Quoted(type)));
    auto parsed = ProviderName::Parse(name);
    if (!parsed.ok() || parsed->name != name) return Invalid(fmt::format("{} is no provider's name", Quoted(name)));
    BundledRelease one{kind->type, name, {}};
    one.release.version = TRY(VersionOf(entry));
    const std::string what = RefName(one.label(), one.release.version.ToString());
    if (!seen_.insert(what).second) return Invalid(what + " is there twice");
    one.release.metadata = TRY_WITH(Only(files, kMetadataFile), what);
    one.release.components = TRY_WITH(Only(files, kind->components_file), what);
    one.release.source = GetString(entry, {"annotations", api::kLabelReleaseSource}, "a bundle");
    if (!IsLine(one.release.source)) return Invalid(what + ": its source is no line of text");
    TRY_WITH(fetch::CheckText(one.release.metadata, kMetadataFile), what);
    TRY_WITH(fetch::CheckText(one.release.components, kind->components_file), what);
    TRY_WITH(ContractOf(one.release, {one.type, "", one.name}), what);
    out.releases.push_back(std::move(one));
    return Ok();
  }

  static Status AddImages(const Contents& files, Bundle& out) {
    if (!out.images.empty()) return Invalid("it has two lists of images");
    for (std::string& line : Split(TRY(Only(files, kImagesFile)), '\n')) {
      if (line.empty()) continue;
      if (!IsLine(line) || line.find(' ') != line.npos) return Invalid("its list of images has a line that is none");
      out.images.push_back(std::move(line));
    }
    if (out.images.size() > kMostImages) return Invalid("its list of images is too long");
    return Ok();
  }

  static Status AddCertManager(const Json& entry, const Contents& files, Bundle& out) {
    if (out.cert_manager) return Invalid("it has cert-manager twice");
    const api::Version version = TRY(VersionOf(entry));
    out.cert_manager = BundledCertManager{version.ToString(), ""};
    out.cert_manager->manifests = TRY(Only(files, kCertManagerFile));
    return fetch::CheckText(out.cert_manager->manifests, kCertManagerFile);
  }

  // Of characters that a terminal shows, and not too many of them.
  static bool IsLine(std::string_view text) {
    return text.size() <= kLongestLine &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c < 0x7f; });
  }

  const std::map<std::string, std::string_view> files_;
  size_t unpacked_ = 0;  // bytes of the artifacts so far
  std::set<std::string> named_, seen_;
};

}  // namespace

fetch::PackedArtifact ArtifactOf(const BundledRelease& one) {
  return fetch::PackArtifact(fetch::kReleaseArtifact,
                             {{std::string(kMetadataFile), one.release.metadata},
                              {std::string(api::KindOf(one.type).components_file), one.release.components}});
}

fetch::PackedArtifact ArtifactOf(const BundledCertManager& one) {
  return fetch::PackArtifact(kCertManagerArtifact, {{std::string(kCertManagerFile), one.manifests}});
}

std::string WriteBundle(Bundle bundle) {
  std::sort(bundle.releases.begin(), bundle.releases.end(), [](const BundledRelease& a, const BundledRelease& b) {
    return std::tuple(a.type, a.name, a.release.version.ToString()) <
           std::tuple(b.type, b.name, b.release.version.ToString());
  });
  Layout layout;
  for (const BundledRelease& one : bundle.releases) {
    const std::string version = one.release.version.ToString();
    layout.Add(fetch::kReleaseArtifact, ArtifactOf(one),
               {{std::string(api::kLabelReleaseType), std::string(api::KindOf(one.type).type_name)},
                {std::string(api::kLabelReleaseName), one.name},
                {std::string(api::kLabelReleaseVersion), version},
                {std::string(api::kLabelReleaseSource), one.release.source},
                {std::string(kRefName), RefName(one.label(), version)}});
  }
  if (bundle.cert_manager) {
    const std::string& version = bundle.cert_manager->version;
    layout.Add(
        kCertManagerArtifact, ArtifactOf(*bundle.cert_manager),
        {{std::string(api::kLabelReleaseVersion), version}, {std::string(kRefName), RefName("cert-manager", version)}});
  }
  const std::set<std::string> images(bundle.images.begin(), bundle.images.end());
  std::string list;
  for (const std::string& image : images) list += image + "\n";
  layout.Add(kImagesArtifact, fetch::PackArtifact(kImagesArtifact, {{std::string(kImagesFile), list}}),
             {{std::string(kRefName), "images"}});
  return layout.Text();
}

Result<Bundle> ReadBundle(std::string_view archive) {
  if (archive.size() > kMaxBundle) return Invalid(fmt::format("it is larger than {} MiB", kMaxBundle >> 20));
  return Reader(TRY(ReadTar(archive))).Read();
}

}  // namespace capi::cli
