#include "fetch/oci/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/text.h"
#include "api/validate/oci_reference.h"
#include "base/encoding.h"
#include "base/json_filter.h"
#include "base/strings.h"
#include "fetch/download.h"
#include "fetch/json_list.h"

namespace capi::fetch {
namespace {

using verify::ArtifactSignature;
using verify::kMaxArtifactBytes;
using verify::kMaxSignatureBytes;
using verify::kMostSignatures;
using verify::SignedArtifact;

constexpr std::string_view kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kManifestTypes =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
constexpr std::string_view kIndexType = "application/vnd.oci.image.index.v1+json";
constexpr std::string_view kSimpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json";
constexpr std::string_view kBundle = "application/vnd.dev.sigstore.bundle";  // and a version
constexpr std::string_view kSignature = "dev.cosignproject.cosign/signature";
constexpr std::string_view kCertificate = "dev.sigstore.cosign/certificate";
constexpr std::string_view kPredicateType = "dev.sigstore.bundle.predicateType";
constexpr std::string_view kCreated = "org.opencontainers.image.created";
constexpr size_t kMostReferrers = 64;  // bundles, of which many may turn out to be attestations
constexpr size_t kMostOfText = 1'000;  // characters that are kept; a longer one is none that could be right

Error Wrong(std::string message) { return Error{Code::kFailedPrecondition, std::move(message), {}}; }

Status CheckIsDigest(std::string_view digest) {
  if (api::IsSha256Digest(digest)) return Ok();
  return Wrong(fmt::format("its digest is of no kind that is checked: {}", api::GoQuote(Shorten(digest, 80))));
}

std::string TextOf(const Json& entry, JsonPath path) { return GetString(entry, path).substr(0, kMostOfText); }

// A layer of a signature's manifest. A value.
struct Layer {
  std::string type, digest, signature;
  std::int64_t size = -1;
  bool keyless = false;  // beside the signature, a certificate
};

// A signature's manifest, as far as it is of use. A value.
struct LayersOf {
  // That may be signatures: cosign's of before bundles, and bundles. cosign appends, so these are the last ones.
  std::vector<Layer> layers;
  bool attests = false;  // they say something else of the artifact than that it is the right one
  std::string created;   // when, in RFC 3339 (UTC), as cosign says of bundles; "" where nothing does
};

// What a bundle's manifest, or the entry of it in an index, says that it is. One of before that annotation says
// nothing.
bool Attests(const Json& annotated) {
  const std::string predicate = TextOf(annotated, {"annotations", kPredicateType});
  return !predicate.empty() && predicate != verify::kSignPredicate;
}

Result<Json> AnnotationsOf(std::string_view manifest) {
  using Event = Json::parse_event_t;
  return ParseJson(manifest, [](int depth, Event event, Json& value) {
    if (event == Event::key)
      return depth == 1 ? value == "annotations" : depth == 2 && (value == kPredicateType || value == kCreated);
    return event != Event::array_start && depth <= 2;
  });
}

Result<LayersOf> LayersIn(std::string_view manifest) {
  const Json annotated = TRY(AnnotationsOf(manifest));
  LayersOf out{{}, Attests(annotated), TextOf(annotated, {"annotations", kCreated})};
  const ListShape shape{.member = "layers",
                        .names = {"annotations", kSignature, kCertificate, "mediaType", "digest", "size"},
                        .within = true};
  TRY(ReadList(manifest, shape, [&](const Json& entry) {
    Layer layer{TextOf(entry, {"mediaType"}), TextOf(entry, {"digest"}),
                GetString(entry, {"annotations", kSignature}).substr(0, kMaxSignatureBytes + 1),
                GetInt(entry, {"size"}, -1), !GetString(entry, {"annotations", kCertificate}).empty()};
    const bool before = layer.type == kSimpleSigning && !layer.signature.empty();
    if (!before && !layer.type.starts_with(kBundle)) return;
    if (out.layers.size() == kMostSignatures) out.layers.erase(out.layers.begin());
    out.layers.push_back(std::move(layer));
  }));
  return out;
}

// The digests of the bundles' manifests that an index of referrers names.
Result<std::vector<std::string>> BundlesIn(std::string_view index) {
  std::vector<std::string> digests;
  const ListShape shape{
      .member = "manifests", .names = {"annotations", kPredicateType, "artifactType", "digest"}, .within = true};
  TRY_WITH(ReadList(index, shape,
                    [&](const Json& entry) {
                      const bool is_bundle = TextOf(entry, {"artifactType"}).starts_with(kBundle) && !Attests(entry);
                      if (is_bundle && digests.size() < kMostReferrers) digests.push_back(TextOf(entry, {"digest"}));
                    }),
           "the referrers");
  return digests;
}

// Signatures that there are beside one artifact, gathered. What can't be read, or is too much, is passed over: it may
// be no signature at all, and one that is verified is enough. Thread-compatible.
class Gatherer {
 public:
  Gatherer(const Context& ctx, OciRegistry& registry, const std::string& manifest)
      : ctx_(ctx), registry_(registry), digest_(Sha256Hex(manifest)), artifact_{manifest, {}} {}

