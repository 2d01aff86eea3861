#include "base/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "base/http/testing.h"

namespace capi::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Context Ctx() { return Context().WithTimeout(Seconds(20)); }

Response Text(std::string body) {
  Response response;
  response.status = 200;
  response.body = std::move(body);
  return response;
}

Result<Response> Send(const Server& server, Request request) {
  return (*Client::Create("http://" + server.address(), {}))->Do(Ctx(), std::move(request));
}

TEST(Server, GivesTheHandlerTheRequest) {
  ServerRequest seen;
  auto server = *Server::Start({}, [&](const ServerRequest& request) {
    seen = request;
    Response response = Text("made");
    response.status = 201;
    response.headers.Set("Content-Type", "application/json");
    return response;
  });
  for (std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    Request request;
    request.method = method;
    request.target = "/a%2Fb/c?x=1&y";
    request.headers.Set("X-Test", "1");
    bool has_body = method != "GET" && method != "OPTIONS";
    if (has_body) request.body = "body";
    auto response = Send(*server, request);
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "made");
    EXPECT_EQ(response->headers.Get("Content-Type"), "application/json");
    EXPECT_EQ(seen.method, method);
    EXPECT_EQ(seen.path, "/a%2Fb/c");
    EXPECT_EQ(seen.query, "x=1&y");
    EXPECT_EQ(seen.body, has_body ? "body" : "");
    EXPECT_EQ(seen.remote, "127.0.0.1");
    EXPECT_EQ(seen.headers.Get("x-test"), "1");
    EXPECT_FALSE(seen.headers.Has("REMOTE_ADDR"));
  }
}

TEST(Server, PacksForClientsThatUnpack) {
  auto server = *Server::Start({}, [](const ServerRequest&) {
    Response response = Text(std::string(100'000, 'x'));
    response.headers.Set("Content-Type", "text/plain");
    return response;
  });
  auto response = Send(*server, {});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body.size(), 100'000u);
}

TEST(Server, RefusesLargeBodies) {
  ServerOptions options;
  options.max_body = 1000;
  auto server = *Server::Start(options, [](const ServerRequest& request) { return Text(request.body); });
  Request request;
  request.method = "POST";
  request.body.assign(1000, 'x');
  auto fits = Send(*server, request);
  ASSERT_TRUE(fits.ok()) << fits.error().message;
  EXPECT_EQ(fits->body, request.body);
  request.body.assign(1001, 'x');
  auto large = Send(*server, request);
  ASSERT_TRUE(large.ok()) << large.error().message;
  EXPECT_EQ(large->status, 413);
}

TEST(Server, SaysThatAnAddressIsTaken) {
  auto handler = [](const ServerRequest&) { return Text(""); };
  auto first = *Server::Start({}, handler);
  ServerOptions options;
  options.address = first->address();
  auto second = Server::Start(options, handler);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.code(), Code::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("Address already in use"));
  for (std::string bad : {"", "localhost", "h:x", "h:99999"}) {
    options.address = bad;
    EXPECT_EQ(Server::Start(options, handler).code(), Code::kInvalidArgument) << bad;
  }
}

TEST(Server, ListensOnAllInterfacesWithoutAHost) {
  ServerOptions options;
  options.address = ":0";
  auto server = *Server::Start(options, [](const ServerRequest&) { return Text("ok"); });
  std::string port = server->address().substr(server->address().rfind(':'));
  auto response = (*Client::Create("http://127.0.0.1" + port, {}))->Do(Ctx(), {});
  ASSERT_TRUE(response.ok()) << response.error().message;
}

TEST(Server, StopWaitsForWhatIsInFlight) {
  std::promise<void> entered, leave;
  auto server = *Server::Start({}, [&](const ServerRequest&) {
    entered.set_value();
    leave.get_future().wait();
    return Text("done");
  });
  auto answer = std::async(std::launch::async, [&] { return Send(*server, {}); });
  entered.get_future().wait();
  std::jthread stopper([&] { server->Stop(); });
  leave.set_value();
  auto response = answer.get();
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "done");
  stopper.join();
  EXPECT_FALSE(Send(*server, {}).ok());
}

TEST(Server, ServesManyAtOnce) {
  std::latch all(16);
  auto server = *Server::Start({}, [&](const ServerRequest&) {
    all.arrive_and_wait();
    return Text("ok");
  });
  std::atomic<int> ok = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) threads.emplace_back([&] { ok += Send(*server, {}).ok(); });
  }
  EXPECT_EQ(ok, 16);
}

TEST(Server, ServesTls) {
  http_testing::TestCa ca;
  auto pem = ca.Issue({.alt_names = "IP:127.0.0.1"});
  ServerOptions options;
  options.cert_pem = pem.cert;
  options.key_pem = pem.key;
  auto server = *Server::Start(options, [](const ServerRequest& request) { return Text(request.body); });
  Options client_options;
  client_options.tls.ca_pem = ca.pem();
  auto client = *Client::Create("https://" + server->address(), client_options);
  Request request;
  request.method = "POST";
  request.body.assign(3 << 20, 'x');
  for (int i = 0; i < 3; ++i) {
    auto response = client->Do(Ctx(), request);
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->body, request.body);
  }
  options.key_pem = "nonsense";
  EXPECT_EQ(Server::Start(options, [](const ServerRequest&) { return Text(""); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace capi::http
