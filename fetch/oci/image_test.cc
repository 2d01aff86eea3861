#include "fetch/oci/image.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/oci/artifact.h"
#include "fetch/oci/image_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kBoth = {"linux/amd64", "linux/arm64"};

std::vector<Platform> For(const char* platform) { return {*ParsePlatform(platform)}; }

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

// Of the blob that this test is about, what `answer` gives: of its bytes those from `from` on.
class Cuts {
 public:
  using Answer = std::function<http::Response(size_t asked, bool by_range, std::string_view rest)>;
  Cuts(std::string layer, Answer answer) : layer_(std::move(layer)), answer_(std::move(answer)) {
    registry_.PutImage("org/image", "v1", {}, layer_);
    registry_.set_store_fault([this](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (!request.path.ends_with(OciDigest(layer_))) return std::nullopt;
      ranges.push_back(request.headers.Get("Range"));
      const size_t from = ranges.back().empty() ? 0 : std::stoul(ranges.back().substr(6));
      return answer_(ranges.size(), from > 0, std::string_view(layer_).substr(from));
    });
  }
  // Whether each byte came once, in order.
  bool Comes(const Context& ctx, const OciOptions& options = {}) {
    std::string came;
    Status read =
        OciPull(At(registry_, "org/image:v1"), options)
            .Blob(ctx, OciDigest(layer_), layer_.size(), [&](std::string_view piece) { return came += piece, Ok(); });
    why = read.ok() ? "" : read.error().message;
    return read.ok() && came == layer_;
  }
  std::vector<std::string> ranges;
  std::string why;  // it didn't

 private:
  const std::string layer_;
  const Answer answer_;
  OciStandIn registry_{std::map<std::string, OciArtifact>()};
};

// Without a request for a part all of it, as servers do that know none.
TEST(Image, ABlobThatIsCutOffGoesOn_L28) {
  Cuts cuts("0123456789", [](size_t asked, bool, std::string_view) {
    return OciAnswer(200, std::string("0123456789").substr(0, asked < 3 ? asked * 3 : 10));
  });
  EXPECT_TRUE(cuts.Comes(Hurried()));
  EXPECT_EQ(cuts.ranges.size(), 3u);
}

TEST(Image, ABlobGoesOnFromWhereItWasCutOff_L28) {
  Cuts cuts("0123456789", [](size_t, bool by_range, std::string_view rest) {
    return OciAnswer(by_range ? 206 : 200, std::string(rest.substr(0, 3)));
  });
  EXPECT_TRUE(cuts.Comes(Hurried()));
  EXPECT_THAT(cuts.ranges, ElementsAre("", "bytes=3-", "bytes=6-", "bytes=9-"));
}

// As a proxy may.
TEST(Image, WhoRefusesAPartIsAskedForAllOfIt_L28) {
  for (int refusal : {400, 416, 501}) {
    Cuts cuts("0123456789", [&](size_t asked, bool by_range, std::string_view rest) {
      return OciAnswer(by_range ? refusal : 200, by_range ? "" : std::string(rest.substr(0, asked == 1 ? 3 : 10)));
    });
    EXPECT_TRUE(cuts.Comes(Hurried())) << refusal;
    EXPECT_THAT(cuts.ranges, ElementsAre("", "bytes=3-", ""));
  }
}

// What brings something begins the tries anew: however often it breaks, a large one comes.
TEST(Image, ABlobComesInHoweverManyTries_L28) {
  constexpr size_t kMiB = 1u << 20;
  Cuts cuts(std::string(6 * kMiB, 'x'), [](size_t asked, bool by_range, std::string_view rest) {
    if (asked % 2 == 0) return OciAnswer(503);
    return OciAnswer(by_range ? 206 : 200, std::string(rest.substr(0, kMiB)));
  });
  Hurried ctx;
  EXPECT_TRUE(cuts.Comes(ctx));
  EXPECT_EQ(ctx.own.waits.size(), 10u);
  for (size_t i = 0; i < ctx.own.waits.size(); ++i) EXPECT_EQ(ctx.own.waits[i], Seconds(i % 2 + 1)) << i;
}

