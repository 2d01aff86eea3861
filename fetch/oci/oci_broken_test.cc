// Registries that fail, lie, or want what they must not have.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/encoding.h"
#include "base/files.h"
#include "base/http/testing.h"
#include "base/http/url.h"
#include "base/testing/temp_folder.h"
#include "fetch/oci/oci_testing.h"

namespace capi::fetch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

api::Version V(std::string_view text) { return *api::Version::Parse(text); }

std::optional<http::Response> Only(const http::ServerRequest& request, std::string_view part, http::Response answer) {
  return request.path.find(part) == std::string::npos ? std::nullopt : std::optional(std::move(answer));
}

OciOptions WithPassword() {
  OciOptions options;
  options.credentials = {.username = std::string(kOciUser), .password = std::string(kOciPassword)};
  return options;
}

void ExpectFails(Repository& repository, Code code, std::string_view words) {
  auto file = repository.File({}, V("v1.11.0"), "metadata.yaml");
  ASSERT_FALSE(file.ok()) << words;
  EXPECT_EQ(file.code(), code) << file.error().message;
  EXPECT_THAT(file.error().message, AllOf(HasSubstr(std::string(words)), HasSubstr("failed to get metadata.yaml of ")));
  EXPECT_THAT(file.error().message, AllOf(Not(HasSubstr("s3cret")), Not(HasSubstr("token-1"))));
}

struct StatusCase {
  int status;
  const char* body;
  Code code;
  const char* words;
};

TEST(OciBroken, AnAnswerSaysWhatToDo_F1) {
  const StatusCase cases[] = {
      {400, R"({"errors":[{"code":"NAME_INVALID","message":"s3cret"}]})", Code::kInvalidArgument,
       "answered HTTP 400 NAME_INVALID"},
      {401, "{}", Code::kUnauthenticated, "asks for credentials (HTTP 401): give it OCI_USERNAME"},
      {403, R"({"errors":[{"code":"DENIED"}]})", Code::kPermissionDenied, "denied access: HTTP 403 DENIED"},
      {404, "<html>", Code::kNotFound, "there is no tag v1.11.0"},
      {418, R"({"errors":[{"code":"a s3cret code"}]})", Code::kInvalidArgument, "answered HTTP 418"},
      {500, "", Code::kUnavailable, "is in trouble: HTTP 500"},
      {503, "{", Code::kUnavailable, "is in trouble: HTTP 503"},
      {200, "<!doctype html><html>", Code::kInvalidArgument, "answered with HTML"},
      {200, "[]", Code::kInvalidArgument, "no manifest of an artifact"},
  };
  for (const StatusCase& c : cases) {
    SCOPED_TRACE(c.status);
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    registry.set_registry_fault(
        [&](const http::ServerRequest& request) { return Only(request, "manifests/", OciAnswer(c.status, c.body)); });
    ExpectFails(*registry.Open(), c.code, c.words);
  }
}

TEST(OciBroken, ALimitOfRequestsSaysWhenToComeAgain_F1) {
  const std::pair<const char*, Seconds> cases[] = {{"", Seconds(60)},
                                                   {"30", Seconds(30)},
                                                   {"0", Seconds(1)},
                                                   {"99999999999999999999", Seconds(60)},
                                                   {"9999999999", Seconds(24 * 3600)},
                                                   {"tomorrow", Seconds(60)}};
  for (const auto& [header, wait] : cases) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    http::Response answer = OciAnswer(429, R"({"errors":[{"code":"TOOMANYREQUESTS"}]})");
    if (*header != 0) answer.headers.Set("Retry-After", header);
    registry.set_registry_fault([&](const http::ServerRequest&) { return std::optional(answer); });
    auto versions = registry.Open()->Versions({});
    ASSERT_FALSE(versions.ok());
    EXPECT_EQ(versions.code(), Code::kRateLimited);
    EXPECT_EQ(versions.error().retry_after, wait) << header;
    EXPECT_THAT(versions.error().message, HasSubstr("limits requests (HTTP 429 TOOMANYREQUESTS)"));
  }
}

std::string ManifestWith(const std::string& digest, std::int64_t size) {
  return fmt::format(
      R"({{"layers":[{{"digest":"{}","size":{},"annotations":{{"org.opencontainers.image.title":"metadata.yaml"}}}}]}})",
      digest, size);
}