  // Of what was passed over an error is told where nothing else was found, an outage with what was found.
  Result<FoundSignatures> Gather() {
    // Neither place takes all the room of the other.
    const std::vector<Layer> tagged = Tagged();
    size_t taken = 0;
    for (; taken < tagged.size() && taken < kMostSignatures / 2 && !IsLimited(); ++taken) Take(OfTag(tagged[taken]));
    if (!IsLimited()) GatherReferrers();
    for (; taken < tagged.size() && !IsFull() && !IsLimited(); ++taken) Take(OfTag(tagged[taken]));
    if (passed_over_) TRY(ctx_.Check());  // the rest wasn't looked at
    if (!artifact_.signatures.empty()) {
      if (passed_over_ && !IsAway(passed_over_->code)) passed_over_.reset();
      return FoundSignatures{std::move(artifact_), std::move(passed_over_)};
    }
    if (passed_over_) return *passed_over_;
    return Error{Code::kNotFound,
                 fmt::format("the artifact isn't signed: there is no tag sha256-{}.sig, and no Sigstore bundle with a "
                             "signature among the referrers of sha256:{}",
                             digest_, digest_),
                 {}};
  }

 private:
  bool IsFull() const { return artifact_.signatures.size() >= kMostSignatures; }
  // It says when to come again: until then it isn't asked for more.
  bool IsLimited() const { return passed_over_ && passed_over_->code == Code::kRateLimited; }

  void PassOver(Error error) {
    const bool limited = error.code == Code::kRateLimited && !IsLimited();
    if (!passed_over_ || limited || (IsAway(error.code) && !IsAway(passed_over_->code)))
      passed_over_ = std::move(error);
  }

  void Take(Result<ArtifactSignature> signature) {
    if (!signature.ok()) return PassOver(signature.error());
    artifact_.signatures.push_back(*std::move(signature));
    if (artifact_.ToText().size() <= kMaxArtifactBytes) return;
    artifact_.signatures.pop_back();
    PassOver(Wrong(fmt::format("its signatures have more than {} bytes", kMaxArtifactBytes)));
  }

  // nullopt where there is no such manifest.
  Result<std::optional<std::string>> Manifest(const std::string& which, std::string_view types) {
    auto response = registry_.Get(ctx_, fmt::format("{}/manifests/{}", registry_.base(), which), types,
                                  registry_.options().max_answer);
    if (!response.ok() && response.code() == Code::kNotFound) return std::optional<std::string>();
    if (!response.ok()) return response.error();
    TRY(CheckIsNoPage(response->body));
    if (which.starts_with("sha256:")) TRY_WITH(CheckOciDigest(which, response->body), "a signature's manifest");
    return std::optional(std::move(response->body));
  }

  // None where there is no such manifest.
  Result<LayersOf> Layers(const std::string& which, std::string_view types) {
    const auto manifest = TRY(Manifest(which, types));
    if (!manifest) return LayersOf();
    return TRY_WITH(LayersIn(*manifest), "a signature's manifest");
  }

