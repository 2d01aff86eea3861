#include "fetch/oci/signatures.h"

#include <fmt/format.h>

#include "api/text.h"
#include "api/validate/oci_reference.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

using verify::ArtifactSignature;
using verify::kMaxSignatureBytes;
using verify::kMostSignatures;

constexpr std::string_view kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kManifestTypes =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
constexpr std::string_view kIndexType = "application/vnd.oci.image.index.v1+json";
constexpr std::string_view kSimpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json";
constexpr std::string_view kBundle = "application/vnd.dev.sigstore.bundle";  // and a version
constexpr std::string_view kSignature = "dev.cosignproject.cosign/signature";
constexpr std::string_view kCertificate = "dev.sigstore.cosign/certificate";

Error Wrong(std::string message) { return Error{Code::kFailedPrecondition, std::move(message), {}}; }

// Also of a list that isn't there.
const Json& ListIn(const Json& object, std::string_view name) {
  static const Json kNone = Json::array();
  const Json* list = Find(object, {name});
  return list != nullptr && list->is_array() ? *list : kNone;
}

// Signatures that there are beside one artifact, gathered. Thread-compatible.
class Gatherer {
 public:
  Gatherer(const Context& ctx, OciRegistry& registry, const std::string& manifest)
      : ctx_(ctx), registry_(registry), digest_(Sha256Hex(manifest)) {}

  Result<std::vector<ArtifactSignature>> Gather() {
    TRY(GatherTagged());
    TRY(GatherReferrers());
    return std::move(found_);
  }

 private:
  bool IsFull() const { return found_.size() >= kMostSignatures; }

  // nullopt where there is no such manifest.
  Result<std::optional<Json>> Manifest(const std::string& which, std::string_view types) {
    auto response = registry_.Get(ctx_, fmt::format("{}/manifests/{}", registry_.base(), which), types,
                                  registry_.options().max_answer);
    if (!response.ok() && response.code() == Code::kNotFound) return std::optional<Json>();
    if (!response.ok()) return response.error();
    if (which.starts_with("sha256:")) TRY_WITH(CheckOciDigest(which, response->body), "a signature's manifest");
    return std::optional(TRY_WITH(ParseJson(response->body), "a signature's manifest"));
  }

  // The text of a layer, by its digest.
  Result<std::string> Blob(const Json& layer) {
    const std::string digest = GetString(layer, {"digest"});
    const std::int64_t size = GetInt(layer, {"size"}, -1);
    if (size < 0 || static_cast<size_t>(size) > kMaxSignatureBytes)
      return Wrong(fmt::format("a signature has {} bytes, and {} at most are read", size, kMaxSignatureBytes));
    if (!api::IsSha256Digest(digest)) return CheckOciDigest(digest, "").error();
    auto response = TRY(registry_.Get(ctx_, fmt::format("{}/blobs/{}", registry_.base(), digest),
                                      "application/octet-stream, */*", kMaxSignatureBytes));
    if (response.body.size() < static_cast<size_t>(size))
      return Error{
          Code::kUnavailable, fmt::format("{} bytes of {} came of a signature", response.body.size(), size), {}};
    TRY_WITH(CheckOciDigest(digest, response.body), "a signature");
    return std::move(response.body);
  }

  // `cosign sign` as it was: a layer is what was signed, and has the signature beside it.
  Status GatherTagged() {
    const auto manifest = TRY(Manifest(fmt::format("sha256-{}.sig", digest_), kManifestTypes));
    if (!manifest) return Ok();
    for (const Json& layer : ListIn(*manifest, "layers")) {
      std::string signature = GetString(layer, {"annotations", kSignature});
      if (signature.empty() || GetString(layer, {"mediaType"}) != kSimpleSigning || IsFull()) continue;
      if (signature.size() > kMaxSignatureBytes) return Wrong("a signature is too large");
      std::string payload = TRY(Blob(layer));
      const bool keyless = !GetString(layer, {"annotations", kCertificate}).empty();
      found_.push_back({"", std::move(payload), std::move(signature), keyless});
    }
    return Ok();
  }

  // Of a registry without that API it is the index under a tag.
  Result<std::optional<Json>> Referrers() {
    auto response = registry_.Get(ctx_, fmt::format("{}/referrers/sha256:{}", registry_.base(), digest_), kIndexType,
                                  registry_.options().max_answer);
    if (response.ok()) {
      auto index = ParseJson(response->body);
      if (index.ok()) return std::optional(*std::move(index));
    } else if (response.code() != Code::kNotFound && response.code() != Code::kInvalidArgument) {
      return response.error();
    }
    return Manifest(fmt::format("sha256-{}", digest_), kIndexType);
  }

  Status GatherReferrers() {
    const auto index = TRY(Referrers());
    if (!index) return Ok();
    for (const Json& referrer : ListIn(*index, "manifests")) {
      const std::string type = GetString(referrer, {"artifactType"}), digest = GetString(referrer, {"digest"});
      if (!type.starts_with(kBundle) || IsFull()) continue;
      if (!api::IsSha256Digest(digest)) return CheckOciDigest(digest, "").error();
      const auto manifest = TRY(Manifest(digest, kManifestType));
      if (!manifest) continue;
      for (const Json& layer : ListIn(*manifest, "layers")) {
        if (!GetString(layer, {"mediaType"}).starts_with(kBundle) || IsFull()) continue;
        std::string bundle = TRY(Blob(layer));
        found_.push_back({.bundle = std::move(bundle)});
      }
    }
    return Ok();
  }

  const Context& ctx_;
  OciRegistry& registry_;
  const std::string digest_;
  std::vector<ArtifactSignature> found_;
};

}  // namespace

Status CheckOciDigest(std::string_view digest, std::string_view body) {
  if (!api::IsSha256Digest(digest))
    return Wrong(fmt::format("its digest is of no kind that is checked: {}", api::GoQuote(Shorten(digest, 80))));
  if (digest == "sha256:" + Sha256Hex(body)) return Ok();
  return Wrong(fmt::format("what came does not have the digest {}", digest));
}

Result<verify::SignedArtifact> ReadSignatures(const Context& ctx, OciRegistry& registry, const std::string& manifest) {
  verify::SignedArtifact out;
  out.signatures = TRY(Gatherer(ctx, registry, manifest).Gather());
  out.manifest = manifest;
  if (!out.signatures.empty()) return out;
  const std::string hex = Sha256Hex(manifest);
  return Error{Code::kNotFound,
               fmt::format("the artifact isn't signed: there is no tag sha256-{}.sig, and no Sigstore bundle among the "
                           "referrers of sha256:{}",
                           hex, hex),
               {}};
}

}  // namespace capi::fetch
