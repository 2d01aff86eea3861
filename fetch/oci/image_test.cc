#include "fetch/oci/image.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/http/testing.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/oci_testing.h"
#include "fetch/oci/pull.h"
#include "fetch/oci/push.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kBoth = {"linux/amd64", "linux/arm64"};

api::OciReference At(const OciStandIn& registry, const std::string& what) {
  return *api::ParseOciReference("http://" + registry.host() + "/" + what);
}

std::vector<Platform> For(const char* platform) { return {*ParsePlatform(platform)}; }

// Of an archive: what the blobs of an image are read from.
using Blobs = std::map<std::string, std::string>;

Blobs BlobsOf(OciPull& pull, const OciImage& image) {
  Blobs out;
  for (const auto& [digest, size] : image.blobs) {
    Status read = pull.Blob({}, digest, size, [&out, name = digest](std::string_view piece) -> Status {
      out[name] += piece;
      return Ok();
    });
    EXPECT_TRUE(read.ok()) << read.error().message;
  }
  return out;
}

BlobPiece PieceOf(const Blobs& blobs) {
  return [&blobs](const std::string& digest, std::uint64_t at, size_t count) -> Result<std::string> {
    return blobs.at(digest).substr(static_cast<size_t>(at), count);
  };
}

TEST(Image, PlatformsAreReadOrRefused_L28) {
  EXPECT_EQ(ParsePlatform("linux/arm/v7")->variant, "v7");
  for (const char* text : {"", "linux", "linux/", "/amd64", "linux/a/b/c", "Linux/amd64", "linux/a b"})
    EXPECT_THAT(ParsePlatform(text).error().message, HasSubstr("is no platform")) << text;
}

// All that an index names, or what is for one platform, under an index that names it alone.
TEST(Image, IsReadWithAllPlatformsOrSome_L28) {
  OciStandIn registry({});
  const std::string digest = registry.PutImage("org/image", "v1", kBoth, "layer ");
  OciPull pull(At(registry, "org/image:v1"), {});
  const OciImage all = pull.Image({}, {}).value();
  EXPECT_EQ(all.digest(), digest);
  EXPECT_EQ(all.root().media_type, kOciIndexType);
  EXPECT_EQ(all.manifests.size(), 3u);
  EXPECT_EQ(all.blobs.size(), 4u);
  EXPECT_EQ(BlobsOf(pull, all).at(OciDigest("layer linux/arm64")), "layer linux/arm64");
  const OciImage one = pull.Image({}, For("linux/arm64")).value();
  EXPECT_EQ(one.manifests.size(), 2u);
  EXPECT_NE(one.digest(), digest);
  EXPECT_EQ(one.blobs.count(OciDigest("layer linux/arm64")), 1u);
  EXPECT_EQ(one.blobs.count(OciDigest("layer linux/amd64")), 0u);
  const auto none = pull.Image({}, For("linux/s390x"));
  EXPECT_EQ(none.code(), Code::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("it is not for linux/s390x; there is linux/amd64, linux/arm64"));
  const auto named = OciPull(At(registry, "org/image@" + digest), {}).Image({}, For("linux/arm64"));
  EXPECT_THAT(named.error().message, HasSubstr("leave out --platform"));
}

// Its configuration alone says for whom it is.
TEST(Image, WithoutAnIndexItIsForOnePlatform_L28) {
  OciStandIn registry({});
  registry.PutImage("org/plain", "latest", {}, "one");
  OciPull pull(At(registry, "org/plain"), {});
  EXPECT_EQ(pull.Image({}, For("linux/amd64"))->manifests.size(), 1u);
  EXPECT_EQ(pull.Image({}, {})->manifests.size(), 1u);
  const auto other = pull.Image({}, For("linux/arm64"));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.code(), Code::kNotFound);
  EXPECT_THAT(other.error().message, HasSubstr("it is not for linux/arm64; there is linux/amd64"));
  const char* arm = R"({"os":"linux","architecture":"arm","variant":"v6"})";
  EXPECT_TRUE(CheckPlatforms(arm, For("linux/arm")).ok());
  EXPECT_TRUE(CheckPlatforms(arm, For("linux/arm/v6")).ok());
  EXPECT_THAT(CheckPlatforms(arm, For("linux/arm/v7")).error().message, HasSubstr("there is linux/arm/v6"));
  EXPECT_THAT(CheckPlatforms("{}", For("linux/arm")).error().message, HasSubstr("it doesn't say for which it is"));
  EXPECT_EQ(CheckPlatforms("{", For("linux/arm")).code(), Code::kInvalidArgument);
}