  // The text of a layer, by its digest.
  Result<std::string> Blob(const Layer& layer) {
    if (layer.size < 0 || static_cast<size_t>(layer.size) > kMaxSignatureBytes)
      return Wrong(fmt::format("a signature has {} bytes, and {} at most are read", layer.size, kMaxSignatureBytes));
    TRY(CheckIsDigest(layer.digest));
    auto response = TRY(registry_.Get(ctx_, fmt::format("{}/blobs/{}", registry_.base(), layer.digest),
                                      "application/octet-stream, */*", kMaxSignatureBytes));
    TRY(CheckIsNoPage(response.body));
    const Status whole = CheckOciDigest(layer.digest, response.body);
    if (!whole.ok() && response.body.size() < static_cast<size_t>(layer.size)) {
      return Error{
          Code::kUnavailable, fmt::format("{} bytes of {} came of a signature", response.body.size(), layer.size), {}};
    }
    TRY_WITH(whole, "a signature");
    return std::move(response.body);
  }

  Result<ArtifactSignature> OfTag(const Layer& layer) {
    if (layer.signature.size() > kMaxSignatureBytes) return Wrong("a signature is too large");
    std::string payload = TRY(Blob(layer));
    return ArtifactSignature{"", std::move(payload), layer.signature, layer.keyless};
  }

  // `cosign sign` as it was: a layer is what was signed, and has the signature beside it. The newest first.
  std::vector<Layer> Tagged() {
    auto found = Layers(fmt::format("sha256-{}.sig", digest_), kManifestTypes);
    if (!found.ok()) {
      PassOver(found.error());
      return {};
    }
    std::vector<Layer> layers = std::move(found->layers);
    std::erase_if(layers, [](const Layer& layer) { return layer.type != kSimpleSigning; });
    std::reverse(layers.begin(), layers.end());
    return layers;
  }

  // Of a registry without that API it is the index under a tag.
  Result<std::vector<std::string>> Referrers() {
    auto response = registry_.Get(ctx_, fmt::format("{}/referrers/sha256:{}", registry_.base(), digest_), kIndexType,
                                  registry_.options().max_answer);
    if (response.ok()) {
      auto bundles = BundlesIn(response->body);
      if (bundles.ok()) return bundles;
    } else if (response.code() != Code::kNotFound && response.code() != Code::kInvalidArgument) {
      return response.error();
    }
    const auto index = TRY(Manifest(fmt::format("sha256-{}", digest_), kIndexType));
    return index ? BundlesIn(*index) : std::vector<std::string>();
  }

  Result<ArtifactSignature> Bundled(const Layer& layer) {
    std::string bundle = TRY(Blob(layer));
    return ArtifactSignature{.bundle = std::move(bundle)};
  }

  // The newest first: an index has them in any order.
  void GatherReferrers() {
    const auto bundles = Referrers();
    if (!bundles.ok()) return PassOver(bundles.error());
    std::vector<LayersOf> found;
    for (const std::string& digest : *bundles) {
      if (IsLimited()) return;
      auto manifest = Referrer(digest);
      if (!manifest.ok()) {
        PassOver(manifest.error());
      } else if (!manifest->attests) {
        found.push_back(*std::move(manifest));
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const LayersOf& a, const LayersOf& b) { return a.created > b.created; });
    for (const LayersOf& one : found) {
      for (const Layer& layer : one.layers) {
        if (layer.type.starts_with(kBundle) && !IsFull() && !IsLimited()) Take(Bundled(layer));
      }
    }
  }

  Result<LayersOf> Referrer(const std::string& digest) {
    TRY(CheckIsDigest(digest));
    return Layers(digest, kManifestType);
  }

  const Context& ctx_;
  OciRegistry& registry_;
  const std::string digest_;
  SignedArtifact artifact_;  // what was found
  std::optional<Error> passed_over_;
};

}  // namespace

Status CheckOciDigest(std::string_view digest, std::string_view body) {
  TRY(CheckIsDigest(digest));
  if (digest == "sha256:" + Sha256Hex(body)) return Ok();
  return Wrong(fmt::format("what came does not have the digest {}", digest));
}

Result<FoundSignatures> ReadSignatures(const Context& ctx, OciRegistry& registry, const std::string& manifest) {
  return Gatherer(ctx, registry, manifest).Gather();
}

}  // namespace capi::fetch
