#include "fetch/oci/push.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/testing.h"
#include "fetch/oci/oci_testing.h"

namespace capi::fetch {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

const std::map<std::string, std::string>& Files() {
  static const std::map<std::string, std::string> files = {{"metadata.yaml", std::string(kOciMetadata)},
                                                           {"infrastructure-components.yaml", "kind: Namespace\n"}};
  return files;
}

PackedArtifact Packed() { return PackArtifact(kReleaseArtifact, Files()); }

api::OciReference ReferenceOf(const OciStandIn& registry, std::string_view tag = ":v1.11.0") {
  return *api::ParseOciReference(registry.reference(tag));
}

OciOptions WithPassword() {
  OciOptions options;
  options.credentials = {.username = std::string(kOciUser), .password = std::string(kOciPassword)};
  return options;
}

// L26: no time, no order of one's own, and no name of a machine.
TEST(Artifact, TheSameFilesAreTheSameBytes_L26) {
  const PackedArtifact packed = Packed();
  EXPECT_EQ(
      packed.manifest,
      R"({"artifactType":"application/vnd.capi-operator.release.v1","config":{"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","mediaType":"application/vnd.oci.empty.v1+json","size":2},"layers":[{"annotations":{"org.opencontainers.image.title":"infrastructure-components.yaml"},"digest":")" +
          OciDigest("kind: Namespace\n") +
          R"(","mediaType":"application/octet-stream","size":16},{"annotations":{"org.opencontainers.image.title":"metadata.yaml"},"digest":")" +
          OciDigest(kOciMetadata) +
          fmt::format(
              R"(","mediaType":"application/octet-stream","size":{}}}],"mediaType":"application/vnd.oci.image.manifest.v1+json","schemaVersion":2}})",
              kOciMetadata.size()));
  EXPECT_EQ(packed.blobs.size(), 3u);
  EXPECT_EQ(packed.blobs.at(OciDigest("{}")), "{}");
}

TEST(Push, WhatWasPushedIsRead_L26) {
  for (OciAuth auth : {OciAuth::kNone, OciAuth::kBasic, OciAuth::kBearer}) {
    OciStandIn registry({}, auth);
    OciPush push(ReferenceOf(registry), WithPassword());
    EXPECT_EQ(push.Tagged({}).value(), "");
    Status written = push.Write({}, Packed());
    ASSERT_TRUE(written.ok()) << written.error().message;
    EXPECT_EQ(push.Tagged({}).value(), OciDigest(Packed().manifest));
    auto release = GetRelease({}, *registry.Open("", WithPassword()), *api::Version::Parse("v1.11.0"));
    ASSERT_TRUE(release.ok()) << release.error().message;
    EXPECT_EQ(release->metadata, kOciMetadata);
    EXPECT_EQ(release->components, "kind: Namespace\n");
  }
}

std::vector<std::string> WritesOf(const OciStandIn& registry) {
  std::vector<std::string> out;
  for (const OciRequest& one : registry.seen()) {
    if (one.method != "GET" && one.method != "HEAD") out.push_back(one.method + " " + one.target.substr(0, 31));
  }
  return out;
}

