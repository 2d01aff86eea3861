#include "base/http/server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <openssl/ssl.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <thread>

#include "base/http/server/hostile_testing.h"
#include "base/http/testing.h"
#include "base/http/tls.h"

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
  options.limits.body = 1000;
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

TEST(Server, AnswersWhatTheHandlerThrowsWith500) {
  auto server = *Server::Start({}, [](const ServerRequest& request) -> Response {
    if (request.path == "/bad") throw std::runtime_error("a secret");
    if (request.path == "/worse") throw 7;
    return Text("ok");
  });
  for (std::string target : {"/bad", "/worse"}) {
    auto response = Send(*server, {.target = target});
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->status, 500);
    EXPECT_EQ(response->body, "internal error\n");
  }
  EXPECT_EQ(Send(*server, {})->body, "ok");
  // What followed a HEAD's head would be taken for the beginning of the next answer.
  http_testing::RawClient kept(server->address());
  kept.Write("HEAD /bad HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(kept.ReadToEnd(), HasSubstr("\r\n\r\nHTTP/1.1 200 "));
}

TEST(Server, TellsAClientThatWaitsToSendItsBody) {
  auto server = *Server::Start({}, [](const ServerRequest& request) { return Text(request.body); });
  http_testing::RawClient client(server->address());
  client.Write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadAnswer(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Write("body");
  EXPECT_THAT(client.ReadAnswer(), EndsWith("body"));
}

TEST(Server, KeepsConnectionsUnlessTheClientSaysOtherwise) {
  auto server = *Server::Start({}, [](const ServerRequest& request) { return Text(request.path); });
  http_testing::RawClient client(server->address());
  for (int i = 0; i < 3; ++i) {
    client.Write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.ReadAnswer(), EndsWith("/a"));
  }
  client.Write("GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), EndsWith("/b"));
  http_testing::RawClient old(server->address());
  old.Write("GET /c HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.ReadToEnd(), EndsWith("/c"));
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

// Whenever the stop comes; here often before the server's thread has begun.
TEST(Server, StopFreesThePort) {
  for (int i = 0; i < 10; ++i) {
    auto handler = [](const ServerRequest&) { return Text("ok"); };
    auto server = *Server::Start({}, handler);
    server->Stop();
    ServerOptions options;
    options.address = server->address();
    auto next = Server::Start(options, handler);
    ASSERT_TRUE(next.ok()) << next.error().message;
  }
}

TEST(Server, StopsBesideClientsThatOnlyWait) {
  auto server = *Server::Start({}, [](const ServerRequest&) { return Text("ok"); });
  http_testing::RawClient silent(server->address()), half(server->address()), idle(server->address());
  half.Write("GET / HT");
  idle.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(idle.ReadAnswer(), EndsWith("ok"));
  server->Stop();
  for (http_testing::RawClient* client : {&silent, &half, &idle}) EXPECT_EQ(client->ReadToEnd(), "");
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

// The version that a client gets that knows none above `most`; "" for none.
std::string Negotiated(const Server& server, int most) {
  http_testing::RawClient client(server.address());
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), most);
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  BIO* bio = NewSocketBio(client.fd());
  SSL_set_bio(ssl.get(), bio, bio);
  return SSL_connect(ssl.get()) == 1 ? SSL_get_version(ssl.get()) : "";
}

TEST(Server, SpeaksTls12AndUp) {  // T5a
  http_testing::TestCa ca;
  auto pem = ca.Issue({.alt_names = "IP:127.0.0.1"});
  ServerOptions options;
  options.cert_pem = pem.cert;
  options.key_pem = pem.key;
  auto server = *Server::Start(options, [](const ServerRequest&) { return Text("ok"); });
  EXPECT_EQ(Negotiated(*server, TLS1_1_VERSION), "");
  EXPECT_EQ(Negotiated(*server, TLS1_2_VERSION), "TLSv1.2");
  EXPECT_EQ(Negotiated(*server, TLS1_3_VERSION), "TLSv1.3");
}

Result<Response> Post(Client& client) {
  Request request;
  request.method = "POST";
  request.body.assign(10'000, 'x');
  return client.Do(Ctx(), request);
}

std::unique_ptr<Client> Trusting(const Server& server, const std::string& ca_pem) {
  Options options;
  options.tls.ca_pem = ca_pem;
  return *Client::Create("https://" + server.address(), options);
}

TEST(Server, ChangesItsCertificateUnderLoad) {  // T5a
  http_testing::TestCa first("first"), second("second");
  auto old_pem = first.Issue({.alt_names = "IP:127.0.0.1"}), new_pem = second.Issue({.alt_names = "IP:127.0.0.1"});
  ServerOptions options;
  options.cert_pem = old_pem.cert;
  options.key_pem = old_pem.key;
  auto server = *Server::Start(options, [](const ServerRequest& request) { return Text(request.body); });
  EXPECT_FALSE(Post(*Trusting(*server, second.pem())).ok());
  std::atomic<int> answered = 0, failed = 0;
  auto load = [&](const std::stop_token& stop, bool keeps) {
    auto client = Trusting(*server, first.pem() + second.pem());
    while (!stop.stop_requested()) {
      if (!keeps) client = Trusting(*server, first.pem() + second.pem());
      auto response = Post(*client);
      ++(response.ok() && response->body.size() == 10'000 ? answered : failed);
      answered.notify_all();
    }
  };
  auto await = [&](int more) {
    for (int at = answered, until = at + more; at < until && failed == 0; at = answered) answered.wait(at);
  };
  std::vector<std::jthread> clients;
  for (bool keeps : {true, false, true, false}) {
    clients.emplace_back([&, keeps](const std::stop_token& stop) { load(stop, keeps); });
  }
  await(20);
  EXPECT_EQ(server->SetCertificate("nonsense", new_pem.key).code(), Code::kInvalidArgument);
  EXPECT_EQ(server->SetCertificate(new_pem.cert, old_pem.key).code(), Code::kInvalidArgument);
  EXPECT_TRUE(Post(*Trusting(*server, first.pem())).ok()) << "what can't be used changes nothing";
  for (int i = 0; i < 10; ++i) {
    const auto& pem = i % 2 == 0 ? new_pem : old_pem;
    ASSERT_TRUE(server->SetCertificate(pem.cert, pem.key).ok());
    // Others were being let in just now, with the certificate of before.
    auto told = Post(*Trusting(*server, (i % 2 == 0 ? second : first).pem()));
    EXPECT_TRUE(told.ok()) << "change " << i << ": " << told.error().message;
  }
  ASSERT_TRUE(server->SetCertificate(new_pem.cert, new_pem.key).ok());
  EXPECT_TRUE(Post(*Trusting(*server, second.pem())).ok());
  EXPECT_FALSE(Post(*Trusting(*server, first.pem())).ok());
  clients.clear();
  EXPECT_EQ(failed, 0);
  auto plain = *Server::Start({}, [](const ServerRequest&) { return Text(""); });
  EXPECT_EQ(plain->SetCertificate(new_pem.cert, new_pem.key).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace capi::http
