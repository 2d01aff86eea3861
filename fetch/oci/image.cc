#include "fetch/oci/image.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "api/validate/oci_reference.h"
#include "base/json.h"
#include "base/strings.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/blob.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kDockerIndexType = "application/vnd.docker.distribution.manifest.list.v2+json",
                           kDockerManifestType = "application/vnd.docker.distribution.manifest.v2+json";
constexpr size_t kMostManifests = 200, kMostBlobs = 2'000;
constexpr std::uint64_t kMostOfManifests = 4u << 20;                // bytes of all that one index names
constexpr std::int64_t kLargestBlob = (std::int64_t{1} << 33) - 1;  // an archive's header says no more

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string Quoted(std::string_view text) { return api::GoQuote(Shorten(std::string(text), 100)); }

Platform PlatformOf(const Json& entry) {
  return {GetString(entry, {"platform", "os"}), GetString(entry, {"platform", "architecture"}),
          GetString(entry, {"platform", "variant"})};
}

std::string TextOf(const Platform& one) {
  return one.os + "/" + one.architecture + (one.variant.empty() ? "" : "/" + one.variant);
}

bool IsOf(const Json& entry, const Platform& wanted) {
  const Platform has = PlatformOf(entry);
  return has.os == wanted.os && has.architecture == wanted.architecture &&
         (wanted.variant.empty() || has.variant == wanted.variant);
}

// What a registry has to be told that a manifest is. An index needn't say it itself, nor need a manifest.
Result<std::string> MediaTypeOf(const Json& root) {
  const std::string named = GetString(root, {"mediaType"});
  for (std::string_view known : {kOciIndexType, kDockerIndexType, kOciManifestType, kDockerManifestType}) {
    if (named == known) return named;
  }
  if (!named.empty())
    return Error{Code::kUnsupported, fmt::format("a manifest of type {} isn't read", Quoted(named)), {}};
  if (Find(root, {"manifests"}) != nullptr) return std::string(kOciIndexType);
  if (Find(root, {"layers"}) != nullptr) return std::string(kOciManifestType);
  return Invalid("it is no manifest of an image, nor an index of such");
}

// Registries don't have them: they say where else to get them.
bool IsForeign(std::string_view media_type) {
  return media_type.find(".foreign.") != media_type.npos || media_type.find(".nondistributable.") != media_type.npos;
}

Status AddBlob(const Json& descriptor, OciImage& image) {
  const std::string digest = GetString(descriptor, {"digest"});
  const std::int64_t size = GetInt(descriptor, {"size"}, -1);
  if (!api::IsSha256Digest(digest)) return Invalid(fmt::format("{} is no digest of SHA-256", Quoted(digest)));
  if (size < 0 || size > kLargestBlob) return Invalid(fmt::format("{} is said to have {} bytes", digest, size));
  const auto [there, is_new] = image.blobs.emplace(digest, static_cast<std::uint64_t>(size));
  if (!is_new && there->second != static_cast<std::uint64_t>(size))
    return Invalid(fmt::format("{} is said to have {} bytes and {}", digest, size, there->second));
  return image.blobs.size() <= kMostBlobs ? Ok() : Status(Invalid("it has too many layers"));
}

Status AddManifest(const Json& root, OciManifest manifest, OciImage& image) {
  const Json* layers = Find(root, {"layers"});
  const Json* config = Find(root, {"config"});
  if (config == nullptr || layers == nullptr || !layers->is_array())
    return Invalid("a manifest has no configuration, or no layers");
  TRY_WITH(AddBlob(*config, image), "its configuration");
  for (const Json& layer : *layers) {
    if (!IsForeign(GetString(layer, {"mediaType"}))) TRY_WITH(AddBlob(layer, image), "a layer");
  }
  image.manifests.push_back(std::move(manifest));
  return Ok();
}

Result<Json> Parse(std::string_view text) {
  if (text.size() > kMaxImageManifest) return Invalid("a manifest is too large");
  return ParseJson(text);
}