struct HostileCase {
  const char* words;
  std::string text;
};

TEST(Image, WhatIsNoneIsRefused_L28) {
  const std::string manifest =
      R"({"config":{"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]})";
  auto index = [](const std::string& digest, size_t size) {
    return fmt::format(R"({{"manifests":[{{"digest":"{}","size":{}}}]}})", digest, size);
  };
  const HostileCase cases[] = {
      {"parse", "{"},
      {"no manifest of an image", "{}"},
      {"isn't read", R"({"mediaType":"application/vnd.docker.distribution.manifest.v1+json"})"},
      {"no configuration, or no layers", R"({"layers":[]})"},
      {"is no digest of SHA-256", R"({"config":{"digest":"sha256:../x","size":1},"layers":[]})"},
      {"is said to have -1 bytes", R"({"config":{"digest":")" + OciDigest("x") + R"("},"layers":[]})"},
      {"is said to have 8589934592 bytes",
       R"({"config":{"digest":")" + OciDigest("x") + R"(","size":8589934592},"layers":[]})"},
      {"names no images", R"({"manifests":[]})"},
      {"is said to have 1 bytes", index(OciDigest(manifest), 1)},
      {"does not have the digest", index(OciDigest("other"), manifest.size())},
      {"a manifest is too large", std::string(kMaxImageManifest + 1, ' ')},
  };
  for (const HostileCase& c : cases) {
    auto read = ReadOciImage(c.text, {}, [&](const std::string&) { return Result<std::string>(manifest); });
    ASSERT_FALSE(read.ok()) << c.words;
    EXPECT_THAT(read.error().message, HasSubstr(c.words));
  }
  const std::string nested = index(OciDigest(index("x", 1)), index("x", 1).size());
  auto read = ReadOciImage(nested, {}, [&](const std::string&) { return Result<std::string>(index("x", 1)); });
  EXPECT_THAT(read.error().message, HasSubstr("an index of indexes isn't read"));
}

// Of what is held, a small archive or a registry that lies doesn't say how much it is.
TEST(Image, ManifestsAreBoundedTogether_L28) {
  const std::string manifest =
      R"({"config":{"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]})";
  auto entry = [](const std::string& text, size_t size) { return Json{{"digest", OciDigest(text)}, {"size", size}}; };
  int asked = 0;
  auto others = [&](const std::string&) {
    ++asked;
    return Result<std::string>(manifest);
  };
  Json index{{"manifests", Json::array()}};
  for (int i = 0; i < 200; ++i) index["manifests"].push_back(entry(manifest, manifest.size()));
  EXPECT_EQ(ReadOciImage(ToJsonText(index), {}, others)->manifests.size(), 2u);
  EXPECT_EQ(asked, 1) << "one that is named often is one";
  index["manifests"].push_back(entry(manifest, 1));
  index["manifests"].erase(0);
  EXPECT_THAT(ReadOciImage(ToJsonText(index), {}, others).error().message, HasSubstr("is said to have 1 bytes and"));
  index["manifests"].clear();
  for (const char* text : {"1", "2", "3", "4", "5"}) index["manifests"].push_back(entry(text, kMaxImageManifest));
  EXPECT_THAT(ReadOciImage(ToJsonText(index), {}, others).error().message, HasSubstr("more than 4 MiB together"));
  index["manifests"] = Json::array({entry(manifest, kMaxImageManifest + 1)});
  EXPECT_THAT(ReadOciImage(ToJsonText(index), {}, others).error().message, HasSubstr("said to have 1048577 bytes"));
  EXPECT_EQ(asked, 1) << "before any is read";
}

