// Signatures beside an artifact in a registry: where they are found, and what a registry may do wrong.
#include "fetch/oci/signatures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/encoding.h"
#include "base/json.h"
#include "base/testing/cost.h"
#include "fetch/oci/oci_testing.h"
#include "verify/artifact.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using verify::SignedArtifact;

constexpr char kBundleType[] = "application/vnd.dev.sigstore.bundle.v0.3+json";

std::string DigestOf(std::string_view text) { return "sha256:" + Sha256Hex(text); }

// What lies in a registry beside the artifact of a stand-in, by the rest of its path: "manifests/sha256-....sig".
class Beside {
 public:
  explicit Beside(OciStandIn& registry) : hex_(registry.digest("v1.0.0").substr(7)) {
    registry.set_registry_fault([this](const http::ServerRequest& request) -> std::optional<http::Response> {
      constexpr std::string_view kBase = "/v2/org/provider/";
      auto found = answers.find(request.path.substr(kBase.size()));
      return found == answers.end() ? std::nullopt : std::optional(found->second);
    });
  }

  std::string tag() const { return fmt::format("manifests/sha256-{}.sig", hex_); }
  std::string index() const { return fmt::format("manifests/sha256-{}", hex_); }
  std::string referrers() const { return fmt::format("referrers/sha256:{}", hex_); }

  Json Blob(const std::string& text, const std::string& type) {
    answers["blobs/" + DigestOf(text)] = OciAnswer(200, text);
    return {{"mediaType", type}, {"digest", DigestOf(text)}, {"size", text.size()}};
  }
  void Tag(const std::vector<Json>& layers) { answers[tag()] = OciAnswer(200, ToJsonText({{"layers", layers}})); }
  Json Layer(const std::string& payload, const std::string& signature) {
    Json layer = Blob(payload, "application/vnd.dev.cosign.simplesigning.v1+json");
    layer["annotations"] = {{"dev.cosignproject.cosign/signature", signature}};
    return layer;
  }
  Json Referrer(const std::string& bundle, const std::string& type = kBundleType, const std::string& more = "") {
    Json layers = Json::array({Blob(bundle, type)});
    if (!more.empty()) layers.push_back(Blob(more, type));
    const std::string manifest = ToJsonText({{"artifactType", type}, {"layers", layers}});
    answers["manifests/" + DigestOf(manifest)] = OciAnswer(200, manifest);
    return {{"artifactType", type}, {"digest", DigestOf(manifest)}, {"size", manifest.size()}};
  }
  // With annotations of its manifest, which some registries repeat in their index.
  Json Annotated(const std::string& bundle, const Json& annotations, bool in_index) {
    const std::string manifest = ToJsonText({{"artifactType", kBundleType},
                                             {"layers", Json::array({Blob(bundle, kBundleType)})},
                                             {"annotations", annotations}});
    answers["manifests/" + DigestOf(manifest)] = OciAnswer(200, manifest);
    Json entry = {{"artifactType", kBundleType}, {"digest", DigestOf(manifest)}, {"size", manifest.size()}};
    if (in_index) entry["annotations"] = annotations;
    return entry;
  }
  static http::Response Index(const std::vector<Json>& manifests) {
    return OciAnswer(200, ToJsonText({{"manifests", manifests}}));
  }

  std::map<std::string, http::Response> answers;

 private:
  const std::string hex_;
};

struct World {
  OciStandIn registry{std::map<std::string, OciArtifact>{{"v1.0.0", PlainArtifact()}}};
  Beside beside{registry};

  Result<SignedArtifact> Read() {
    auto found = registry.Open()->SignaturesOf(Context{}, api::Version::Parse("v1.0.0").value(), "metadata.yaml");
    if (!found.ok()) return found.error();
    return SignedArtifact::Parse(found->at(std::string(api::kArtifactKey)));
  }
};

std::vector<std::string> Payloads(const SignedArtifact& artifact) {
  std::vector<std::string> out;
  for (const auto& one : artifact.signatures) out.push_back(one.bundle + one.payload + "/" + one.signature);
  return out;
}