// Every length and digest that is named is what came, or nothing is taken.
TEST(OciBroken, WhatWasNotNamedIsNotTaken_T9) {
  const std::string right = "sha256:" + Sha256Hex(kOciMetadata), other = "sha256:" + Sha256Hex("other");
  const auto size = static_cast<std::int64_t>(kOciMetadata.size());
  const std::tuple<std::string, Code, const char*> cases[] = {
      {ManifestWith(right, size + 1), Code::kFailedPrecondition, "its manifest says"},  // as it is with each try
      {ManifestWith(right, size - 1), Code::kFailedPrecondition, "its manifest says"},
      {ManifestWith("sha512:12", size), Code::kFailedPrecondition, "no kind that is checked: \"sha512:12\""},
      {ManifestWith("sha256:\\n" + std::string(200, 'a'), size), Code::kFailedPrecondition,
       "checked: \"sha256:\\naaaaaaaa"},
      {ManifestWith("", size), Code::kFailedPrecondition, "no kind that is checked"},
      {ManifestWith("sha256:../../secret", size), Code::kFailedPrecondition, "no kind that is checked"},
      {ManifestWith(right, -1), Code::kInvalidArgument, "is too large"},
      {ManifestWith(right, 7 << 20), Code::kInvalidArgument, "is too large: 7340032 bytes"},
      {ManifestWith(other, size), Code::kNotFound, "HTTP 404 BLOB_UNKNOWN"},
  };
  for (const auto& [manifest, code, words] : cases) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    registry.set_registry_fault([&, &text = manifest](const http::ServerRequest& request) {
      return Only(request, "manifests/", OciAnswer(200, text));
    });
    ExpectFails(*registry.Open(), code, words);
  }
}

TEST(OciBroken, AChangedByteIsNoticed_T9) {
  for (size_t at : {size_t{0}, kOciMetadata.size() / 2, kOciMetadata.size() - 1}) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    std::string changed(kOciMetadata);
    changed[at] ^= 1;
    registry.set_store_fault([&](const http::ServerRequest&) { return std::optional(OciAnswer(200, changed)); });
    ExpectFails(*registry.Open(), Code::kFailedPrecondition,
                "metadata.yaml: what came does not have the digest sha256:");
  }
}

TEST(OciBroken, AnotherManifestIsNoticed_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}});
  const std::string manifest =
      ManifestWith("sha256:" + Sha256Hex(kOciMetadata), static_cast<std::int64_t>(kOciMetadata.size()));
  http::Response answer = OciAnswer(200, manifest);
  registry.set_registry_fault([&](const http::ServerRequest& request) { return Only(request, "manifests/", answer); });
  ExpectFails(*registry.Open("@" + registry.digest("v1.11.0")), Code::kFailedPrecondition, "its manifest: what came");
  answer.headers.Set("Docker-Content-Digest", registry.digest("v1.11.0"));
  ExpectFails(*registry.Open(), Code::kFailedPrecondition, "its manifest: what came");
}

TEST(OciBroken, WhatIsLargerThanItMayBeIsNotRead_F2) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}});
  registry.set_store_fault(
      [](const http::ServerRequest&) { return std::optional(OciAnswer(200, std::string(1 << 20, 'a'))); });
  OciOptions options;
  options.max_file = 1000;
  ExpectFails(*registry.Open("", options), Code::kInvalidArgument, "larger than 1000 bytes");
  options.max_answer = 10;
  ExpectFails(*registry.Open("", options), Code::kInvalidArgument, "larger than 10 bytes");
  EXPECT_THAT(registry.Open("", options)->Versions({}).error().message, HasSubstr("larger than 10 bytes"));
}

TEST(OciBroken, APageOfAnotherHostOrWithoutEndIsNotAskedFor_T9) {
  const std::pair<std::string, const char*> cases[] = {
      {"<http://127.0.0.1:1/v2/org/provider/tags/list>; rel=\"next\"", "on another host: http://127.0.0.1:1/v2"},
      {"<https://user:s3cret@example.com/x>; rel=next", "on another host: https://example.com/x"},
      {"</v2/org/provider/tags/list?last=a>; rel=\"next\"", "does not end"},
      {"<ftp://a/b>; rel=\"next\"", "the next page"},
  };
  for (const auto& [link, words] : cases) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    http::Response answer = OciAnswer(200, R"({"tags":["v1.0.0"]})");
    answer.headers.Set("Link", link);
    registry.set_registry_fault([&](const http::ServerRequest&) { return std::optional(answer); });
    auto versions = registry.Open()->Versions({});
    ASSERT_FALSE(versions.ok()) << link;
    EXPECT_EQ(versions.code(), Code::kInvalidArgument);
    EXPECT_THAT(versions.error().message, AllOf(HasSubstr(words), Not(HasSubstr("s3cret"))));
  }
}