// Each byte once, in order.
TEST(Image, ABlobThatIsCutOffGoesOn_L28) {
  OciStandIn registry({});
  registry.PutImage("org/image", "v1", {}, "0123456789");
  int answers = 0;
  registry.set_store_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (!request.path.ends_with(OciDigest("0123456789"))) return std::nullopt;
    return ++answers < 3 ? std::optional(OciAnswer(200, std::string("0123456789").substr(0, answers * 3)))
                         : std::nullopt;
  });
  OciPull pull(At(registry, "org/image:v1"), {});
  EXPECT_EQ(BlobsOf(pull, pull.Image({}, {}).value()).at(OciDigest("0123456789")), "0123456789");
  EXPECT_EQ(answers, 3);
}

// Of the blob that this test is about. Without a request for a part all of it, as servers do that know none.
class Cuts {
 public:
  explicit Cuts(OciStandIn& registry, size_t most) {
    registry.PutImage("org/image", "v1", {}, "0123456789");
    registry.set_store_fault([this, most](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (!request.path.ends_with(OciDigest("0123456789"))) return std::nullopt;
      ranges.push_back(request.headers.Get("Range"));
      const size_t from = ranges.back().empty() ? 0 : std::stoul(ranges.back().substr(6));
      return OciAnswer(from > 0 ? 206 : 200, std::string("0123456789").substr(from, most));
    });
  }
  std::vector<std::string> ranges;
};

// However little each answer brings.
TEST(Image, ABlobGoesOnFromWhereItWasCutOff_L28) {
  OciStandIn registry({});
  Cuts cuts(registry, 3);
  OciPull pull(At(registry, "org/image:v1"), {});
  EXPECT_EQ(BlobsOf(pull, pull.Image({}, {}).value()).at(OciDigest("0123456789")), "0123456789");
  EXPECT_THAT(cuts.ranges, ElementsAre("", "bytes=3-", "bytes=6-", "bytes=9-"));
}

// Answers of a registry that is away for a moment, and what is waited for.
struct AwayCase {
  const char* about;
  int status;
  const char* retry_after;
  int times;
  std::vector<Seconds> waits;
  bool ends;
};

TEST(Image, ARegistryThatIsAwayIsAskedAgain_L28) {
  const AwayCase cases[] = {
      {"an outage", 503, "", 2, {Seconds(1), Seconds(2)}, false},
      {"a limit", 429, "7", 1, {Seconds(7)}, false},
      {"an outage that lasts", 502, "", 4, {Seconds(1), Seconds(2), Seconds(4)}, true},
      {"a limit of an hour", 429, "3600", 1, {}, true},
      {"no outage", 400, "", 1, {}, true},
  };
  for (const AwayCase& c : cases) {
    for (const char* what : {"/manifests/v1", "/blobs/"}) {
      SCOPED_TRACE(std::string(c.about) + " " + what);
      OciStandIn registry({});
      registry.PutImage("org/image", "v1", {}, "0123456789");
      int left = c.times, asked = 0;
      registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
        if (request.path.find(what) == std::string::npos) return std::nullopt;
        ++asked;
        if (left-- <= 0) return std::nullopt;
        http::Response answer = OciAnswer(c.status);
        if (*c.retry_after != 0) answer.headers.Set("Retry-After", c.retry_after);
        return answer;
      });
      HurriedClock clock;
      Context ctx;
      ctx.clock = &clock;
      OciPull pull(At(registry, "org/image:v1"), {});
      auto image = pull.Image(ctx, {});
      Status read = image.ok() ? Ok() : Status(image.error());
      if (read.ok()) read = pull.Blob(ctx, OciDigest("0123456789"), 10, [](std::string_view) { return Ok(); });
      EXPECT_EQ(read.ok(), !c.ends);
      EXPECT_EQ(clock.waits, c.waits);
      EXPECT_EQ(asked, c.ends ? c.times : c.times + 1);
    }
  }
}