// The bytes of each manifest that an index names, by its digest. One may be for two platforms. What is too much is
// refused before any is read.
Result<std::map<std::string, std::uint64_t>> NamedBy(const Json& entries) {
  std::map<std::string, std::uint64_t> out;
  std::uint64_t all = 0;
  for (const Json& entry : entries) {
    const std::string digest = GetString(entry, {"digest"});
    if (!api::IsSha256Digest(digest)) return Invalid(fmt::format("{} is no digest of SHA-256", Quoted(digest)));
    const std::int64_t size = GetInt(entry, {"size"}, -1);
    if (size < 0 || size > static_cast<std::int64_t>(kMaxImageManifest))
      return Invalid(fmt::format("the manifest {} is said to have {} bytes", digest, size));
    const auto [there, is_new] = out.emplace(digest, static_cast<std::uint64_t>(size));
    if (is_new) all += there->second;
    if (there->second != static_cast<std::uint64_t>(size))
      return Invalid(fmt::format("{} is said to have {} bytes and {}", digest, size, there->second));
  }
  if (all <= kMostOfManifests) return out;
  return Invalid(fmt::format("its manifests have more than {} MiB together", kMostOfManifests >> 20));
}

// One that an index names.
Status AddNamed(const std::string& digest, std::uint64_t size, const ManifestOf& others, OciImage& image) {
  std::string text = TRY(others(digest));
  TRY(CheckOciDigest(digest, text));
  if (size != text.size())
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is said to have {} bytes, and has {}", digest, size, text.size()),
                 {}};
  const Json root = TRY_WITH(Parse(text), digest);
  std::string type = TRY_WITH(MediaTypeOf(root), digest);
  if (Find(root, {"manifests"}) != nullptr)
    return Error{Code::kUnsupported, "an index of indexes isn't read: " + digest, {}};
  return AddManifest(root, {std::move(type), std::move(text)}, image);
}

Error NoSuchPlatform(const Platform& wanted, const Json& entries) {
  std::vector<std::string> names;
  for (const Json& entry : entries) {
    if (const Platform has = PlatformOf(entry); has.os != "unknown" && !has.os.empty()) names.push_back(TextOf(has));
  }
  const std::string there = names.empty() ? "it doesn't say for which it is" : "there is " + Join(names, ", ");
  return Error{Code::kNotFound, Shorten(fmt::format("it is not for {}; {}", TextOf(wanted), there), 300), {}};
}

// Leaves those of these platforms alone.
Status Choose(const std::vector<Platform>& platforms, Json& entries) {
  for (const Platform& wanted : platforms) {
    const bool has = std::any_of(entries.begin(), entries.end(), [&](const Json& one) { return IsOf(one, wanted); });
    if (!has) return NoSuchPlatform(wanted, entries);
  }
  Json chosen = Json::array();
  for (const Json& entry : entries) {
    const bool is_wanted =
        std::any_of(platforms.begin(), platforms.end(), [&](const Platform& wanted) { return IsOf(entry, wanted); });
    if (is_wanted) chosen.push_back(entry);
  }
  entries = std::move(chosen);
  return Ok();
}

}  // namespace

std::string OciImage::digest() const { return OciDigest(root().text); }

Result<std::string> ConfigurationOf(const OciImage& image) {
  const Json root = TRY(ParseJson(image.root().text));
  std::string digest = GetString(root, {"config", "digest"});
  if (image.blobs.contains(digest)) return digest;
  return Invalid("it has no configuration");
}

Status CheckPlatforms(std::string_view configuration, const std::vector<Platform>& platforms) {
  const Json platform = TRY_WITH(ParseJson(configuration), "its configuration");
  Json entries = Json::array({{{"platform", platform}}});
  return Choose(platforms, entries);
}

Result<Platform> ParsePlatform(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '/');
  auto is_name = [](const std::string& part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    });
  };
  const bool fits = (parts.size() == 2 || parts.size() == 3) && std::all_of(parts.begin(), parts.end(), is_name);
  if (!fits) return Invalid(fmt::format("{} is no platform: write linux/amd64, or linux/arm/v7", Quoted(text)));
  return Platform{parts[0], parts[1], parts.size() == 3 ? parts[2] : ""};
}

Result<OciImage> ReadOciImage(std::string text, const std::vector<Platform>& platforms, const ManifestOf& others) {
  Json root = TRY(Parse(text));
  std::string type = TRY(MediaTypeOf(root));
  OciImage image;
  Json* entries = Find(root, {"manifests"});
  if (entries == nullptr) {
    TRY(AddManifest(root, {std::move(type), std::move(text)}, image));
    return image;
  }
  if (!entries->is_array() || entries->empty() || entries->size() > kMostManifests)
    return Invalid("its index names no images, or too many");
  if (!platforms.empty()) {
    TRY(Choose(platforms, *entries));
    text = ToJsonText(root);
  }
  const auto named = TRY(NamedBy(*entries));
  for (const auto& [digest, size] : named) TRY(AddNamed(digest, size, others, image));
  image.manifests.push_back({std::move(type), std::move(text)});
  return image;
}

}  // namespace capi::fetch