// L26: the answer to the first request, which reads, names the right to pull alone, or another repository's.
TEST(Push, AsksForTheRightToPush_L26) {
  const std::string own = "scope=repository%3Aorg%2Fprovider%3Apull%2Cpush", other = "scope=repository%3Aa%3Apull";
  const std::pair<const char*, std::string> cases[] = {
      {"", own},
      {"repository:org/provider:pull", own},
      {"repository:a:pull", other + "&" + own},
      {"repository:a:pull repository:org/provider:pull", other + "&" + own}};
  for (const auto& [named, asked] : cases) {
    SCOPED_TRACE(named);
    OciStandIn registry({}, OciAuth::kBearer);
    std::string target;
    registry.set_token_fault([&target](const http::ServerRequest& request) -> std::optional<http::Response> {
      target = request.query;
      return std::nullopt;
    });
    registry.set_registry_fault(
        [&, scope = named](const http::ServerRequest& request) -> std::optional<http::Response> {
          if (request.headers.Has("Authorization")) return std::nullopt;
          http::Response answer = OciAnswer(401);
          answer.headers.Set("WWW-Authenticate",
                             fmt::format(R"(Bearer realm="http://{}/token",scope="{}")", registry.token_host(), scope));
          return answer;
        });
    EXPECT_TRUE(OciPush(ReferenceOf(registry), WithPassword()).Write({}, Packed()).ok());
    EXPECT_EQ(target, asked);
    OciOptions refreshed;
    refreshed.credentials.refresh_token = kOciRefresh;
    EXPECT_TRUE(OciPush(ReferenceOf(registry, ":v1.12.0"), refreshed).Write({}, Packed()).ok());
  }
}

// L28: without it what broke off stays; who doesn't get it goes on with what was had before.
TEST(Push, AsksForTheRightToTakeBackWhatBrokeOff_L26_L28) {
  for (const bool given : {true, false}) {
    for (const char* by : {"password", "refresh token"}) {
      SCOPED_TRACE(fmt::format("{} {}", by, given));
      OciStandIn registry({}, OciAuth::kBearer);
      int broken = 0;
      registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
        return request.method == "PUT" && ++broken == 1 ? std::optional(OciAnswer(502)) : std::nullopt;
      });
      registry.set_token_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
        const bool asked = (request.query + request.body).find("%3Adelete") != std::string::npos;
        return asked && !given ? std::optional(OciAnswer(200, R"({"token":"token-1"})")) : std::nullopt;
      });
      OciOptions options = WithPassword();
      if (*by == 'r') options.credentials = {.refresh_token = std::string(kOciRefresh)};
      HurriedClock clock;
      Context ctx;
      ctx.clock = &clock;
      Status written = OciPush(ReferenceOf(registry), options).Write(ctx, Packed());
      EXPECT_TRUE(written.ok()) << written.error().message;
      EXPECT_EQ(registry.uploads(), given ? 0u : 1u);
      const auto seen = registry.seen();
      EXPECT_EQ(
          std::count_if(seen.begin(), seen.end(),
                        [](const OciRequest& one) { return one.host == "registry" && one.authorization.empty(); }),
          1);
    }
  }
}

// What is there isn't sent again.
TEST(Push, WhatIsThereIsNotSent_L26) {
  OciStandIn registry({{"v1.10.0", PlainArtifact()}});
  OciPush push(ReferenceOf(registry), {});
  ASSERT_TRUE(push.Write({}, Packed()).ok());
  EXPECT_THAT(WritesOf(registry),
              ElementsAre("POST /v2/org/provider/blobs/uploads/", "PUT /v2/org/provider/blobs/uploads/",
                          "PUT /v2/org/provider/manifests/v1.1"));
}

// Between a look and the writing somebody else may have pushed.
TEST(Push, ATagThatChangedMeanwhileIsLeftAlone_L26) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}});
  const std::string theirs = registry.digest("v1.11.0");
  OciPush push(ReferenceOf(registry), {});
  Status refused = push.Write({}, Packed(), "");
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("since a moment ago"));
  EXPECT_EQ(registry.digest("v1.11.0"), theirs);
  EXPECT_TRUE(push.Write({}, Packed(), theirs).ok());
  EXPECT_TRUE(push.Write({}, Packed(), theirs).ok());  // it names this one by now
}

// L28: a registry whose tags stay refuses to be told the same once more.
TEST(Push, ATagWhoseAnswerWasLostIsNotWrittenAgain_L26_L28) {
  OciStandIn registry({});
  int tags = 0;
  registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (request.method != "PUT" || request.path.find("/manifests/") == std::string::npos || ++tags != 1)
      return std::nullopt;
    EXPECT_TRUE(OciPush(ReferenceOf(registry), {}).Write({}, Packed()).ok());
    return OciAnswer(502);
  });
  HurriedClock clock;
  Context ctx;
  ctx.clock = &clock;
  Status written = OciPush(ReferenceOf(registry), {}).Write(ctx, Packed(), "");
  EXPECT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(tags, 2);
}

struct AwayCase {
  const char *method, *part;
};