TEST(Image, ABlobOfOtherBytesIsRefused_L28) {
  const std::pair<const char*, const char*> cases[] = {
      {"0123456780", "does not have the digest"}, {"01234567890", "has more bytes"}, {"01234", "5 of 10 bytes"}};
  for (const auto& [sent, words] : cases) {
    OciStandIn registry({});
    registry.PutImage("org/image", "v1", {}, "0123456789");
    registry.set_store_fault(
        [text = sent](const http::ServerRequest&) -> std::optional<http::Response> { return OciAnswer(200, text); });
    HurriedClock clock;
    Context ctx;
    ctx.clock = &clock;
    Status read =
        OciPull(At(registry, "org/image:v1"), {}).Blob(ctx, OciDigest("0123456789"), 10, [](std::string_view) {
          return Ok();
        });
    ASSERT_FALSE(read.ok()) << words;
    EXPECT_THAT(read.error().message, HasSubstr(words));
  }
}

std::vector<std::string> MethodsOf(const OciStandIn& registry) {
  std::vector<std::string> out;
  for (const OciRequest& one : registry.seen()) {
    if (one.method != "GET" && one.method != "HEAD") out.push_back(one.method);
  }
  return out;
}

TEST(Image, IsWrittenAsItWasRead_L28) {
  OciStandIn from({}), to({}, OciAuth::kBearer);
  const std::string digest = from.PutImage("org/image", "v1", kBoth, std::string(200'000, 'x'));
  OciPull pull(At(from, "org/image:v1"), {});
  const OciImage image = pull.Image({}, {}).value();
  const Blobs blobs = BlobsOf(pull, image);
  OciOptions options;
  options.credentials = {.username = std::string(kOciUser), .password = std::string(kOciPassword)};
  Status written = OciPush(At(to, "org/provider:v1"), options, 90'000).WriteImage({}, image, PieceOf(blobs), {}, "");
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
    return OciPush(At(to, "org/provider:v1"), std::move(options), 4).WriteImage(ctx, image_, PieceOf(blobs_), {}, "");
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
      {"134217729", {"POST"}, "in pieces of 134217729 bytes at least"},
      {"many", {"POST"}, "in pieces of many bytes"}};
  for (const auto& [least, methods, words] : cases) {
    SCOPED_TRACE(least);
    Sending sending;
    sending.to.set_registry_fault([text = least](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (request.method != "POST") return std::nullopt;
      http::Response answer = OciAnswer(202, "");
      answer.headers.Set("Location", request.path + "1?state=a%2Fb");
      answer.headers.Set("OCI-Chunk-Min-Length", text);
      return answer;
    });
    Status sent = sending.Send();
    EXPECT_EQ(sending.Methods(), methods);
    ASSERT_EQ(sent.ok(), *words == 0);
    EXPECT_THAT(sent.ok() ? "" : sent.error().message, HasSubstr(words));
  }
}

// From its beginning: what the registry has of it nobody knows.
TEST(Image, ABlobThatBreaksOffIsSentAgain_L28) {
  const std::pair<int, std::vector<std::string>> cases[] = {
      {1, {"POST", "PATCH", "PATCH", "POST", "PATCH", "PATCH", "PUT", "PUT"}},
      {3, {"POST", "PATCH", "PATCH", "POST", "PATCH", "POST", "PATCH", "POST", "PATCH", "PATCH", "PUT", "PUT"}},
      {4, {"POST", "PATCH", "PATCH", "POST", "PATCH", "POST", "PATCH", "POST", "PATCH"}}};
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
  }
}

// A registry may have to read again what it got, which is of many GB. How long it takes, another call tells that ends
// with the time of each request.
TEST(Image, APieceHasMoreTimeThanOtherRequests_L28) {
  http_testing::RawServer silent([](http_testing::Peer& peer, int) { peer.WaitForEnd(); });
  OciOptions options;
  options.request_timeout = Seconds(1);
  Sending sending;
  std::map<std::string, int> seen;
  sending.to.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    const bool first = request.path.find("/uploads/") != std::string::npos && ++seen[request.method] == 1;
    if (first && request.method != "POST") {
      OciPush other(*api::ParseOciReference(silent.url() + "/org/provider:v1"), options);
      EXPECT_EQ(other.Tagged({}).code(), Code::kUnavailable);
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