TEST(OciBroken, AListOfTagsIsOne_F2) {
  for (const char* text : {"{}", "[]", R"({"tags":"v1.0.0"})", "<html>", ""}) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    registry.set_registry_fault([&](const http::ServerRequest&) { return std::optional(OciAnswer(200, text)); });
    auto versions = registry.Open()->Versions({});
    ASSERT_FALSE(versions.ok()) << text;
    EXPECT_EQ(versions.code(), Code::kInvalidArgument);
  }
  OciStandIn empty({});
  empty.set_registry_fault(
      [](const http::ServerRequest&) { return std::optional(OciAnswer(200, R"({"tags":null})")); });
  EXPECT_TRUE(empty.Open()->Versions({})->empty());
}

TEST(OciBroken, WrongCredentialsAreToldAndNotShown_F1) {
  OciOptions wrong = WithPassword();
  wrong.credentials.password = "an0ther-s3cret";
  const std::pair<OciAuth, const char*> cases[] = {
      {OciAuth::kBasic, " refused the credentials (HTTP 401 UNAUTHORIZED): correct OCI_USERNAME"},
      {OciAuth::kBearer, "/token refused the credentials (HTTP 401)"},
  };
  for (const auto& [auth, words] : cases) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}}, auth);
    ExpectFails(*registry.Open("", wrong), Code::kUnauthenticated, words);
    EXPECT_EQ(registry.seen().size(), 2u) << "not again and again";
  }
  OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBasic);
  ExpectFails(*registry.Open(), Code::kUnauthenticated, "give it OCI_USERNAME and OCI_PASSWORD");
}

TEST(OciBroken, ATokenServerThatFailsIsNamed_F1) {
  const StatusCase cases[] = {
      {200, "{}", Code::kInvalidArgument, "/token gave no token"},
      {200, "not JSON", Code::kInvalidArgument, "/token gave no token"},
      {200, R"({"token":" \n"})", Code::kInvalidArgument, "/token gave no token"},
      {200, R"({"token":"a\r\nX-Evil: s3cret"})", Code::kInvalidArgument, "characters that no token has"},
      {403, "", Code::kPermissionDenied, "/token denied access"},
      {404, "", Code::kInvalidArgument, "/token isn't there"},
      {503, "", Code::kUnavailable, "/token is in trouble"},
  };
  for (const StatusCase& c : cases) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBearer);
    registry.set_token_fault([&](const http::ServerRequest&) { return std::optional(OciAnswer(c.status, c.body)); });
    ExpectFails(*registry.Open("", WithPassword()), c.code, c.words);
  }
}

// Who is behind a redirect gets no credentials by asking for them, and a token server that isn't one neither.
TEST(OciBroken, CredentialsGoNowhereElse_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBasic);
  http::Response ask = OciAnswer(401);
  ask.headers.Set("WWW-Authenticate", "Basic realm=\"give me\"");
  registry.set_store_fault([&](const http::ServerRequest&) { return std::optional(ask); });
  ExpectFails(*registry.Open("", WithPassword()), Code::kUnavailable, " sends to answered HTTP 401");
  bool asked = false;
  for (const OciRequest& request : registry.seen()) {
    if (request.host != "store") continue;
    asked = true;
    EXPECT_EQ(request.authorization, "");
  }
  EXPECT_TRUE(asked);
}

// The registry has the file, and its store doesn't give it: nobody's credentials are wrong, and no version is missing.
TEST(OciBroken, AStoreThatFailsIsNotTheRegistry_T9) {
  for (int status : {403, 404, 410, 429, 500}) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    registry.set_store_fault([&](const http::ServerRequest&) { return std::optional(OciAnswer(status)); });
    ExpectFails(*registry.Open(), Code::kUnavailable,
                fmt::format("where registry {} sends to answered HTTP {}", registry.host(), status));
  }
}

// Credentials don't go along to another server, so its answer says nothing of them; and what it gives is none the
// worse.
TEST(OciBroken, WhomATokenServerRedirectsToIsNotTheTokenServer_T9) {
  int status = 0;
  std::string body;
  auto other = http::Server::Start({}, [&](const http::ServerRequest& request) {
    EXPECT_EQ(request.headers.Get("Authorization"), "");
    return OciAnswer(status, body);
  });
  ASSERT_TRUE(other.ok());
  OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBearer);
  http::Response there = OciAnswer(302, "");
  there.headers.Set("Location", "http://" + (*other)->address() + "/token");
  registry.set_token_fault([&](const http::ServerRequest&) { return std::optional(there); });
  for (int one : {401, 403, 404, 429, 503}) {
    status = one;
    ExpectFails(*registry.Open("", WithPassword()), Code::kUnavailable,
                fmt::format("/token sends to gave no token: HTTP {}", status));
  }
  status = 200;
  body = "<html>";
  ExpectFails(*registry.Open("", WithPassword()), Code::kUnavailable, "/token sends to gave no token: HTTP 200");
  body = R"({"token":"token-1"})";
  auto file = registry.Open("", WithPassword())->File({}, V("v1.11.0"), "metadata.yaml");
  EXPECT_TRUE(file.ok()) << file.error().message;
}

