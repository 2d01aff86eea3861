#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/http/testing.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/image_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kBoth = {"linux/amd64", "linux/arm64"};

TEST(Image, IsWrittenAsItWasRead_L28) {
  OciStandIn from({}), to({}, OciAuth::kBearer);
  const std::string digest = from.PutImage("org/image", "v1", kBoth, std::string(200'000, 'x'));
  OciPull pull(At(from, "org/image:v1"), {});
  const OciImage image = pull.Image({}, {}).value();
  const Blobs blobs = BlobsOf(pull, image);
  OciOptions options;
  options.credentials = {.username = std::string(kOciUser), .password = std::string(kOciPassword)};
  Status written =
      OciPush(At(to, "org/provider:v1"), options, {}, 90'000).WriteImage({}, image, PieceOf(blobs), {}, "");
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(to.digest("v1"), digest);
  const auto methods = MethodsOf(to);
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "PATCH"), 8)
      << "four blobs, each of three pieces, of which the last ends it";
  EXPECT_EQ(to.blob(OciDigest(blobs.rbegin()->second)), blobs.rbegin()->second);
  // What is there isn't sent again.
  ASSERT_TRUE(OciPush(At(to, "org/provider:v2"), options).WriteImage({}, image, PieceOf(blobs), {}, "").ok());
  EXPECT_EQ(MethodsOf(to).size() - methods.size(), 3u) << "the manifests";
  Status refused = OciPush(At(to, "org/provider:v2"), options).WriteImage({}, image, PieceOf(blobs), {}, "sha256:1");
  EXPECT_TRUE(refused.ok()) << "it names this one";
}

// An image of one layer of ten bytes, sent in pieces of four to a registry that may fail.
class Sending {
 public:
  Sending() {
    OciStandIn from({});
    from.PutImage("org/image", "v1", {}, "0123456789");
    OciPull pull(At(from, "org/image:v1"), {});
    image_ = pull.Image({}, {}).value();
    blobs_ = BlobsOf(pull, image_);
    std::erase_if(image_.blobs, [](const auto& one) { return one.first != OciDigest("0123456789"); });
    // What else it names is there.
    for (const auto& [digest, text] : blobs_) {
      if (digest != OciDigest("0123456789"))
        (void)OciPush(At(to, "org/provider:x"), {}).Write({}, {"{}", {{digest, text}}});
    }
    before_ = MethodsOf(to).size();
  }
  Status Send(const Context& ctx = {}, OciOptions options = {}) {
    return OciPush(At(to, "org/provider:v1"), std::move(options), {}, 4)
        .WriteImage(ctx, image_, PieceOf(blobs_), {}, "");
  }
  // That write.
  std::vector<std::string> Methods() const {
    std::vector<std::string> all = MethodsOf(to);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before_));
    return all;
  }
  OciStandIn to{std::map<std::string, OciArtifact>()};

 private:
  OciImage image_;
  Blobs blobs_;
  size_t before_ = 0;
};

const std::vector<std::string> kSent = {"POST", "PATCH", "PATCH", "PUT", "PUT"};

// The registry says with each how much it has, so that a piece can't come twice, nor in another place.
TEST(Image, EachPieceSaysWhereItIs_L28) {
  Sending sending;
  std::vector<std::string> ranges;
  sending.to.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    const bool upload = request.path.find("/uploads/") != std::string::npos && request.method != "POST";
    if (upload) ranges.push_back(request.headers.Get("Content-Range"));
    return std::nullopt;
  });
  Status sent = sending.Send();
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_THAT(ranges, ElementsAre("0-3", "4-7", "8-9"));
  EXPECT_EQ(sending.Methods(), kSent);
}

// OCI-Chunk-Min-Length of the distribution specification.
TEST(Image, PiecesAreAsLargeAsTheRegistryWants_L28) {
  const std::tuple<const char*, std::vector<std::string>, const char*> cases[] = {
      {"6", {"POST", "PATCH", "PUT", "PUT"}, ""},
      {"3", kSent, ""},
      {"10", {"POST", "PUT", "PUT"}, ""},
      {"67108865", {"POST"}, "in pieces of 67108865 bytes at least"},
      {"many", {"POST"}, "in pieces of many bytes"}};
  for (const auto& [least, methods, words] : cases) {
    SCOPED_TRACE(least);
    Sending sending;
    sending.to.set_least_piece(least);
    Status sent = sending.Send();
    EXPECT_EQ(sending.Methods(), methods);
    ASSERT_EQ(sent.ok(), *words == 0);
    EXPECT_THAT(sent.ok() ? "" : sent.error().message, HasSubstr(words));
  }
}

// No chunk length is about what is sent at once.
TEST(Image, WhatIsSentAtOnceHasNoLeast_L28) {
  OciStandIn from({}), to({});
  from.PutImage("org/image", "v1", {}, "0123456789");
  to.set_least_piece("many");
  OciPull pull(At(from, "org/image:v1"), {});
  const OciImage image = pull.Image({}, {}).value();
  const Blobs blobs = BlobsOf(pull, image);
  Status sent = OciPush(At(to, "org/provider:v1"), {}).WriteImage({}, image, PieceOf(blobs), {}, "");
  EXPECT_TRUE(sent.ok()) << sent.error().message;
}