TEST(OciSignatures, LieUnderATagAndAmongReferrers_T14) {
  World world;
  Beside& beside = world.beside;
  beside.Tag({beside.Layer("payload", "c2ln"), beside.Blob("other", "text/plain")});
  beside.answers[beside.referrers()] =
      Beside::Index({beside.Referrer("{\"sbom\":1}", "application/spdx+json"), beside.Referrer("{\"bundle\":1}")});
  auto artifact = world.Read();
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_EQ(DigestOf(artifact->manifest), world.registry.digest("v1.0.0")) << "byte by byte";
  EXPECT_THAT(Payloads(*artifact), ElementsAre("payload/c2ln", "{\"bundle\":1}/"));
}

// A registry without the API: the index under a tag. Some say so with other answers than 404.
TEST(OciSignatures, ReferrersAreFoundWithoutTheApi_T14) {
  for (int status : {404, 400, 405}) {
    World world;
    world.beside.answers[world.beside.referrers()] = OciAnswer(status);
    world.beside.answers[world.beside.index()] = Beside::Index({world.beside.Referrer("{}")});
    auto artifact = world.Read();
    ASSERT_TRUE(artifact.ok()) << status << artifact.error().message;
    EXPECT_EQ(artifact->signatures.size(), 1u);
  }
}

TEST(OciSignatures, NoneIsTold_T14) {
  World world;
  auto artifact = world.Read();
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.code(), Code::kNotFound);
  EXPECT_THAT(artifact.error().message, HasSubstr("the artifact isn't signed: there is no tag sha256-"));
}

