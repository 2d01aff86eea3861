#include "fetch/oci/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/validate/oci_reference.h"
#include "base/encoding.h"
#include "base/json_filter.h"
#include "fetch/download.h"
#include "fetch/json_list.h"
#include "fetch/oci/blob.h"

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

std::string TextOf(const Json& entry, JsonPath path) { return GetString(entry, path).substr(0, kMostOfText); }

// A layer of a signature's manifest. A value.
struct Layer {
  std::string type, digest, signature;
  std::int64_t size = -1;
  bool keyless = false;  // beside the signature, a certificate
};

// A manifest beside an artifact, as far as it is of use. A value.
struct Manifest {
  // That may be signatures: cosign's of before bundles, and bundles. cosign appends, so these are the last ones.
  std::vector<Layer> layers;
  bool attests = false;  // they say something else of the artifact than that it is the right one
  std::string created;   // when, in RFC 3339 (UTC), as cosign says of bundles; "" where nothing does
};

// A bundle's manifest, as an index names it. A value.
struct Referrer {
  std::string digest, created;
  std::optional<std::vector<Layer>> bundles = {};  // once it was read
};

// A value.
struct Referrers {
  std::vector<Referrer> newest;  // first those that have a time, the newest first
  size_t left_out = 0;
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

Result<Manifest> ReadManifest(std::string_view manifest) {
  const Json annotated = TRY(AnnotationsOf(manifest));
  Manifest out{{}, Attests(annotated), TextOf(annotated, {"annotations", kCreated})};
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

bool IsNewer(const Referrer& a, const Referrer& b) { return a.created > b.created; }

// The bundles' manifests that an index of referrers names. A registry with that API repeats their annotations.
Result<Referrers> BundlesIn(std::string_view index) {
  Referrers out;
  const ListShape shape{.member = "manifests",
                        .names = {"annotations", kPredicateType, kCreated, "artifactType", "digest"},
                        .within = true};
  TRY_WITH(ReadList(index, shape,
                    [&](const Json& entry) {
                      if (!TextOf(entry, {"artifactType"}).starts_with(kBundle) || Attests(entry)) return;
                      Referrer one{TextOf(entry, {"digest"}), TextOf(entry, {"annotations", kCreated})};
                      auto& newest = out.newest;
                      newest.insert(std::upper_bound(newest.begin(), newest.end(), one, IsNewer), std::move(one));
                      if (newest.size() <= kMostReferrers) return;
                      newest.pop_back();
                      ++out.left_out;
                    }),
           "the referrers");
  return out;
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
    return Error{
        Code::kNotFound,
        fmt::format("the artifact isn't signed: there is no tag sha256-{}.sig, and no Sigstore bundle with a "
                    "signature among the referrers of sha256:{}{}",
                    digest_, digest_, left_out_ == 0 ? "" : fmt::format("; {} of them weren't read", left_out_)),
        {}};
  }

 private:
  bool IsFull() const { return artifact_.signatures.size() >= kMostSignatures; }
  // It says when to come again: until then it isn't asked for more.
  bool IsLimited() const { return passed_over_ && passed_over_->code == Code::kRateLimited; }

  void PassOver(Error error) {
    const bool limited = error.code == Code::kRateLimited && !IsLimited();
    limits_ += error.code == Code::kRateLimited;
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

  Result<http::Response> Ask(const std::string& path, std::string_view types) {
    return registry_.Ask(ctx_, {.method = "GET",
                                .url = fmt::format("{}/{}", registry_.base(), path),
                                .accept = types,
                                .max_body = registry_.options().max_answer,
                                .optional = true});
  }

  // nullopt where there is no such manifest.
  Result<std::optional<std::string>> TextOfManifest(const std::string& which, std::string_view types) {
    auto response = Ask("manifests/" + which, types);
    if (!response.ok() && response.code() == Code::kNotFound) return std::optional<std::string>();
    if (!response.ok()) return response.error();
    TRY(CheckIsNoPage(response->body));
    if (which.starts_with("sha256:")) TRY_WITH(CheckOciDigest(which, response->body), "a signature's manifest");
    return std::optional(std::move(response->body));
  }

  // None where there is no such manifest.
  Result<Manifest> ManifestOf(const std::string& which, std::string_view types) {
    const auto manifest = TRY(TextOfManifest(which, types));
    if (!manifest) return Manifest();
    return TRY_WITH(ReadManifest(*manifest), "a signature's manifest");
  }

  // The text of a layer, by its digest.
  Result<std::string> Blob(const Layer& layer) {
    return ReadOciBlob(ctx_, registry_, {"a signature", layer.digest, layer.size, kMaxSignatureBytes, true});
  }

  Result<ArtifactSignature> OfTag(const Layer& layer) {
    if (layer.signature.size() > kMaxSignatureBytes) return Wrong("a signature is too large");
    std::string payload = TRY(Blob(layer));
    return ArtifactSignature{"", std::move(payload), layer.signature, layer.keyless};
  }

  // `cosign sign` as it was: a layer is what was signed, and has the signature beside it. The newest first.
  std::vector<Layer> Tagged() {
    auto found = ManifestOf(fmt::format("sha256-{}.sig", digest_), kManifestTypes);
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
  Result<Referrers> IndexOfReferrers() {
    auto response = Ask("referrers/sha256:" + digest_, kIndexType);
    if (response.ok()) {
      auto bundles = BundlesIn(response->body);
      if (bundles.ok()) return bundles;
    } else if (response.code() != Code::kNotFound && response.code() != Code::kInvalidArgument) {
      return response.error();
    }
    const auto index = TRY(TextOfManifest(fmt::format("sha256-{}", digest_), kIndexType));
    return index ? BundlesIn(*index) : Referrers();
  }

  // The newest first. An index without times has them in any order: then their manifests say.
  void GatherReferrers() {
    auto index = IndexOfReferrers();
    if (!index.ok()) return PassOver(index.error());
    left_out_ = index->left_out;
    std::vector<Referrer>& referrers = index->newest;
    for (Referrer& one : referrers) {
      if (one.created.empty() && !IsLimited()) Read(one);
    }
    std::stable_sort(referrers.begin(), referrers.end(), IsNewer);
    // Where manifests are limited blobs may not be: they often lie at another server.
    const size_t limits = limits_;
    for (Referrer& one : referrers) {
      if (IsFull() || limits_ != limits) return;
      if (!one.bundles && !IsLimited()) Read(one);
      if (one.bundles) TakeBundles(*one.bundles, limits);
    }
  }

  // Keeps nothing of it that isn't a bundle: what else it says is whatever somebody has written there.
  void Read(Referrer& one) {
    one.bundles.emplace();
    if (!api::IsSha256Digest(one.digest)) return PassOver(CheckOciDigest(one.digest, "").error());
    auto manifest = ManifestOf(one.digest, kManifestType);
    if (!manifest.ok()) return PassOver(manifest.error());
    one.created = std::move(manifest->created);
    if (manifest->attests) return;
    for (Layer& layer : manifest->layers) {
      if (layer.type.starts_with(kBundle))
        one.bundles->push_back({.digest = std::move(layer.digest), .size = layer.size});
    }
  }

  // `limits`: as often as the server had said when to come again.
  void TakeBundles(const std::vector<Layer>& bundles, size_t limits) {
    for (const Layer& layer : bundles) {
      if (IsFull() || limits_ != limits) return;
      auto bundle = Blob(layer);
      Take(bundle.ok() ? Result<ArtifactSignature>(ArtifactSignature{.bundle = *std::move(bundle)}) : bundle.error());
    }
  }

  const Context& ctx_;
  OciRegistry& registry_;
  const std::string digest_;
  SignedArtifact artifact_;  // what was found
  std::optional<Error> passed_over_;
  size_t limits_ = 0;    // how often the server said when to come again
  size_t left_out_ = 0;  // referrers, of more than are read
};

}  // namespace

Result<FoundSignatures> ReadSignatures(const Context& ctx, OciRegistry& registry, const std::string& manifest) {
  return Gatherer(ctx, registry, manifest).Gather();
}

}  // namespace capi::fetch