// L28: each request of it.
TEST(Push, ARegistryThatIsAwayIsAskedAgain_L26_L28) {
  const AwayCase cases[] = {
      {"POST", "/uploads/"}, {"PUT", "/uploads/"}, {"PUT", "/manifests/"}, {"GET", "/manifests/"}};
  for (const AwayCase& c : cases) {
    SCOPED_TRACE(std::string(c.method) + c.part);
    OciStandIn registry({});
    int asked = 0;
    registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
      const bool is_it = request.method == c.method && request.path.find(c.part) != std::string::npos;
      return is_it && ++asked == 1 ? std::optional(OciAnswer(502)) : std::nullopt;
    });
    HurriedClock clock;
    Context ctx;
    ctx.clock = &clock;
    OciPush push(ReferenceOf(registry), {});
    EXPECT_EQ(push.Tagged(ctx).value(), "");
    Status written = push.Write(ctx, Packed(), "");
    EXPECT_TRUE(written.ok()) << written.error().message;
    EXPECT_THAT(clock.waits, ElementsAre(Seconds(1)));
    EXPECT_EQ(registry.uploads(), 0u);
  }
}

struct BrokenCase {
  const char* about;
  std::function<std::optional<http::Response>(const http::ServerRequest&)> fault;
  std::optional<Code> code;  // unset: it is written all the same
  const char* words;
};

std::optional<http::Response> On(const http::ServerRequest& request, std::string_view method, std::string_view part,
                                 http::Response answer) {
  if (request.method != method || request.path.find(part) == std::string::npos) return std::nullopt;
  return answer;
}

http::Response With(int status, std::string_view name, std::string_view value) {
  http::Response answer = OciAnswer(status, "");
  answer.headers.Set(name, value);
  return answer;
}

const std::vector<BrokenCase>& BrokenCases() {
  using R = http::ServerRequest;
  static const std::vector<BrokenCase> cases = {
      {"no place", [](const R& r) { return On(r, "POST", "uploads", OciAnswer(202, "")); }, Code::kInvalidArgument,
       "names no place to send a file to"},
      {"a place elsewhere",
       [](const R& r) { return On(r, "POST", "uploads", With(202, "Location", "http://127.0.0.1:1/x?y")); },
       Code::kInvalidArgument, "sent to another host, which gets none: http://127.0.0.1:1/x"},
      {"an upload that is redirected",
       [](const R& r) { return On(r, "PUT", "uploads", With(307, "Location", "http://127.0.0.1:1/")); },
       Code::kInvalidArgument, "answered HTTP 307"},
      {"read only",
       [](const R& r) { return On(r, "POST", "", OciAnswer(405, R"({"errors":[{"code":"UNSUPPORTED"}]})")); },
       Code::kInvalidArgument, "answered HTTP 405 UNSUPPORTED"},
      {"no right", [](const R& r) { return On(r, "POST", "", OciAnswer(403, R"({"errors":[{"code":"DENIED"}]})")); },
       Code::kPermissionDenied, "denied access: HTTP 403 DENIED"},
      {"another file",
       [](const R& r) { return On(r, "PUT", "uploads", With(201, "Docker-Content-Digest", "sha256:0")); },
       Code::kFailedPrecondition, "has stored sha256:0, and was sent sha256:"},
      {"another manifest",
       [](const R& r) { return On(r, "PUT", "manifests", With(201, "Docker-Content-Digest", "sha256:1")); },
       Code::kFailedPrecondition, "has stored sha256:1"},
      {"a manifest that isn't kept", [](const R& r) { return On(r, "PUT", "manifests", OciAnswer(201, "")); },
       Code::kFailedPrecondition, "the tag names nothing after it was written"},
      {"one of somebody else", [](const R& r) { return On(r, "GET", "manifests", OciAnswer(200, "{}")); },
       Code::kFailedPrecondition, "does somebody else write it, too?"},
      {"files that it has not", [](const R& r) { return On(r, "HEAD", "blobs", OciAnswer(200, "")); },
       Code::kInvalidArgument, "answered HTTP 400 MANIFEST_BLOB_UNKNOWN"},
      {"a store that refuses HEAD", [](const R& r) { return On(r, "HEAD", "blobs", OciAnswer(503, "")); }, std::nullopt,
       ""},
      {"an outage", [](const R& r) { return On(r, "PUT", "uploads", OciAnswer(502, "")); }, Code::kUnavailable,
       "is in trouble: HTTP 502"},
      {"a limit", [](const R& r) { return On(r, "HEAD", "", With(429, "Retry-After", "7")); }, Code::kRateLimited,
       "limits requests (HTTP 429)"},
      {"a page", [](const R& r) { return On(r, "GET", "manifests", OciAnswer(200, "<html>")); }, Code::kInvalidArgument,
       "answered with HTML"},
      {"an answer without an end",
       [](const R& r) { return On(r, "PUT", "uploads", OciAnswer(201, std::string(2u << 20, 'x'))); },
       Code::kInvalidArgument, ""},
  };
  return cases;
}

