#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/text.h"
#include "api/validate/oci_reference.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "cli/airgap/bundle.h"
#include "cli/airgap/bundle_format.h"
#include "cli/declare/find_release.h"
#include "cli/frame/provider_name.h"
#include "fetch/oci/manifest.h"
#include "fetch/text.h"
#include "verify/artifact.h"

namespace capi::cli {
namespace {

constexpr size_t kMostArtifacts = 1'000, kMostImages = 10'000, kLongestLine = 1'000, kMostLayers = 10;
constexpr size_t kMaxIndex = 4u << 20, kMaxManifest = 64u << 10;  // bytes of what is parsed as JSON
constexpr size_t kPiece = 1u << 20;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string Quoted(std::string_view text) { return api::GoQuote(Shorten(std::string(text), 100)); }

using Contents = std::map<std::string, std::string>;  // by title

// Reads one archive, whose files it keeps account of. Thread-compatible.
class Reader {
 public:
  Reader(const fetch::ByteSource& archive, std::map<std::string, fetch::TarEntry> files)
      : archive_(archive), files_(std::move(files)) {}

  // All but the layers of images.
  Result<Bundle> Read() {
    TRY(CheckNames());
    const std::string said = TRY(Text(kLayoutFile));
    const Json layout = TRY_WITH(ParseJson(said), kLayoutFile);
    if (GetString(layout, {"imageLayoutVersion"}) != kLayoutVersion)
      return Invalid("it is no image layout of version 1.0.0");
    const std::string listed = TRY(Text(kIndexFile));
    const Json index = TRY_WITH(ParseJson(listed), kIndexFile);
    const Json* entries = Find(index, {"manifests"});
    if (entries == nullptr || !entries->is_array()) return Invalid("its index.json lists no artifacts");
    if (entries->size() > kMostArtifacts) return Invalid("its index.json lists too many artifacts");
    Bundle out;
    for (const Json& entry : *entries) TRY_WITH(AddEntry(entry, out), "its index.json");
    if (out.releases.empty()) return Invalid("it has no release");
    for (const std::string& image : out.images) {  // all of them, or none
      if (!out.carried.empty() && !out.carried.contains(image))
        return Invalid(fmt::format("image {} is in its list, and isn't there as others are", image));
    }
    for (const auto& [name, place] : files_) {
      if (name.starts_with(kBlobs) && !named_.contains(name)) return Invalid(fmt::format("nothing names {}", name));
    }
    return out;
  }

  Status CheckLayers(const Context& ctx, const Bundle& bundle) const {
    for (const auto& [digest, place] : bundle.blobs) TRY(CheckBlob(ctx, digest, place));
    return Ok();
  }

 private:
  // Names first: what isn't of a layout is nothing that anybody should unpack.
  Status CheckNames() const {
    for (const auto& [name, place] : files_) {
      if (name == kLayoutFile || name == kIndexFile) {
        if (place.size > kMaxIndex) return Invalid(name + " is too large");
        continue;
      }
      const std::string digest = name.starts_with(kBlobs) ? "sha256:" + name.substr(kBlobs.size()) : "";
      if (!api::IsSha256Digest(digest))
        return Invalid(
            fmt::format("{} is no file of an image layout (oci-layout, index.json, blobs/sha256/...)", Quoted(name)));
    }
    for (std::string_view name : {kLayoutFile, kIndexFile}) {
      if (!files_.contains(std::string(name))) return Invalid(fmt::format("it has no {}: it is no bundle", name));
    }
    return Ok();
  }

  Result<std::string> Text(std::string_view name) const {
    const fetch::TarEntry& place = files_.at(std::string(name));
    return archive_.read(place.at, static_cast<size_t>(place.size));
  }

  Result<fetch::TarEntry> PlaceOf(const std::string& digest) {
    if (!api::IsSha256Digest(digest)) return Invalid(fmt::format("{} is no digest of SHA-256", Quoted(digest)));
    auto found = files_.find(BlobName(digest));
    if (found == files_.end()) return Invalid(fmt::format("{} is named, and isn't there", digest));
    named_.insert(found->first);
    return found->second;
  }

  // The bytes that a digest names.
  Result<std::string> Blob(const std::string& digest) {
    const fetch::TarEntry place = TRY(PlaceOf(digest));
    const std::string name = BlobName(digest);
    if (place.size > api::kMaxReleaseBytes) return Invalid(name + " is too large");
    std::string bytes = TRY(Text(name));
    if (fetch::OciDigest(bytes) == digest) return bytes;
    return Invalid(name + " does not have the digest that is its name");
  }

