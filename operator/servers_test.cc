// T5: who may read the metrics, asked of an API server of our own that answers reviews. T5a: probes beside slow
// clients.
#include "operator/servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/http/server/hostile_testing.h"
#include "base/http/testing.h"
#include "base/json.h"
#include "base/testing/await.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

// Knows the tokens "reader", who may get /metrics, and "stranger", who may not; with "broken" it fails. The operator
// may not ask who "hidden" is nor what "guarded" may do, and with "away" the operator's own credentials are refused.
http::Response Review(const http::ServerRequest& request) {
  Json body = *ParseJson(request.body);
  bool who = request.path.ends_with("/tokenreviews");
  std::string token = GetString(body, {"spec", "token"}), user = GetString(body, {"spec", "user"});
  if (token == "hidden" || user == "guarded") {
    return {.status = 403, .headers = {}, .body = R"({"kind":"Status","status":"Failure","reason":"Forbidden"})"};
  }
  if (token == "away") {
    return {.status = 401, .headers = {}, .body = R"({"kind":"Status","status":"Failure","reason":"Unauthorized"})"};
  }
  http::Response response{.status = token == "broken" ? 500 : 201, .headers = {}, .body = ""};
  if (who) {
    bool known = token == "reader" || token == "stranger" || token == "guarded";
    body["status"] = {{"authenticated", known}, {"user", {{"username", token}, {"groups", Json::array({"people"})}}}};
  } else {
    const Json* asked = Find(body, {"spec", "nonResourceAttributes"});
    bool metrics = asked != nullptr && *asked == Json{{"path", "/metrics"}, {"verb", "get"}};
    const Json* groups = Find(body, {"spec", "groups"});
    bool grouped = groups != nullptr && *groups == Json::array({"people"});
    body["status"] = {{"allowed", metrics && grouped && user == "reader"}};
  }
  response.body = ToJsonText(body);
  return response;
}

class Servers : public ::testing::Test {
 protected:
  Servers() {
    auto api = http::Server::Start({}, Review);
    EXPECT_TRUE(api.ok()) << api.error().message;
    api_ = std::move(*api);
    auto client = kube::Client::Connect({.server = "http://" + api_->address()}, {.user_agent = "servers-test"});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    metrics_.Count({"done_total", "What was done"}, {});
  }

  // The answer of a server that listens on `listen`, asked at that address, or over loopback where it is all of them:
  // localhost may be ::1 alone.
  http::Response Ask(const std::string& listen, bool insecure, const std::string& scheme, const std::string& token,
                     const std::string& path = "/metrics") {
    auto server = ServeMetrics(listen, insecure, *client_, metrics_, {});
    EXPECT_TRUE(server.ok()) << server.error().message;
    if (!server.ok()) return {};
    std::string at = (*server)->address();
    if (listen.starts_with(':')) at = "127.0.0.1" + at.substr(at.rfind(':'));
    return Get(scheme + "://" + at, path, token);
  }

  static http::Response Get(const std::string& url, const std::string& path, const std::string& token) {
    http::Options options;
    options.tls.insecure_skip_verify = true;  // the certificate was made at the start
    auto client = http::Client::Create(url, options);
    EXPECT_TRUE(client.ok()) << client.error().message;
    http::Request request{.target = path};
    if (!token.empty()) request.headers.Set("Authorization", token);
    auto response = (*client)->Do(Context{}.WithTimeout(Seconds(30)), request);
    EXPECT_TRUE(response.ok()) << response.error().message;
    return response.ok() ? *response : http::Response{};
  }

 private:
  std::unique_ptr<http::Server> api_;
  std::unique_ptr<kube::Client> client_;
  kube::Metrics metrics_;
};

TEST_F(Servers, MetricsArePlainOnLoopbackOrByFlag) {
  for (const auto& [listen, insecure] : {std::pair("127.0.0.1:0", false), {"localhost:0", false}, {":0", true}}) {
    SCOPED_TRACE(listen);
    auto response = Ask(listen, insecure, "http", "");
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, HasSubstr("done_total 1"));
    EXPECT_EQ(response.headers.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  }
  EXPECT_EQ(Ask("127.0.0.1:0", false, "http", "", "/").status, 404);
}