// T14, T9: what a registry does wrong is an error, and is read no further than it may be.
TEST(OciSignatures, OfABrokenRegistry_T14) {
  const std::string large(40'000, 'a');
  const struct {
    const char* what;
    std::function<void(Beside&)> breaks;
    Code code;
    const char* error;
  } cases[] = {
      {"another payload",
       [](Beside& b) {
         b.Tag({b.Layer("payload", "c2ln")});
         b.answers["blobs/" + DigestOf("payload")] = OciAnswer(200, "payloaD");
       },
       Code::kFailedPrecondition, "does not have the digest"},
      {"half a payload",
       [](Beside& b) {
         b.Tag({b.Layer("payload", "c2ln")});
         b.answers["blobs/" + DigestOf("payload")] = OciAnswer(200, "pay");
       },
       Code::kUnavailable, "3 bytes of a signature came, its manifest says 7"},
      {"a size that is another's",
       [](Beside& b) {
         Json layer = b.Layer("payload", "c2ln");
         layer["size"] = 9;
         b.Tag({layer});
       },
       Code::kFailedPrecondition, "a signature has 7 bytes, its manifest says 9"},
      {"a large payload", [&](Beside& b) { b.Tag({b.Layer(large, "c2ln")}); }, Code::kInvalidArgument,
       "a signature is too large: 40000 bytes"},
      {"more than it said",
       [&](Beside& b) {
         b.Tag({b.Layer("payload", "c2ln")});
         b.answers["blobs/" + DigestOf("payload")] = OciAnswer(200, large);
       },
       Code::kInvalidArgument, ""},
      {"a large signature", [&](Beside& b) { b.Tag({b.Layer("payload", large)}); }, Code::kFailedPrecondition,
       "a signature is too large"},
      {"a digest of another kind",
       [](Beside& b) {
         Json layer = b.Layer("payload", "c2ln");
         layer["digest"] = "md5:1";
         b.Tag({layer});
       },
       Code::kFailedPrecondition, "of no kind that is checked"},
      {"another referrer",
       [](Beside& b) {
         const Json referrer = b.Referrer("{}");
         b.answers[b.referrers()] = Beside::Index({referrer});
         b.answers["manifests/" + GetString(referrer, {"digest"})] = OciAnswer(200, "{}");
       },
       Code::kFailedPrecondition, "a signature's manifest: what came does not have the digest"},
      {"no access", [](Beside& b) { b.answers[b.tag()] = OciAnswer(403); }, Code::kPermissionDenied, "denied access"},
      {"in trouble", [](Beside& b) { b.answers[b.referrers()] = OciAnswer(503); }, Code::kUnavailable, "in trouble"},
      {"no JSON", [](Beside& b) { b.answers[b.tag()] = OciAnswer(200, "{"); }, Code::kInvalidArgument,
       "a signature's manifest"},
  };
  for (const auto& c : cases) {
    World world;
    c.breaks(world.beside);
    auto artifact = world.Read();
    ASSERT_FALSE(artifact.ok()) << c.what;
    EXPECT_EQ(artifact.code(), c.code) << c.what << ": " << artifact.error().message;
    EXPECT_THAT(artifact.error().message, HasSubstr(c.error)) << c.what;
  }
}

// A referrer as `cosign attest` writes it: of the same type as a signature's.
constexpr char kPredicate[] = "dev.sigstore.bundle.predicateType";
constexpr char kSbom[] = "https://spdx.dev/Document", kSign[] = "https://sigstore.dev/cosign/sign/v1";

// T14: an attestation is no signature, takes no signature's place, and may be large; a registry may say in its index
// which is one.
TEST(OciSignatures, AttestationsArePassedOver_T14) {
  for (bool in_index : {false, true}) {
    World world;
    Beside& beside = world.beside;
    std::vector<Json> index;
    for (int i = 0; i < 20; ++i)
      index.push_back(
          beside.Annotated(fmt::format("{}{}", std::string(40'000, 'a'), i), {{kPredicate, kSbom}}, in_index));
    index.push_back(beside.Annotated("{\"bundle\":1}", {{kPredicate, kSign}}, in_index));
    beside.answers[beside.referrers()] = Beside::Index(index);
    auto artifact = world.Read();
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    EXPECT_THAT(Payloads(*artifact), ElementsAre("{\"bundle\":1}/"));
    beside.answers[beside.referrers()] = Beside::Index({index.front()});
    artifact = world.Read();
    ASSERT_FALSE(artifact.ok());
    EXPECT_THAT(artifact.error().message, HasSubstr("the artifact isn't signed"));
    size_t asked = 0;
    for (const auto& request : world.registry.seen())
      asked += request.target.find("/manifests/sha256:") != std::string::npos;
    EXPECT_EQ(asked, in_index ? 1u : 22u);
  }
}

// T14: one signature that can be read is enough, whatever lies beside it.
TEST(OciSignatures, WhatCannotBeReadIsPassedOver_T14) {
  const std::string large(40'000, 'a');
  const std::function<void(Beside&)> cases[] = {
      [&](Beside& b) {
        b.Tag({b.Layer(large, "c2ln"), b.Layer("payload", large), b.Layer("payload", "c2ln")});
      },
      [](Beside& b) { b.answers[b.referrers()] = OciAnswer(401); },
      [](Beside& b) { b.answers[b.referrers()] = OciAnswer(403); },
      [](Beside& b) { b.answers[b.referrers()] = OciAnswer(503); },
      [](Beside& b) { b.answers[b.index()] = OciAnswer(200, "<html></html>"); },
      [&](Beside& b) { b.answers[b.referrers()] = Beside::Index({b.Referrer(large)}); },
      [](Beside& b) {
        b.answers[b.referrers()] = Beside::Index({{{"artifactType", kBundleType}, {"digest", "md5:1"}}});
      },
      [](Beside& b) {
        const Json referrer = b.Referrer("{}");
        b.answers[b.referrers()] = Beside::Index({referrer});
        b.answers["manifests/" + GetString(referrer, {"digest"})] = OciAnswer(200, "{}");
      },
  };
  for (const auto& breaks : cases) {
    World world;
    world.beside.Tag({world.beside.Layer("payload", "c2ln")});
    breaks(world.beside);
    auto artifact = world.Read();
    ASSERT_TRUE(artifact.ok()) << &breaks - cases << ": " << artifact.error().message;
    EXPECT_THAT(Payloads(*artifact), ElementsAre("payload/c2ln")) << &breaks - cases;
  }
}

// T14: an outage is told with what was read, and with the next look all of it is read.
TEST(OciSignatures, AnOutageBesideOneThatWasReadIsTold_T14) {
  World world;
  Beside& beside = world.beside;
  const std::string large(40'000, 'a');
  beside.Tag({beside.Layer(large, "c2ln"), beside.Layer("payload", "c2ln")});
  beside.answers[beside.referrers()] = OciAnswer(503);
  auto repository = world.registry.Open();
  auto read = [&] {
    return repository->SignaturesOf(Context{}, api::Version::Parse("v1.0.0").value(), "metadata.yaml");
  };
  auto found = read();
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_TRUE(found->unread);
  EXPECT_EQ(found->unread->code, Code::kUnavailable);
  beside.answers[beside.referrers()] = Beside::Index({beside.Referrer("{}")});
  found = read();
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_FALSE(found->unread) << "what is too large is so with each try";
  EXPECT_EQ(SignedArtifact::Parse(found->at(std::string(api::kArtifactKey)))->signatures.size(), 2u);
}

// T14: what is kept with the release is bounded: what is more is left out.
TEST(OciSignatures, AreAsManyAsAreKept_T14) {
  World world;
  std::vector<Json> layers;
  for (int i = 0; i < 10; ++i)
    layers.push_back(world.beside.Layer(fmt::format("{}{}", std::string(30'000, 'a'), i), "c2ln"));
  world.beside.Tag(layers);
  auto artifact = world.Read();
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_EQ(artifact->signatures.size(), 6u);
  EXPECT_LE(artifact->ToText().size(), verify::kMaxArtifactBytes);
}

// F2: manifests and indexes are read entry by entry.
TEST(OciSignatures, TakeLittleMemoryWhateverARegistrySays_F2) {
  constexpr size_t kSize = 1 << 20;
  for (const std::string& entry : {std::string("{},"), std::string("[],"), std::string("1,"),
                                   fmt::format(R"({{"artifactType":"{}"}},)", kBundleType),
                                   fmt::format(R"({{"mediaType":"{}"}},)", kBundleType)}) {
    std::string list = "[";
    while (list.size() < kSize) list += entry;
    list += "{}]";
    Cost cost = Measure([&]() -> std::string {
      World world;
      Beside& beside = world.beside;
      beside.answers[beside.tag()] = OciAnswer(200, "{\"layers\":" + list + "}");
      beside.answers[beside.referrers()] = OciAnswer(200, "{\"manifests\":" + list + ",\"annotations\":" + list + "}");
      return world.Read().ok() ? "some" : "none";
    });
    EXPECT_EQ(cost.answer, "none") << entry;
    if (kMeasuresCost) {
      EXPECT_LT(cost.bytes, 16 * kSize) << entry;
    }
  }
}

// What referrers' manifests have beside the names of bundles isn't kept: 32 MiB of it did away with the operator.
TEST(OciSignatures, ReferrersTakeLittleMemory_F2) {
  const std::string signature(30'000, 'a');
  Json layers = Json::array();
  for (int i = 0; i < 16; ++i)
    layers.push_back({{"mediaType", kBundleType},
                      {"digest", DigestOf("nowhere")},
                      {"size", 7},
                      {"annotations", {{"dev.cosignproject.cosign/signature", signature}}}});
  const Cost cost = Measure([&]() -> std::string {
    World world;
    std::vector<Json> index;
    for (int i = 0; i < 64; ++i) {
      const std::string manifest = ToJsonText({{"artifactType", kBundleType}, {"layers", layers}, {"n", i}});
      world.beside.answers["manifests/" + DigestOf(manifest)] = OciAnswer(200, manifest);
      index.push_back({{"artifactType", kBundleType}, {"digest", DigestOf(manifest)}});
    }
    world.beside.answers[world.beside.referrers()] = Beside::Index(index);
    return world.Read().ok() ? "some" : "none";
  });
  EXPECT_EQ(cost.answer, "none");
  if (kMeasuresCost) {
    EXPECT_LT(cost.bytes, 1.5 * 64 * 16 * 30'000) << "the registry itself has it once";
  }
}

TEST(OciSignatures, SixteenAreReadAtMost_T14) {
  World world;
  std::vector<Json> layers;
  for (int i = 0; i < 20; ++i) layers.push_back(world.beside.Layer(fmt::format("payload {}", i), "c2ln"));
  world.beside.Tag(layers);
  world.beside.answers[world.beside.referrers()] = Beside::Index({world.beside.Referrer("{}")});
  auto artifact = world.Read();
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  std::vector<std::string> newest;
  for (int i = 19; i >= 12; --i) newest.push_back(fmt::format("payload {}/c2ln", i));
  newest.push_back("{}/");
  for (int i = 11; i >= 5; --i) newest.push_back(fmt::format("payload {}/c2ln", i));
  EXPECT_EQ(Payloads(*artifact), newest) << "cosign appends: the last one is today's";
}

// T14: where cosign has begun to write bundles, the tag may be full of what it wrote before; and there may be these
// alone.
TEST(OciSignatures, OnePlaceLeavesRoomForTheOther_T14) {
  for (int tagged : {0, 3, 20}) {
    World world;
    std::vector<Json> layers, index;
    for (int i = 0; i < tagged; ++i) layers.push_back(world.beside.Layer(fmt::format("payload {}", i), "c2ln"));
    for (int i = 0; i < 20; ++i) index.push_back(world.beside.Referrer(fmt::format("{{\"bundle\":{}}}", i)));
    world.beside.Tag(layers);
    world.beside.answers[world.beside.referrers()] = Beside::Index(index);
    auto artifact = world.Read();
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    EXPECT_EQ(artifact->signatures.size(), 16u);
    const auto bundles = std::count_if(artifact->signatures.begin(), artifact->signatures.end(),
                                       [](const auto& one) { return !one.bundle.empty(); });
    EXPECT_EQ(bundles, 16 - std::min(tagged, 8));
  }
}

// T14: an index has them in any order, most by their digest; today's is among the newest.
TEST(OciSignatures, OfManyReferrersTheNewestAreRead_T14) {
  World world;
  Beside& beside = world.beside;
  std::vector<Json> index;
  std::vector<std::string> newest;
  for (int day = 10; day < 30; ++day) {
    const std::string bundle = fmt::format("{{\"bundle\":{}}}", day);
    index.push_back(beside.Annotated(
        bundle, {{"org.opencontainers.image.created", fmt::format("2026-01-{}T00:00:00Z", day)}}, false));
    if (day >= 14) newest.insert(newest.begin(), bundle + "/");
  }
  for (int turn = 0; turn < 2; ++turn) {
    beside.answers[beside.referrers()] = Beside::Index(index);
    auto artifact = world.Read();
    ASSERT_TRUE(artifact.ok()) << artifact.error().message;
    EXPECT_EQ(Payloads(*artifact), newest);
    std::reverse(index.begin(), index.end());
  }
}

// The registry says in its index when each was made, and no more of them are asked for than are read. Of more than 64
// the newest are known then, too.
TEST(OciSignatures, AnIndexWithTimesSavesRequests_T14) {
  World world;
  Beside& beside = world.beside;
  std::vector<Json> index;
  for (int minute = 10; minute < 90; ++minute) {
    index.push_back(beside.Annotated(
        fmt::format("{{\"bundle\":{}}}", minute),
        {{"org.opencontainers.image.created",
          fmt::format("2026-01-0{}T00:{}:00Z", minute < 50 ? 1 : 2, minute < 50 ? minute : minute - 40)}},
        true));
  }
  beside.answers[beside.referrers()] = Beside::Index(index);
  auto artifact = world.Read();
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_EQ(artifact->signatures.size(), 16u);
  EXPECT_EQ(artifact->signatures.front().bundle, "{\"bundle\":89}");
  size_t asked = 0;
  for (const auto& request : world.registry.seen())
    asked += request.target.find("/manifests/sha256:") != std::string::npos;
  EXPECT_EQ(asked, 16u);
}

// A signature may be among those that nobody read: that it isn't signed would be no more than a guess.
TEST(OciSignatures, WhatWasNotReadIsCounted_T14) {
  World world;
  Beside& beside = world.beside;
  std::vector<Json> index;
  for (int i = 0; i < 70; ++i)
    index.push_back(beside.Annotated(fmt::format("{{\"bundle\":{}}}", i), {{kPredicate, kSbom}}, false));
  beside.answers[beside.referrers()] = Beside::Index(index);
  auto artifact = world.Read();
  ASSERT_FALSE(artifact.ok());
  EXPECT_THAT(artifact.error().message, HasSubstr("; 6 of them weren't read"));
}

// T14: a store that lacks one of several is as with the next try; it keeps nobody from taking the release.
TEST(OciSignatures, WhatAStoreLacksIsNoOutage_T14) {
  for (int status : {404, 403}) {
    World world;
    OciStandIn store{std::map<std::string, OciArtifact>{}};
    store.set_registry_fault([&](const http::ServerRequest&) { return std::optional(OciAnswer(status)); });
    world.beside.Tag({world.beside.Layer("gone", "c2ln"), world.beside.Layer("payload", "c2ln")});
    auto& redirect = world.beside.answers["blobs/" + DigestOf("gone")] = OciAnswer(307);
    redirect.headers.Set("Location", "http://" + store.host() + "/v2/store/gone");
    world.beside.answers[world.beside.referrers()] = OciAnswer(501);
    auto found = world.registry.Open()->SignaturesOf(Context{}, api::Version::Parse("v1.0.0").value(), "metadata.yaml");
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_FALSE(found->unread) << found->unread->message;
    EXPECT_THAT(Payloads(SignedArtifact::Parse(found->at(std::string(api::kArtifactKey))).value()),
                ElementsAre("payload/c2ln"));
  }
}

// T14: a registry that says when to come again isn't asked for the rest, wherever it does; what was read before counts.
TEST(OciSignatures, ALimitEndsTheLook_T14) {
  const struct {
    const char* at;
    size_t read, asked;  // signatures; and requests to the registry for them
  } cases[] = {{"nowhere", 5, 10},  {"tag", 0, 1},      {"payload", 0, 2},
               {"referrers", 1, 3}, {"manifest", 3, 7}, {"bundle", 1, 7}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.at);
    World world;
    Beside& beside = world.beside;
    std::vector<Json> index = {beside.Referrer("{\"bundle\":0}", kBundleType, "{\"bundle\":3}")};
    for (const char* bundle : {"{\"bundle\":1}", "{\"bundle\":2}"}) index.push_back(beside.Referrer(bundle));
    beside.answers[beside.referrers()] = Beside::Index(index);
    beside.Tag({beside.Layer("payload", "c2ln")});
    const std::map<std::string, std::string> places = {{"tag", beside.tag()},
                                                       {"payload", "blobs/" + DigestOf("payload")},
                                                       {"referrers", beside.referrers()},
                                                       {"manifest", "manifests/" + GetString(index[1], {"digest"})},
                                                       {"bundle", "blobs/" + DigestOf("{\"bundle\":0}")}};
    if (places.contains(c.at)) beside.answers[places.at(c.at)] = OciAnswer(429);
    auto found = world.registry.Open()->SignaturesOf(Context{}, api::Version::Parse("v1.0.0").value(), "metadata.yaml");
    const auto seen = world.registry.seen();
    const auto asked = std::count_if(seen.begin(), seen.end(), [](const auto& request) {
      return request.target.find("/tags/") == std::string::npos &&
             request.target.find("/manifests/v1") == std::string::npos;
    });
    EXPECT_EQ(static_cast<size_t>(asked), c.asked);
    EXPECT_EQ(found.ok(), c.read > 0);
    if (!found.ok()) EXPECT_EQ(found.code(), Code::kRateLimited);
    if (!found.ok()) continue;
    EXPECT_EQ(found->unread.has_value(), places.contains(c.at));
    EXPECT_EQ(SignedArtifact::Parse(found->at(std::string(api::kArtifactKey))).value().signatures.size(), c.read);
  }
}

// One look at the registry is enough for both files.
TEST(OciSignatures, AreAskedForOnce_T14) {
  World world;
  world.beside.Tag({world.beside.Layer("payload", "c2ln")});
  auto repository = world.registry.Open();
  const api::Version version = api::Version::Parse("v1.0.0").value();
  ASSERT_TRUE(repository->SignaturesOf(Context{}, version, "metadata.yaml").ok());
  const size_t asked = world.registry.seen().size();
  ASSERT_TRUE(repository->SignaturesOf(Context{}, version, "infrastructure-components.yaml").ok());
  EXPECT_EQ(world.registry.seen().size(), asked);
}

}  // namespace
}  // namespace capi::fetch
