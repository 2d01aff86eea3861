#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/http/client.h"
#include "base/http/fetch_from.h"
#include "base/http/server/server.h"
#include "base/http/testing.h"
#include "base/http/url.h"

namespace capi::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Context Ctx() { return Context().WithTimeout(Seconds(20)); }

Response Redirect(int status, std::string_view location) {
  Response response;
  response.status = status;
  response.headers.Set("Location", location);
  return response;
}

// Answers /headers with the credentials that came, /to/N with a redirect to /to/N-1.
std::unique_ptr<Server> Origin(std::string other = "") {
  auto handler = [other](const ServerRequest& request) {
    if (request.path == "/away") return Redirect(302, other + "/headers");
    if (request.path == "/near") return Redirect(307, "headers?x=%2F");
    if (request.path == "/bad") return Redirect(302, "ftp://x");
    if (request.path == "/nowhere") return Redirect(302, "");
    if (request.path.starts_with("/to/")) {
      int left = std::stoi(request.path.substr(4));
      if (left > 0) return Redirect(301, "/to/" + std::to_string(left - 1));
    }
    Response response;
    response.status = 200;
    response.body = request.method + " " + request.query + " " + request.headers.Get("Authorization") +
                    request.headers.Get("Cookie") + request.headers.Get("X-Other");
    return response;
  };
  auto server = Server::Start({}, handler);
  if (!server.ok()) ADD_FAILURE() << server.error().message;
  return *std::move(server);
}

Request With(std::string method, std::string target) {
  Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers.Set("authorization", "secret");
  request.headers.Set("cookie", "biscuit");
  request.headers.Set("x-other", "kept");
  return request;
}

TEST(Redirect, IsFollowedWithoutCredentialsToOthers) {
  auto other = Origin();
  auto origin = Origin("http://" + other->address());
  struct Case {
    std::string_view method, target;
    int status;
    std::string_view body;
  };
  const Case cases[] = {
      {"GET", "/near", 200, "GET x=%2F secretbiscuitkept"},
      {"GET", "/away", 200, "GET  kept"},
      {"GET", "/to/10", 200, "GET  secretbiscuitkept"},
      {"POST", "/near", 307, ""},
      {"GET", "/nowhere", 302, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.target);
    auto fetched =
        Fetch(Ctx(), "http://" + origin->address() + std::string(c.target), With(std::string(c.method), ""), {});
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_EQ(fetched->status, c.status);
    EXPECT_EQ(fetched->body, c.body);
  }
}

// As in Go: "user:password" of a URL is sent as Basic, to its origin alone and where a request brings nothing else.
TEST(Redirect, AUrlsUserAndPasswordStayWithItsOrigin) {
  auto other = Origin();
  auto origin = Origin("http://" + other->address());
  const std::string url = "http://us%40er:p%3Aw@" + origin->address();
  for (const auto& [target, body] :
       {std::pair("/x", "GET  Basic dXNAZXI6cDp3"), {"/to/3", "GET  Basic dXNAZXI6cDp3"}, {"/away", "GET  "}}) {
    auto fetched = Fetch(Ctx(), url + target, {}, {});
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_EQ(fetched->body, body) << target;
  }
  EXPECT_EQ(Fetch(Ctx(), url + "/x", With("GET", ""), {})->body, "GET  secretbiscuitkept");
  auto asked = (*Client::Create(url, {}))->Do(Ctx(), {.target = "/x"});
  ASSERT_TRUE(asked.ok()) << asked.error().message;
  EXPECT_EQ(asked->body, "GET  Basic dXNAZXI6cDp3");
}