// ghcr.io takes no piece of more than 4 MiB.
TEST(Image, ALayerGoesInSmallerPiecesWhereTheRegistryWantsThem_L28) {
  const std::string layer(17u << 20, 'x');
  OciStandIn from({}), to({});
  from.PutImage("org/image", "v1", {}, layer);
  OciPull pull(At(from, "org/image:v1"), {});
  const OciImage image = pull.Image({}, {}).value();
  const Blobs blobs = BlobsOf(pull, image);
  Hurried ctx;
  Status sent = OciPush(At(to, "org/provider:v1"), {}).WriteImage(ctx, image, PieceOf(blobs), {}, "");
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(to.blob(OciDigest(layer)), layer);
  const auto methods = MethodsOf(to);
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "PATCH"), 1 + 4 + 4)
      << "one that is refused, and those of the layer and of its configuration, which is as large";
  EXPECT_EQ(to.uploads(), 0u);
}

// A piece that may not be larger, or a file that a proxy refuses, is no outage.
TEST(Image, WhatIsTooLargeInSmallPiecesIsAnError_L28) {
  Sending sending;
  sending.to.set_registry_fault([](const http::ServerRequest& request) -> std::optional<http::Response> {
    return request.method == "PATCH" ? std::optional(OciAnswer(413)) : std::nullopt;
  });
  Status sent = sending.Send(Hurried());
  EXPECT_EQ(sent.code(), Code::kInvalidArgument);
  EXPECT_EQ(sending.Methods(), (std::vector<std::string>{"POST", "PATCH", "DELETE"}));
}

// A registry that was started anew, or another of several: it has never heard of what another has begun.
TEST(Image, AnUploadThatIsLostIsBegunAgain_L28) {
  const std::pair<int, const char*> cases[] = {
      {404, "BLOB_UPLOAD_UNKNOWN"}, {404, "X"}, {400, "BLOB_UPLOAD_INVALID"}, {416, "X"}};
  for (const auto& [status, code] : cases) {
    SCOPED_TRACE(code);
    Sending sending;
    int pieces = 0;
    sending.to.set_registry_fault([&, lost = OciAnswer(status, fmt::format(R"({{"errors":[{{"code":"{}"}}]}})", code))](
                                      const http::ServerRequest& request) -> std::optional<http::Response> {
      return request.method == "PATCH" && ++pieces == 2 ? std::optional(lost) : std::nullopt;
    });
    Status sent = sending.Send(Hurried());
    EXPECT_TRUE(sent.ok()) << sent.error().message;
    EXPECT_EQ(sending.Methods(),
              (std::vector<std::string>{"POST", "PATCH", "PATCH", "DELETE", "POST", "PATCH", "PATCH", "PUT", "PUT"}));
    EXPECT_EQ(sending.to.uploads(), 0u);
  }
}

// From its beginning: what the registry has of it nobody knows. What is there of it is taken back.
TEST(Image, ABlobThatBreaksOffIsSentAgain_L28) {
  const std::pair<int, std::vector<std::string>> cases[] = {
      {1, {"POST", "PATCH", "PATCH", "DELETE", "POST", "PATCH", "PATCH", "PUT", "PUT"}},
      {2, {"POST", "PATCH", "PATCH", "DELETE", "POST", "PATCH", "DELETE", "POST", "PATCH", "PATCH", "PUT", "PUT"}},
      {4,
       {"POST", "PATCH", "PATCH", "DELETE", "POST", "PATCH", "DELETE", "POST", "PATCH", "DELETE", "POST", "PATCH",
        "DELETE"}}};
  for (const auto& [times, methods] : cases) {
    SCOPED_TRACE(times);
    Sending sending;
    int pieces = 0;
    sending.to.set_registry_fault(
        [&, last = times + 1](const http::ServerRequest& request) -> std::optional<http::Response> {
          if (request.method != "PATCH" || ++pieces == 1 || pieces > last) return std::nullopt;
          return OciAnswer(502);
        });
    HurriedClock clock;
    Context ctx;
    ctx.clock = &clock;
    Status sent = sending.Send(ctx);
    EXPECT_EQ(sent.ok(), times < 4);
    EXPECT_TRUE(sent.ok() || sent.code() == Code::kUnavailable) << sent.error().message;
    EXPECT_EQ(sending.Methods(), methods);
    EXPECT_EQ(sending.to.uploads(), 0u);
  }
}