TEST_F(Servers, ElsewhereTheTokenDecides) {
  struct Case {
    std::string token;
    int status;
    std::string_view body;
  };
  constexpr std::string_view kToken = "send a bearer token", kUnknown = "can't say now";
  const Case cases[] = {{"", 401, kToken},
                        {"Basic cmVhZGVy", 401, kToken},
                        {"Bearer nobody", 401, kToken},
                        {"Bearer stranger", 403, kToken},
                        {"Bearer broken", 500, kUnknown},
                        {"Bearer hidden", 500, kUnknown},
                        {"Bearer away", 500, kUnknown},
                        {"Bearer guarded", 500, kUnknown},
                        {"Bearer reader", 200, "done_total 1"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.token);
    auto response = Ask(":0", false, "https", c.token);
    EXPECT_EQ(response.status, c.status);
    EXPECT_THAT(response.body, HasSubstr(c.body));
    EXPECT_EQ(response.body.find("done_total") != std::string::npos, c.status == 200);
  }
}

TEST_F(Servers, ProbesSayWhetherItIsReady) {
  std::atomic<bool> ready = false;  // a thread of the server reads it
  auto server = ServeHealth("127.0.0.1:0", [&] { return ready.load(); });
  ASSERT_TRUE(server.ok()) << server.error().message;
  const std::string url = "http://" + (*server)->address();
  EXPECT_EQ(Get(url, "/healthz", "").status, 200) << "it lives";
  EXPECT_EQ(Get(url, "/readyz", "").status, 503);
  ready = true;
  EXPECT_EQ(Get(url, "/readyz", "").status, 200);
  EXPECT_EQ(Get(url, "/metrics", "").status, 404);
}

// T5a: who asks for metrics waits for the API server, and the operator, when it stops, for neither.
TEST(ServersStop, AnApiServerThatNeverAnswersHoldsUpNobody) {
  constexpr int kAsking = 40;
  std::atomic<int> reviews = 0;
  http_testing::RawServer api(
      [&](http_testing::Peer& peer, int) {
        peer.ReadRequest();
        ++reviews;
        peer.WaitForEnd();
      },
      /*parallel=*/true);
  auto client = kube::Client::Connect({.server = api.url()}, {.user_agent = "servers-test"});
  ASSERT_TRUE(client.ok()) << client.error().message;
  kube::Metrics metrics;
  auto server = ServeMetrics(":0", false, **client, metrics, {});
  ASSERT_TRUE(server.ok()) << server.error().message;
  const std::string port = (*server)->address().substr((*server)->address().rfind(':'));
  std::vector<std::jthread> asking;
  for (int i = 0; i < kAsking; ++i) {
    asking.emplace_back([&] {
      http::Options options;
      options.tls.insecure_skip_verify = true;
      http::Request request{.target = "/metrics"};
      request.headers.Set("Authorization", "Bearer x");
      (void)(*http::Client::Create("https://127.0.0.1" + port, options))
          ->Do(Context{}.WithTimeout(Seconds(60)), request);
    });
  }
  ASSERT_TRUE(Await([&] { return reviews >= 1; }));
  auto stopped = std::async(std::launch::async, [&] { (*server)->Stop(); });
  EXPECT_EQ(stopped.wait_for(Seconds(3)), std::future_status::ready) << "a review alone takes four seconds";
}

// Eight clients that send a header for ever kept every probe out once.
TEST_F(Servers, ProbesAreAnsweredBesideSlowClients) {
  auto server = ServeHealth("127.0.0.1:0", [] { return true; });
  ASSERT_TRUE(server.ok()) << server.error().message;
  http_testing::HostileClients hostile((*server)->address(), 200);
  hostile.AwaitConnections(200);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(Get("http://" + (*server)->address(), "/healthz", "").status, 200) << i;
}

// T5: plain and without a token is for the machine itself; a name that begins like its address may be anybody's.
TEST(IsLoopback, IsAnAddressOfTheMachineItself) {
  for (const char* yes : {"127.0.0.1:8443", "127.1.2.3:1", "localhost:8443", "[::1]:8443"}) {
    EXPECT_TRUE(IsLoopback(yes)) << yes;
  }
  for (const char* no : {":8443", "0.0.0.0:8443", "127.example.com:8443", "127.0.0.1.example.com:8443", "[::]:8443",
                         "localhost.example.com:8443", "10.127.0.1:8443"}) {
    EXPECT_FALSE(IsLoopback(no)) << no;
  }
}

}  // namespace
}  // namespace capi::ops