// Each hop has the proxy of its own scheme.
TEST(Redirect, ChoosesTheProxyHopByHop) {
  http_testing::RawServer proxy([](http_testing::Peer& peer, int) {
    bool tunnel = peer.ReadRequest().starts_with("CONNECT safe.invalid:443 ");
    peer.Write(tunnel ? "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"
                      : "HTTP/1.1 302 Found\r\nLocation: https://safe.invalid/\r\nContent-Length: 0\r\n\r\n");
  });
  Options options;
  options.proxy = {.url = proxy.url(), .http_url = proxy.url()};
  auto both = Fetch(Ctx(), "http://plain.invalid/", {}, options);
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().message, HasSubstr("the proxy answers 407")) << "https goes through it too";
  options.proxy = {.url = "http://none.invalid", .http_url = proxy.url()};
  EXPECT_THAT(Fetch(Ctx(), "http://plain.invalid/", {}, options).error().message, HasSubstr("none.invalid"));
}

// T15: who asks is asked before each hop, and where it says no nobody is.
TEST(Redirect, IsFollowedWhereItMayBe_T15) {
  auto other = Origin();
  auto origin = Origin("http://" + other->address());
  Url by;
  std::string led;
  const BeforeRedirect before = [&](const Url& next) -> Status {
    led += next.Origin() + next.path + "\n";
    if (next.Origin() == "http://" + origin->address()) return Ok();
    return Error{Code::kInvalidArgument, "not there", {}};
  };
  const std::string base = "http://" + origin->address();
  EXPECT_TRUE(Fetch(Ctx(), base + "/to/1", With("GET", ""), {}, by, before).ok());
  EXPECT_EQ(led, base + "/to/0\n");
  EXPECT_EQ(Fetch(Ctx(), base + "/away", With("GET", ""), {}, by, before).error().message, "not there");
}

TEST(Redirect, HasAnEnd) {
  auto origin = Origin();
  auto many = Fetch(Ctx(), "http://" + origin->address() + "/to/11", With("GET", ""), {});
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().message, HasSubstr("too many redirects"));
  EXPECT_THAT(Fetch(Ctx(), "http://" + origin->address() + "/bad", With("GET", ""), {}).error().message,
              HasSubstr("redirect: bad URL"));
}

// T6: what came safely so far isn't fetched from anybody on the way.
TEST(Redirect, NeverLeadsFromHttpsToHttp) {
  http_testing::TestCa ca;
  auto pem = ca.Issue({.alt_names = "IP:127.0.0.1"});
  auto plain = Origin();
  std::atomic<int> asked = 0;
  auto handler = [&](const ServerRequest& request) {
    ++asked;
    if (request.path == "/hop") return Redirect(302, "/away");
    return Redirect(307, "http://" + plain->address() + "/headers?signature=x");
  };
  ServerOptions tls;
  tls.cert_pem = pem.cert;
  tls.key_pem = pem.key;
  auto safe = *Server::Start(tls, handler);
  Options options;
  options.tls.ca_pem = ca.pem();
  for (std::string target : {"/away", "/hop"}) {
    auto response = Fetch(Ctx(), "https://" + safe->address() + target, With("GET", ""), options);
    ASSERT_FALSE(response.ok()) << response->body;
    EXPECT_EQ(response.code(), Code::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr("from https to http nothing is followed"));
    EXPECT_THAT(response.error().message, Not(HasSubstr("signature")));
  }
  EXPECT_EQ(asked, 3);
  // The other way is an improvement.
  auto up = Server::Start({}, [&](const ServerRequest&) { return Redirect(302, "https://" + safe->address() + "/x"); });
  auto followed = Fetch(Ctx(), "http://" + (*up)->address() + "/", With("GET", ""), options);
  EXPECT_THAT(followed.error().message, HasSubstr("https://" + safe->address())) << "it came as far as the safe one";
}

TEST(Redirect, IsAnAnswerForAClient) {
  auto origin = Origin();
  auto response = (*Client::Create("http://" + origin->address(), {}))->Do(Ctx(), With("GET", "/near"));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 307);
  EXPECT_EQ(response->headers.Get("Location"), "headers?x=%2F");
}

}  // namespace
}  // namespace capi::http