// L28: of a piece that broke off the registry has some, and takes back what it has alone.
TEST(Image, WhatBrokeOffWithinAPieceIsTakenBack_L28) {
  const std::pair<const char*, int> cases[] = {{"PATCH", 1}, {"PATCH", 2}, {"PUT", 1}};
  for (const auto& [method, which] : cases) {
    SCOPED_TRACE(fmt::format("{} {}", method, which));
    Sending sending;
    int seen = 0;
    sending.to.set_breaks_off([&seen, m = method, w = which](const http::ServerRequest& request) {
      return request.method == m && ++seen == w;
    });
    Status sent = sending.Send(Hurried());
    EXPECT_TRUE(sent.ok()) << sent.error().message;
    EXPECT_EQ(seen > which, true);
    EXPECT_EQ(sending.to.uploads(), 0u);
  }
}

// Manifests, too.
TEST(Image, ManifestsAreWrittenAgain_L28) {
  OciStandIn from({}), to({});
  const std::string digest = from.PutImage("org/image", "v1", kBoth, "layer");
  OciPull pull(At(from, "org/image:v1"), {});
  const OciImage image = pull.Image({}, {}).value();
  const Blobs blobs = BlobsOf(pull, image);
  std::map<std::string, int> seen;
  to.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    const bool is_manifest = request.method == "PUT" && request.path.find("/manifests/") != std::string::npos;
    return is_manifest && ++seen[request.path] == 1 ? std::optional(OciAnswer(502)) : std::nullopt;
  });
  Hurried ctx;
  Status sent = OciPush(At(to, "org/provider:v1"), {}).WriteImage(ctx, image, PieceOf(blobs), {}, "");
  EXPECT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(to.digest("v1"), digest);
  EXPECT_THAT(ctx.own.waits, ElementsAre(Seconds(1), Seconds(1), Seconds(1)));
}

// However many an image has: each of them may be limited, and each layer.
TEST(Image, EachManifestAndLayerHasItsOwnTime_L28) {
  OciStandIn from({}), to({});
  from.PutImage("org/image", "v1", {"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7"}, "layer");
  OciPull pull(At(from, "org/image:v1"), {});
  const OciImage image = pull.Image({}, {}).value();
  const Blobs blobs = BlobsOf(pull, image);
  std::map<std::string, int> seen;
  to.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    const bool is_manifest = request.method == "PUT" && request.path.find("/manifests/") != std::string::npos;
    if ((!is_manifest && request.method != "HEAD") || ++seen[request.path] > 1) return std::nullopt;
    http::Response limit = OciAnswer(429);
    limit.headers.Set("Retry-After", "60");
    return limit;
  });
  Hurried ctx;
  Status sent = OciPush(At(to, "org/provider:v1"), {}).WriteImage(ctx, image, PieceOf(blobs), {}, "");
  EXPECT_TRUE(sent.ok()) << sent.error().message;
  ASSERT_GT(image.blobs.size(), 5u);
  EXPECT_EQ(ctx.own.waits, std::vector<Seconds>(image.blobs.size() + 8, Seconds(60)));
}

// A registry may have to read again what it got, which is of many GB. How long it takes, another call tells that ends
// with the time of each request.
TEST(Image, APieceHasMoreTimeThanOtherRequests_L28) {
  http_testing::RawServer silent([](http_testing::Peer& peer, int) { peer.WaitForEnd(); });
  OciOptions options, longer;
  options.request_timeout = Seconds(3);  // that what isn't delayed has
  longer.request_timeout = Seconds(4);
  std::stop_source stop;
  Context once;  // without another try
  once.stop = stop.get_token();
  Sending sending;
  std::map<std::string, int> seen;
  sending.to.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    const bool first = request.path.find("/uploads/") != std::string::npos && ++seen[request.method] == 1;
    if (first && request.method != "POST") {
      OciPush other(*api::ParseOciReference(silent.url() + "/org/provider:v1"), longer,
                    [&](const Error&, Millis) { stop.request_stop(); });
      EXPECT_EQ(other.Tagged(once).code(), Code::kCancelled);
    }
    return std::nullopt;
  });
  Status sent = sending.Send({}, options);
  EXPECT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(sending.Methods(), kSent);
}

// Of another repository of the registry it takes a blob over.
TEST(Image, ABlobIsTakenOverFromAnotherRepository_L28) {
  OciStandIn registry({});
  registry.PutImage("org/image", "v1", {}, "layer");
  OciPull pull(At(registry, "org/image:v1"), {});
  const OciImage image = pull.Image({}, {}).value();
  std::map<std::string, std::string> elsewhere;
  for (const auto& [digest, size] : image.blobs) elsewhere[digest] = "org/image";
  std::vector<std::string> mounts;
  registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (request.method == "HEAD") return OciAnswer(404);
    if (request.method != "POST") return std::nullopt;
    mounts.push_back(request.query);
    return OciAnswer(201, "");
  });
  ASSERT_TRUE(OciPush(At(registry, "org/other:v1"), {}).WriteImage({}, image, PieceOf({}), elsewhere, "").ok());
  EXPECT_EQ(mounts.size(), 2u);
  EXPECT_THAT(mounts, testing::Contains("mount=" + PercentEscape(OciDigest("layer")) + "&from=org%2Fimage"));
  EXPECT_THAT(MethodsOf(registry), ElementsAre("POST", "POST", "PUT"));
}

}  // namespace
}  // namespace capi::fetch