// As where a repository was renamed: what it answers there is asked for with credentials, and tells what is missing.
TEST(OciBroken, WhatARegistryRedirectsToOnItsHostIsItsOwnWord_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBasic);
  int status = 0;
  registry.set_registry_fault([&](const http::ServerRequest& request) {
    constexpr std::string_view kOld = "/v2/org/provider-old/";
    const bool old = request.path.starts_with(kOld);
    if (!old && status == 0) return std::optional<http::Response>();
    http::Response answer = OciAnswer(old ? 307 : status);
    if (old) answer.headers.Set("Location", "/v2/org/provider/" + request.path.substr(kOld.size()));
    return std::optional(answer);
  });
  auto file = registry.Open("-old", WithPassword())->File({}, V("v1.11.0"), "metadata.yaml");
  EXPECT_TRUE(file.ok()) << file.error().message;
  ExpectFails(*registry.Open("-old"), Code::kUnauthenticated, "give it OCI_USERNAME and OCI_PASSWORD");
  const StatusCase cases[] = {{401, "", Code::kUnauthenticated, "refused the credentials"},
                              {403, "", Code::kPermissionDenied, "denied access"},
                              {404, "", Code::kNotFound, "there is no tag v1.11.0"},
                              {429, "", Code::kRateLimited, "limits requests"}};
  for (const StatusCase& c : cases) {
    SCOPED_TRACE(c.status);
    status = c.status;
    ExpectFails(*registry.Open("-old", WithPassword()), c.code, c.words);
  }
}

TEST(OciBroken, ATagOfAnIndexIsNoRelease_T9) {
  OciStandIn registry({{"1.11.0", PlainArtifact()}, {"v1.11.0", PlainArtifact()}});
  const http::Response index = OciAnswer(200, R"({"manifests":[]})");
  registry.set_registry_fault(
      [&](const http::ServerRequest& request) { return Only(request, "manifests/v1.11.0", index); });
  EXPECT_TRUE(registry.Open()->File({}, V("v1.11.0"), "metadata.yaml").ok()) << "the other tag is tried";
  registry.set_registry_fault([&](const http::ServerRequest& request) { return Only(request, "manifests/", index); });
  ExpectFails(*registry.Open(), Code::kNotFound, "it is an index of several artifacts: name one of them by its digest");
}

TEST(OciBroken, ARealmIsAUrlOfHttpAndOfTlsWhereTheRegistryIs_T9) {
  for (const char* realm : {"", "token", "ftp://a/b", "http://user:s3cret@127.0.0.1/t"}) {
    OciStandIn registry({{"v1.11.0", PlainArtifact()}});
    http::Response ask = OciAnswer(401);
    ask.headers.Set("WWW-Authenticate", fmt::format("Bearer realm=\"{}\"", realm));
    registry.set_registry_fault([&](const http::ServerRequest&) { return std::optional(ask); });
    ExpectFails(*registry.Open("", WithPassword()), Code::kInvalidArgument, "names no token server that may be asked");
  }
}

// A registry behind TLS that names a token server without.
TEST(OciBroken, ATokenServerInTheClearIsNotAsked_T9) {
  http_testing::TestCa ca;
  const http_testing::Pem pem = ca.Issue({.alt_names = "IP:127.0.0.1"});
  OciStandIn tokens({}, OciAuth::kBearer);
  http::Response ask = OciAnswer(401);
  ask.headers.Set("WWW-Authenticate", fmt::format("Bearer realm=\"{}\"", tokens.reference()));
  auto server =
      http::Server::Start({.cert_pem = pem.cert, .key_pem = pem.key}, [&](const http::ServerRequest&) { return ask; });
  ASSERT_TRUE(server.ok());
  const TempFolder folder;
  const std::string file = folder / "ca.pem";
  ASSERT_TRUE(WriteFile(file, ca.pem()).ok());
  OciOptions options = WithPassword();
  options.ca_file = file;
  auto repository = OpenOci((*server)->address() + "/org/provider", api::ProviderType::kCore, "x", options);
  ASSERT_TRUE(repository.ok());
  auto text = (*repository)->File({}, V("v1.11.0"), "metadata.yaml");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.code(), Code::kInvalidArgument) << text.error().message;
  EXPECT_THAT(text.error().message, HasSubstr("names no token server that may be asked: http://127.0.0.1"));
  EXPECT_TRUE(tokens.seen().empty());
}