// A connection for each byte is no progress.
TEST(Image, ABlobThatHardlyComesIsAnOutage_L28) {
  Cuts cuts("0123456789", [](size_t, bool by_range, std::string_view rest) {
    return OciAnswer(by_range ? 206 : 200, std::string(rest.substr(0, 1)));
  });
  EXPECT_FALSE(cuts.Comes(Hurried()));
  EXPECT_EQ(cuts.ranges.size(), 4u);
}

// Each look at it takes so long, and nothing else does: so does a connection on which little comes.
class SlowClock : public HurriedClock {
 public:
  explicit SlowClock(Millis look) : look_(look) {}
  WallTime Now() override { return WallTime() + hurried_ + looks_ * look_; }
  MonoTime Monotonic() override { return MonoTime() + hurried_ + ++looks_ * look_; }

 private:
  const Millis look_;
  int looks_ = 0;
};

// As long as that asks.
OciOptions Patient() {
  OciOptions options;
  options.request_timeout = options.connect_timeout = std::chrono::hours(1);
  return options;
}

TEST(Image, ABlobThatHardlyComesForHalfAnHourIsAnOutage_L28) {
  Cuts cuts(std::string(900'000, 'x'), [](size_t, bool by_range, std::string_view rest) {
    return OciAnswer(by_range ? 206 : 200, std::string(rest));
  });
  SlowClock clock(Seconds(600));
  Context ctx;
  ctx.clock = &clock;
  EXPECT_FALSE(cuts.Comes(ctx, Patient()));
  EXPECT_THAT(cuts.why, HasSubstr("it is too slow: "));
  EXPECT_EQ(cuts.ranges.size(), 4u);
}

// What is there comes once more where a part can't be had, and takes as long as it did.
TEST(Image, ABlobComesHoweverLongItsBeginningTakesOnceMore_L28) {
  // What comes, comes in pieces of 32 KiB at most, with two looks for each: 32 minutes are the least that all of it
  // takes. A MiB, which has half an hour, may come in six hundred pieces, as it does on a busy machine.
  constexpr size_t kSize = 20u << 20;
  Cuts cuts(std::string(kSize, 'x'), [](size_t asked, bool, std::string_view) {
    return OciAnswer(200, std::string(asked < 3 ? kSize - 1 : kSize, 'x'));
  });
  SlowClock clock(Millis(1500));
  Context ctx;
  ctx.clock = &clock;
  const MonoTime begun = clock.Monotonic();
  EXPECT_TRUE(cuts.Comes(ctx, Patient())) << cuts.why;
  EXPECT_EQ(cuts.ranges.size(), 3u);
  EXPECT_GT(clock.Monotonic() - begun, std::chrono::minutes(90)) << "half an hour for each";
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
      {"a limit that says nothing", 429, "", 2, {Seconds(1), Seconds(2)}, false},
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
      std::vector<std::string> told;
      OciPull pull(At(registry, "org/image:v1"), {}, [&](const Error& why, Millis) { told.push_back(why.message); });
      auto image = pull.Image(ctx, {});
      Status read = image.ok() ? Ok() : Status(image.error());
      if (read.ok()) read = pull.Blob(ctx, OciDigest("0123456789"), 10, [](std::string_view) { return Ok(); });
      EXPECT_EQ(read.ok(), !c.ends);
      EXPECT_EQ(clock.waits, c.waits);
      EXPECT_EQ(told.size(), c.waits.size());
      EXPECT_THAT(told, testing::Each(HasSubstr("registry " + registry.host())));
      EXPECT_EQ(asked, c.ends ? c.times : c.times + 1);
    }
  }
}

TEST(Image, WhoStopsAWaitIsNotAskedAgain_L28) {
  OciStandIn registry({});
  std::stop_source stop;
  registry.set_registry_fault(
      [](const http::ServerRequest&) -> std::optional<http::Response> { return OciAnswer(503); });
  Hurried ctx;
  ctx.stop = stop.get_token();
  OciPull pull(At(registry, "org/image:v1"), {}, [&](const Error&, Millis) { stop.request_stop(); });
  const auto image = pull.Image(ctx, {});
  EXPECT_EQ(image.code(), Code::kCancelled);
  EXPECT_THAT(image.error().message, HasSubstr("is in trouble: HTTP 503"));
  EXPECT_EQ(registry.seen().size(), 1u);
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

}  // namespace
}  // namespace capi::fetch