  // Those that a descriptor names.
  Result<std::string> Named(const std::string& digest, std::int64_t size) {
    std::string bytes = TRY(Blob(digest));
    if (size >= 0 && static_cast<std::uint64_t>(size) == bytes.size()) return bytes;
    return Invalid(fmt::format("{} is said to have {} bytes, and has {}", digest, size, bytes.size()));
  }

  // Of an image: as large as it may be.
  Status CheckBlob(const Context& ctx, const std::string& digest, const fetch::TarEntry& place) const {
    RunningSha256 sum;
    for (std::uint64_t done = 0; done < place.size;) {
      TRY(ctx.Check());
      const auto count = static_cast<size_t>(std::min<std::uint64_t>(place.size - done, kPiece));
      sum.Add(TRY(archive_.read(place.at + done, count)));
      done += count;
    }
    if ("sha256:" + sum.Hex() == digest) return Ok();
    return Invalid(BlobName(digest) + " does not have the digest that is its name");
  }

  // As often as it is named: a small archive may name a few files many times.
  Status Count(size_t bytes) {
    unpacked_ += bytes;
    if (unpacked_ <= kMaxBundle) return Ok();
    return Invalid(fmt::format("its artifacts have more than {} MiB together", kMaxBundle >> 20));
  }

  Result<Contents> FilesOf(const Json& entry) {
    const std::string text = TRY(Named(GetString(entry, {"digest"}), GetInt(entry, {"size"}, -1)));
    if (text.size() > kMaxManifest) return Invalid("the manifest of an artifact is too large");
    const Json manifest = TRY(ParseJson(text));
    if (Find(manifest, {"config"}) != nullptr)
      TRY(Named(GetString(manifest, {"config", "digest"}), GetInt(manifest, {"config", "size"}, -1)));
    const std::vector<fetch::OciFile> named = TRY(fetch::ReadOciManifest(text));
    if (named.size() > kMostLayers) return Invalid("an artifact has more files than any release");
    Contents out;
    for (const fetch::OciFile& file : named) {
      std::string content = TRY(Named(file.digest, file.size));
      TRY(Count(content.size()));
      if (!out.emplace(file.title, std::move(content)).second)
        return Invalid(fmt::format("two files have the title {}", Quoted(file.title)));
    }
    return out;
  }

  Status AddEntry(const Json& entry, Bundle& out) {
    const std::string kind = GetString(entry, {"artifactType"});
    if (kind.empty()) return AddImage(entry, out);
    const auto files = TRY(FilesOf(entry));
    if (kind == fetch::kReleaseArtifact) return AddRelease(entry, files, out);
    if (kind == kSignaturesArtifact) return AddSignatures(entry, files, out);
    if (kind == kImagesArtifact) return AddImages(files, out);
    if (kind == kCertManagerArtifact) return AddCertManager(entry, files, out);
    return Invalid(fmt::format("an artifact of type {} is nothing that a bundle has", Quoted(kind)));
  }