TEST(PushBroken, AServerThatLiesOrFailsIsNoSuccess_L26) {
  for (const BrokenCase& c : BrokenCases()) {
    SCOPED_TRACE(c.about);
    OciStandIn registry({});
    registry.set_registry_fault(c.fault);
    HurriedClock clock;
    Context ctx;
    ctx.clock = &clock;
    Status written = OciPush(ReferenceOf(registry), {}).Write(ctx, Packed());
    EXPECT_EQ(written.ok(), !c.code.has_value()) << (written.ok() ? "" : written.error().message);
    if (written.ok()) continue;
    EXPECT_EQ(written.code(), c.code) << written.error().message;
    EXPECT_THAT(written.error().message, AllOf(HasSubstr(c.words), HasSubstr("failed to write http://127.0.0.1:")));
  }
}

// T9: who gets the credentials.
TEST(PushBroken, NobodyElseGetsTheCredentials_L26) {
  OciStandIn registry({}, OciAuth::kBasic), other({});
  registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (request.headers.Get("Authorization").empty()) return std::nullopt;
    http::Response answer =
        With(request.method == "HEAD" ? 307 : 202, "Location", "http://" + other.host() + "/v2/org/provider/x");
    return answer;
  });
  EXPECT_FALSE(OciPush(ReferenceOf(registry), WithPassword()).Write({}, Packed()).ok());
  EXPECT_THAT(other.seen(), Each(AllOf(Field(&OciRequest::authorization, ""), Field(&OciRequest::method, "HEAD"))));
}

TEST(PushBroken, CredentialsThatAreWrongAreNotShown_L26) {
  OciStandIn registry({}, OciAuth::kBearer);
  OciOptions options;
  options.credentials = {.username = "robot", .password = "wr0ng"};
  Status written = OciPush(ReferenceOf(registry), options).Write({}, Packed());
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.code(), Code::kUnauthenticated);
  EXPECT_THAT(written.error().message, AllOf(HasSubstr("OCI_USERNAME"), Not(HasSubstr("wr0ng"))));
  EXPECT_FALSE(OciPush(ReferenceOf(registry), {}).Tagged({}).ok());
}

// The time is bounded, and half an answer is none.
TEST(PushBroken, ASilentOrBrokenOffServer_L26) {
  http_testing::RawServer silent([](http_testing::Peer& peer, int) { peer.WaitForEnd(); });
  http_testing::RawServer half([](http_testing::Peer& peer, int) {
    peer.ReadRequest();
    peer.Write("HTTP/1.1 201 x\r\nContent-Length: 10\r\n\r\nhalf");
  });
  for (const std::string& url : {silent.url(), half.url()}) {
    OciOptions options;
    options.request_timeout = Millis(100);
    OciPush push(*api::ParseOciReference(url + "/org/provider:v1.11.0"), options);
    HurriedClock clock;
    Context ctx;
    ctx.clock = &clock;
    Status written = push.Write(ctx, Packed());
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.code(), Code::kUnavailable) << written.error().message;
    EXPECT_EQ(push.Tagged(ctx).code(), Code::kUnavailable);
  }
}

}  // namespace
}  // namespace capi::fetch
