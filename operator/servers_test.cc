// T5: who may read the metrics, asked of an API server of our own that answers reviews. T5a: probes beside slow
// clients.
#include "operator/servers.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "base/http/server/hostile_testing.h"
#include "base/http/testing.h"
#include "base/json.h"
#include "base/testing/await.h"
#include "operator/metrics_readers.h"
#include "operator/webhooks/access_server_testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

// Knows the tokens "reader", who may get /metrics, "setter", who may put /debug/flags/v, and "stranger", who may do
// neither; with "broken" it fails. The operator may not ask who "hidden" is nor what "guarded" may do, and with "away"
// the operator's own credentials are refused.
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
    const std::set<std::string> people = {"reader", "setter", "stranger", "guarded"};
    const bool known = people.contains(token);
    body["status"] = {{"authenticated", known}, {"user", {{"username", token}, {"groups", Json::array({"people"})}}}};
  } else {
    const Json* asked = Find(body, {"spec", "nonResourceAttributes"});
    const Json path = user == "setter" ? Json{{"path", "/debug/flags/v"}, {"verb", "put"}}
                                       : Json{{"path", "/metrics"}, {"verb", "get"}};
    const bool may = asked != nullptr && *asked == path && (user == "reader" || user == "setter");
    const Json* groups = Find(body, {"spec", "groups"});
    bool grouped = groups != nullptr && *groups == Json::array({"people"});
    body["status"] = {{"allowed", may && grouped}};
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
    auto server = ServeDiagnostics(listen, insecure, *client_, metrics_, {});
    EXPECT_TRUE(server.ok()) << server.error().message;
    if (!server.ok()) return {};
    std::string at = (*server)->address();
    if (listen.starts_with(':')) at = "127.0.0.1" + at.substr(at.rfind(':'));
    return Get(scheme + "://" + at, path, token);
  }

  static http::Response Get(const std::string& url, const std::string& path, const std::string& token) {
    return Send(url, {.target = path}, token);
  }

  static http::Response Send(const std::string& url, http::Request request, const std::string& token) {
    http::Options options;
    options.tls.insecure_skip_verify = true;  // the certificate was made at the start
    auto client = http::Client::Create(url, options);
    EXPECT_TRUE(client.ok()) << client.error().message;
    if (!token.empty()) request.headers.Set("Authorization", token);
    auto response = (*client)->Do(Context{}.WithTimeout(Seconds(30)), std::move(request));
    EXPECT_TRUE(response.ok()) << response.error().message;
    return response.ok() ? *response : http::Response{};
  }

  std::unique_ptr<http::Server> Serve(const std::string& listen, bool insecure) {
    const Logger log = Logger::ToSink(
        LogLevel::kInfo, LogFormat::kText, [](void*, std::string_view) {}, nullptr);
    log_ = log;
    auto server = ServeDiagnostics(listen, insecure, *client_, metrics_, log);
    EXPECT_TRUE(server.ok()) << server.error().message;
    return server.ok() ? std::move(*server) : nullptr;
  }

  Logger log_;

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

// T5: nobody needs to restart an operator that is in trouble to hear more of it; and not everybody may make it say
// more.
TEST_F(Servers, TheVerbosityIsSetByWhoMay) {
  struct Case {
    std::string_view name, listen;
    bool insecure;
    std::string token, method, body;
    int status;
    bool more;  // it says details then
  };
  const Case cases[] = {
      {"whose token may", ":0", false, "Bearer setter", "PUT", "5", 200, true},
      {"with a line's end", ":0", false, "Bearer setter", "PUT", "4\n", 200, true},
      {"less", ":0", false, "Bearer setter", "PUT", "3", 200, false},
      {"who may read alone", ":0", false, "Bearer reader", "PUT", "5", 403, false},
      {"nobody", ":0", false, "", "PUT", "5", 401, false},
      {"the API server can't say", ":0", false, "Bearer broken", "PUT", "5", 500, false},
      {"on loopback", "127.0.0.1:0", false, "", "PUT", "5", 200, true},
      {"where everybody may read", ":0", true, "", "PUT", "5", 403, false},
      {"no number", "127.0.0.1:0", false, "", "PUT", "debug", 400, false},
      {"half a number", "127.0.0.1:0", false, "", "PUT", "5x", 400, false},
      {"less than nothing", "127.0.0.1:0", false, "", "PUT", "-1", 400, false},
      {"nothing", "127.0.0.1:0", false, "", "PUT", "", 400, false},
      {"more than an int", "127.0.0.1:0", false, "", "PUT", "99999999999", 400, false},
      {"a book", "127.0.0.1:0", false, "", "PUT", std::string(100, '5'), 413, false},
      {"a question", "127.0.0.1:0", false, "", "GET", "", 405, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto server = Serve(std::string(c.listen), c.insecure);
    const std::string address = server->address(), port = address.substr(address.rfind(':'));
    const bool plain = c.insecure || !c.listen.starts_with(':');
    http::Request request{.method = c.method, .target = "/debug/flags/v"};
    request.body = c.body;
    auto response = Send((plain ? "http://127.0.0.1" : "https://127.0.0.1") + port, std::move(request), c.token);
    EXPECT_EQ(response.status, c.status) << response.body;
    EXPECT_EQ(log_.Enabled(LogLevel::kDebug), c.more);
  }
}

// T5: there and back, as often as it takes.
TEST_F(Servers, TheVerbosityCanBeSetAgain) {
  auto server = Serve("127.0.0.1:0", false);
  for (const auto& [number, more] : {std::pair("4", true), {"3", false}, {"10", true}, {"0", false}}) {
    http::Request request{.method = "PUT", .target = "/debug/flags/v"};
    request.body = number;
    EXPECT_EQ(Send("http://" + server->address(), std::move(request), "").body,
              fmt::format("the verbosity is {}\n", number));
    EXPECT_EQ(log_.Enabled(LogLevel::kDebug), more) << number;
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

// T5a: who asks for metrics waits for the API server, or for a turn to ask it, and the operator, when it stops, for
// neither.
TEST(ServersStop, AnApiServerThatNeverAnswersHoldsUpNobody) {
  constexpr int kAsking = MetricsReaders::kThreads + 10;
  testing::SilentApiServer api;
  kube::Metrics metrics;
  auto server = ServeDiagnostics(":0", false, *api.client, metrics, {});
  ASSERT_TRUE(server.ok()) << server.error().message;
  const std::string port = (*server)->address().substr((*server)->address().rfind(':'));
  std::atomic<int> read = 0;
  std::vector<std::jthread> asking;
  for (int i = 0; i < kAsking; ++i) {
    asking.emplace_back([&, i] {
      http::Options options;
      options.tls.insecure_skip_verify = true;
      http::Request request{.target = "/metrics"};
      request.headers.Set("Authorization", "Bearer " + std::to_string(i));
      auto answer =
          (*http::Client::Create("https://127.0.0.1" + port, options))->Do(Context{}.WithTimeout(Seconds(60)), request);
      read += answer.ok() && answer->status == 200;
    });
  }
  ASSERT_TRUE(Await([&] { return api.asked() >= static_cast<int>(ReviewTurns::kAtOnce); }));
  auto stopped = std::async(std::launch::async, [&] { (*server)->Stop(); });
  EXPECT_EQ(stopped.wait_for(Seconds(3)), std::future_status::ready) << "a review alone takes four seconds";
  asking.clear();
  EXPECT_EQ(read, 0);
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