  static Result<std::string> Only(const Contents& files, std::string_view title) {
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

  // Which release an entry is about: without its files.
  static Result<BundledRelease> Described(const Json& entry) {
    const std::string type = GetString(entry, {"annotations", api::kLabelReleaseType});
    const std::string name = GetString(entry, {"annotations", api::kLabelReleaseName});
    auto kind = std::find_if(api::kProviderKinds.begin(), api::kProviderKinds.end(),
                             [&](const api::ProviderKind& one) { return one.type_name == type; });
    if (kind == api::kProviderKinds.end()) return Invalid(fmt::format("{} is no type of providers", Quoted(type)));
    auto parsed = ProviderName::Parse(name);
    if (!parsed.ok() || parsed->name != name) return Invalid(fmt::format("{} is no provider's name", Quoted(name)));
    BundledRelease one{kind->type, name, {}};
    one.release.version = TRY(VersionOf(entry));
    return one;
  }

  static std::string NameOf(const BundledRelease& one) { return RefName(one.label(), one.release.version.ToString()); }

  Status AddRelease(const Json& entry, const Contents& files, Bundle& out) {
    BundledRelease one = TRY(Described(entry));
    const std::string what = NameOf(one);
    const std::string_view file = api::KindOf(one.type).components_file;
    if (!seen_.insert(what).second) return Invalid(what + " is there twice");
    one.release.metadata = TRY_WITH(Only(files, kMetadataFile), what);
    one.release.components = TRY_WITH(Only(files, file), what);
    one.release.source = GetString(entry, {"annotations", api::kLabelReleaseSource}, "a bundle");
    if (!IsLine(one.release.source)) return Invalid(what + ": its source is no line of text");
    TRY_WITH(fetch::CheckText(one.release.metadata, kMetadataFile), what);
    TRY_WITH(fetch::CheckText(one.release.components, file), what);
    TRY_WITH(ContractOf(one.release, {one.type, "", one.name}), what);
    out.releases.push_back(std::move(one));
    return Ok();
  }

  // T14: of a release that comes before them. Whether they are right is told where the keys are.
  static Status AddSignatures(const Json& entry, const Contents& files, Bundle& out) {
    const std::string what = NameOf(TRY(Described(entry)));
    auto release = std::find_if(out.releases.begin(), out.releases.end(),
                                [&](const BundledRelease& one) { return NameOf(one) == what; });
    if (release == out.releases.end()) return Invalid(what + " has signatures, and isn't there");
    if (!release->release.signatures.empty()) return Invalid(what + " has signatures twice");
    const std::vector<std::string> known = api::SignatureKeys();
    for (const auto& [title, text] : files) {
      if (std::find(known.begin(), known.end(), title) == known.end())
        return Invalid(fmt::format("{}: {} is no signature of a release", what, Quoted(title)));
      const size_t most = title == api::kArtifactKey ? verify::kMaxArtifactBytes : verify::kMaxSignatureBytes;
      if (text.size() > most) return Invalid(fmt::format("{}: {} is too large", what, title));
      TRY_WITH(fetch::CheckText(text, title), what);
      release->release.signatures.emplace(title, text);
    }
    return Ok();
  }

  Status AddImage(const Json& entry, Bundle& out) {
    const std::string name = GetString(entry, {"annotations", kRefName});
    if (std::find(out.images.begin(), out.images.end(), name) == out.images.end())
      return Invalid(fmt::format("image {} isn't in its list of images before it", Quoted(name)));
    if (out.carried.contains(name)) return Invalid(fmt::format("image {} is there twice", name));
    std::string root = TRY_WITH(Named(GetString(entry, {"digest"}), GetInt(entry, {"size"}, -1)), name);
    auto image = TRY_WITH(
        fetch::ReadOciImage(std::move(root), {}, [this](const std::string& digest) { return Blob(digest); }), name);
    for (const fetch::OciManifest& one : image.manifests) TRY(Count(one.text.size()));
    for (const auto& [digest, size] : image.blobs) {
      const fetch::TarEntry place = TRY_WITH(PlaceOf(digest), name);
      if (place.size != size)
        return Invalid(fmt::format("{}: {} is said to have {} bytes, and has {}", name, digest, size, place.size));
      out.blobs[digest] = place;
    }
    out.carried.emplace(name, std::move(image));
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

  const fetch::ByteSource& archive_;
  const std::map<std::string, fetch::TarEntry> files_;
  size_t unpacked_ = 0;  // bytes of the artifacts so far
  std::set<std::string> named_, seen_;
};

}  // namespace

Result<Bundle> ReadBundle(const Context& ctx, const fetch::ByteSource& archive, Layers layers) {
  Reader reader(archive, TRY(fetch::ListTar(archive)));
  Bundle bundle = TRY(reader.Read());
  if (layers == Layers::kRead) TRY(reader.CheckLayers(ctx, bundle));
  return bundle;
}

Status CheckLayout(const BundleLayout& layout) {
  std::string bytes;
  std::map<std::string, fetch::TarEntry> places;
  for (const auto& [name, text] : layout.files) {
    places[name] = {bytes.size(), text.size()};
    bytes += text;
  }
  for (const auto& [digest, size] : layout.blobs) places[BlobName(digest)] = {bytes.size(), size};
  const fetch::ByteSource source = fetch::SourceOf(bytes);
  TRY(Reader(source, std::move(places)).Read());
  return Ok();
}

Result<Bundle> ReadBundle(std::string_view archive) { return ReadBundle(Context{}, fetch::SourceOf(archive)); }

}  // namespace capi::cli