// T11: a registry elsewhere, as a proxy answers for it, that leads to this machine: its token server is asked, or a
// file fetched, only where that is allowed.
TEST(OciBroken, ARegistryElsewhereDoesNotLeadInward_T11) {
  const std::string manifest =
      ManifestWith("sha256:" + Sha256Hex(kOciMetadata), static_cast<std::int64_t>(kOciMetadata.size()));
  for (bool by_realm : {true, false}) {
    for (bool allowed : {true, false}) {
      SCOPED_TRACE(fmt::format("{} {}", by_realm, allowed));
      std::atomic<int> came = 0;
      auto inside = http::Server::Start({}, [&](const http::ServerRequest&) {
        ++came;
        return OciAnswer(by_realm ? 403 : 200, std::string(kOciMetadata));
      });
      ASSERT_TRUE(inside.ok());
      const std::string to = "http://" + (*inside)->address() + "/x";
      http_testing::RawServer proxy([&](http_testing::Peer& peer, int) {
        const bool blob = peer.ReadRequest().find("/blobs/") != std::string::npos;
        const std::string head =
            by_realm ? fmt::format("401 No\r\nWWW-Authenticate: Bearer realm=\"{}\"\r\nContent-Length: 0", to)
            : blob   ? fmt::format("307 There\r\nLocation: {}\r\nContent-Length: 0", to)
                     : fmt::format("200 OK\r\nContent-Length: {}", manifest.size());
        peer.Write(fmt::format("HTTP/1.1 {}\r\nConnection: close\r\n\r\n{}", head, by_realm || blob ? "" : manifest));
      });
      OciOptions options;
      options.proxy.http_url = proxy.url();
      options.inward_hosts = [&](const http::Url& url) { return allowed && url.host == "127.0.0.1"; };
      auto repository = OpenOci("http://registry.example/org/provider", api::ProviderType::kCore, "x", options);
      ASSERT_TRUE(repository.ok());
      auto text = (*repository)->File({}, V("v1.11.0"), "metadata.yaml");
      EXPECT_EQ(text.ok(), allowed && !by_realm);
      EXPECT_EQ(came, allowed ? 1 : 0);
      if (!allowed) {
        EXPECT_EQ(text.code(), Code::kInvalidArgument);
        EXPECT_THAT(text.error().message, HasSubstr("127.0.0.1 is an address of this machine or of a private network"));
      }
    }
  }
}

// One that is within itself leads anywhere there, to a host that has another name or address, too.
TEST(OciBroken, ARegistryWithinLeadsInward_T11) {
  auto store =
      http::Server::Start({}, [](const http::ServerRequest&) { return OciAnswer(200, std::string(kOciMetadata)); });
  ASSERT_TRUE(store.ok());
  http::Response there = OciAnswer(307);
  const std::string address = (*store)->address();
  there.headers.Set("Location", "http://localhost" + address.substr(address.rfind(':')) + "/x");
  OciStandIn registry({{"v1.11.0", PlainArtifact()}});
  registry.set_registry_fault([&](const http::ServerRequest& request) { return Only(request, "/blobs/", there); });
  OciOptions options;
  options.inward_hosts = [](const http::Url&) { return false; };
  auto file = registry.Open("", options)->File({}, V("v1.11.0"), "metadata.yaml");
  EXPECT_TRUE(file.ok()) << file.error().message;
}

// What is cut off, or stalls, is no file.
TEST(OciBroken, HalfABodyIsNoFile_F3) {
  const std::string half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"layers\":";
  for (bool stalls : {false, true}) {
    http_testing::RawServer server([&](http_testing::Peer& peer, int) {
      peer.ReadRequest();
      peer.Write(half);
      if (stalls) peer.WaitForEnd();
    });
    OciOptions options;
    options.request_timeout = Millis(200);
    auto repository = OpenOci(server.url() + "/org/provider", api::ProviderType::kCore, "x", options);
    ASSERT_TRUE(repository.ok());
    auto text = (*repository)->File({}, V("v1.11.0"), "metadata.yaml");
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.code(), Code::kUnavailable) << text.error().message;
  }
}

}  // namespace
}  // namespace capi::fetch
