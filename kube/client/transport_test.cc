// Answers that a real API server gives only for a moment, from a server of our own.
#include "kube/client/transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/http/server/server.h"
#include "base/http/testing.h"
#include "kube/client/status_error.h"

namespace capi::kube {
namespace {

constexpr std::string_view kInitializing = R"({"kind":"Status","reason":"TooManyRequests","code":429,
  "message":"storage is (re)initializing","details":{"retryAfterSeconds":60}})";

void Answer(http_testing::Peer& peer) {
  peer.Write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
}

// Answers the first `count` requests with kInitializing, then with `body`.
class Initializing {
 public:
  Initializing(int count, std::string body) {
    auto server = http::Server::Start({}, [=, this](const http::ServerRequest&) {
      http::Response response{.status = 200, .headers = {}, .body = body};
      if (++requests <= count) {
        response = {.status = 429, .headers = {}, .body = std::string(kInitializing)};
        response.headers.Set("Retry-After", "60");
      }
      return response;
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = Client::Connect({.server = "http://" + server_->address()}, {.user_agent = "transport-test"});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
  }
  Client& client() { return *client_; }
  std::atomic<int> requests = 0;

 private:
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Client> client_;
};

// F3: a call without a deadline ends with the client's own, also where the credentials never change. F5, U5: and
// whether a server had taken the request by then, or nobody could be asked, looked the same.
TEST(Transport, ACallThatTakesTooLongSaysWhetherItWasSent) {
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  std::atomic<bool> sent = true;
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    if (sent) peer.ReadRequest();
    clock.Advance(Seconds(30));
    peer.Write("H");  // has the client look at its clock
    peer.WaitForEnd();
  });
  Error error = (*Client::Connect({.server = server.url()}, {}))->Get(ctx, Builtin("Secret"), "n", "a").error();
  EXPECT_EQ(error.code, Code::kDeadlineExceeded) << error.message;
  EXPECT_FALSE(IsOutage(error));

  sent = false;
  Config tls{.server = "https" + server.url().substr(4)};
  error = (*Client::Connect(tls, {}))->Get(ctx, Builtin("Secret"), "n", "a").error();
  EXPECT_EQ(error.code, Code::kUnavailable) << error.message;
  EXPECT_TRUE(IsOutage(error)) << error.message;
}

// U5: so does one that is sent on a kept connection, which is lost, and then finds no other.
TEST(Transport, ACallThatLosesItsConnectionAndFindsNoOtherMetAnOutage) {
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  const http_testing::TestCa ca;
  const http_testing::Pem served = ca.Issue({.alt_names = "IP:127.0.0.1"});
  std::atomic<int> connections = 0;
  http_testing::RawServer server([&](http_testing::Peer& peer, int index) {
    ++connections;
    if (index == 0) {
      http_testing::TlsPeer tls(peer, served.cert, served.key);
      tls.ReadRequest();
      tls.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
      tls.ReadRequest();
      return;
    }
    clock.Advance(Seconds(30));
    peer.Write("H");  // has the client look at its clock
    peer.WaitForEnd();
  });
  Config config{.server = "https" + server.url().substr(4)};
  config.tls.ca_pem = ca.pem();
  auto client = Client::Connect(config, {});
  ASSERT_TRUE(client.ok()) << client.error().message;
  ASSERT_TRUE((*client)->Get(ctx, Builtin("Secret"), "n", "a").ok());
  const Error error = (*client)->Get(ctx, Builtin("Secret"), "n", "a").error();
  EXPECT_TRUE(IsOutage(error)) << CodeName(error.code) << ": " << error.message;
  EXPECT_GE(connections, 2);
}

// F4: the lead is lost between a request on a kept connection, which the server closes, and its repeat on another one.
TEST(Transport, ARequestThatWasLostIsToldThoughItsRepeatIsRefused) {
  http_testing::RawServer server([](http_testing::Peer& peer, int) {
    if (!peer.ReadRequest().empty()) peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    peer.ReadRequest();
  });
  std::vector<std::string> told;
  ClientOptions options{.max_retries = 0};
  options.on_answer = [&](const std::string& method, int status, MonoTime::duration) {
    told.push_back(method + " " + std::to_string(status));
  };
  auto client = Client::Connect({.server = server.url()}, options);
  ASSERT_TRUE(client.ok()) << client.error().message;
  const Context ctx = Context{}.WithTimeout(Seconds(30));
  const Resource& map = Builtin("ConfigMap");
  ASSERT_TRUE((*client)->Get(ctx, map, "n", "a").ok());
  int asked = 0;
  (*client)->GuardWrites([&](const Context&) {
    return asked++ == 0 ? Ok() : Status(Error{Code::kFailedPrecondition, "no leader", {}});
  });
  Object object(Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}, {"namespace", "n"}}}});
  EXPECT_EQ((*client)->Apply(ctx, map, object, {}).code(), Code::kFailedPrecondition);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(told, (std::vector<std::string>{"GET 200", "PATCH 0"}));
}

TEST(Transport, AsksSoonAgainWhileStorageIsInitializing) {  // docs/behaviour.md P3
  Initializing server(2, R"({"kind":"List","metadata":{"resourceVersion":"5"},"items":[]})");
  Context ctx = Context{}.WithTimeout(Seconds(30));  // half of what the server says
  auto listed = server.client().List(ctx, Builtin("Secret"), "");
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->resource_version, "5");
  EXPECT_EQ(server.requests, 3);
}

TEST(Transport, AWatchWaitsForStorageToo) {
  Initializing server(1, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n");
  int events = 0;
  Status ended = server.client().Watch(Context{}.WithTimeout(Seconds(30)), Builtin("Secret"), "", {},
                                       [&](WatchEvent) { return ++events, Ok(); });
  EXPECT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_EQ(events, 1);
}

TEST(Transport, GivesUpOnStorageThatStaysAway) {
  Initializing server(1000, "");
  auto listed = server.client().List(Context{}.WithTimeout(Seconds(30)), Builtin("Secret"), "");
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.code(), Code::kUnavailable);
  EXPECT_EQ(listed.error().message, "storage is (re)initializing");
  EXPECT_EQ(server.requests, 4);
}

// F8: a server that answers is there, whatever it says of itself.
TEST(Transport, AnyAnswerToAPingWillDo) {
  for (int status : {200, 401, 403, 404, 500, 503}) {
    auto server = http::Server::Start({}, [&](const http::ServerRequest& request) {
      EXPECT_EQ(request.path, "/readyz");
      return http::Response{.status = status, .headers = {}, .body = "[-]etcd failed: reason withheld"};
    });
    ASSERT_TRUE(server.ok()) << server.error().message;
    auto client = *Client::Connect({.server = "http://" + (*server)->address()}, {});
    EXPECT_TRUE(client->Ping(Context{}.WithTimeout(Seconds(30))).ok()) << status;
  }
  http_testing::RawServer closes([](http_testing::Peer& peer, int) { peer.ReadRequest(); });
  auto client = *Client::Connect({.server = closes.url()}, {});
  EXPECT_EQ(client->Ping(Context{}.WithTimeout(Seconds(30))).code(), Code::kUnavailable);
}

// F8: while somebody logs in, no time of the call has passed.
TEST(Transport, ACallsOwnTimeBeginsWithItsCredentials) {
  struct Slow : CredentialSource {
    explicit Slow(FakeClock& fake) : clock(fake) {}
    Result<Credential> Get(const Context& ctx, const Credential*) override {
      EXPECT_FALSE(ctx.deadline.has_value());
      clock.Advance(std::chrono::minutes(20));
      return Credential{.authorization = "Bearer x"};
    }
    FakeClock& clock;
  };
  auto server = http::Server::Start({}, [](const http::ServerRequest& request) {
    bool knows = request.headers.Get("Authorization") == "Bearer x";
    return http::Response{.status = knows ? 200 : 401, .headers = {}, .body = "{}"};
  });
  ASSERT_TRUE(server.ok()) << server.error().message;
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  Config config{.server = "http://" + (*server)->address()};
  config.credentials = std::make_shared<Slow>(clock);
  auto client = *Client::Connect(config, {.timeout = Seconds(30)});
  auto answer = client->Raw(ctx, "GET", "/version");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  Status watched = client->Watch(ctx, Builtin("Secret"), "", {}, [](WatchEvent) { return Ok(); });
  ASSERT_FALSE(watched.ok());
  EXPECT_EQ(watched.error().message, "watch: the stream ended in the middle of an event") << "it had all of its time";
}

// F8: of two calls that come back from their credentials in another order, the newer certificate counts.
TEST(Transport, AnOlderCertificateDoesNotReplaceANewerOne) {
  struct Turns : CredentialSource {
    Result<Credential> Get(const Context&, const Credential*) override { return next; }
    Credential next;
  };
  http_testing::TestCa ca;
  Config config;
  auto turns = std::make_shared<Turns>();
  config.credentials = turns;
  std::string seen;
  http_testing::Pem own = ca.Issue({.alt_names = "IP:127.0.0.1"});
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    http_testing::TlsPeer tls(peer, own.cert, own.key, ca.pem());
    if (!tls.ok()) return;
    tls.ReadRequest();
    seen = tls.ClientCommonName();
    tls.Write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
  config.server = "https://127.0.0.1:" + std::to_string(server.port());
  config.tls.ca_pem = ca.pem();
  auto client = *Client::Connect(config, {});
  auto ask_with = [&](const char* name, std::uint64_t generation) {
    http_testing::Pem pem = ca.Issue({.common_name = name});
    turns->next = {.client_cert_pem = pem.cert, .client_key_pem = pem.key, .generation = generation};
    auto answer = client->Raw(Context{}.WithTimeout(Seconds(30)), "GET", "/version");
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return seen;
  };
  EXPECT_EQ(ask_with("first", 1), "first");
  EXPECT_EQ(ask_with("second", 2), "second");
  EXPECT_EQ(ask_with("late", 1), "second");
}

// A list that has no end, or that is too large to be one.
TEST(Transport, AListHasAnEnd) {
  int pages = 0;
  bool same = true;
  auto server = http::Server::Start({}, [&](const http::ServerRequest&) {
    std::string token = same ? "x" : "x" + std::to_string(pages);
    ++pages;
    return http::Response{
        .status = 200, .headers = {}, .body = R"({"metadata":{"continue":")" + token + R"("},"items":[]})"};
  });
  ASSERT_TRUE(server.ok()) << server.error().message;
  auto client = *Client::Connect({.server = "http://" + (*server)->address()}, {});
  auto listed = client->List(Context{}.WithTimeout(Seconds(60)), Builtin("Secret"), "");
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.code(), Code::kInternal);
  EXPECT_EQ(pages, 2);
  same = false;
  listed = client->List(Context{}.WithTimeout(Seconds(60)), Builtin("Secret"), "");
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.code(), Code::kInternal) << listed.error().message;
}

TEST(Transport, AnAnswerHasABound) {
  http_testing::RawServer server([](http_testing::Peer& peer, int) {
    peer.ReadRequest();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n");
    peer.WaitForEnd();
  });
  auto client = *Client::Connect({.server = server.url()}, {.max_retries = 0});
  EXPECT_EQ(client->Get(Context{}.WithTimeout(Seconds(30)), Builtin("Secret"), "n", "a").code(),
            Code::kInvalidArgument);
}

// F8: an answer is one as soon as its head is there: calls that wait for the server's return go on.
TEST(Transport, AWatchWithoutAnEventEndsAnOutage) {
  std::promise<void> headed;
  http_testing::RawServer server(
      [&](http_testing::Peer& peer, int index) {
        if (peer.ReadRequest().find("watch=true") == std::string::npos) return index == 0 ? peer.Reset() : Answer(peer);
        peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        headed.set_value();
        peer.WaitForEnd();
      },
      /*parallel=*/true);
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  auto client = *Client::Connect({.server = server.url()}, {.max_retries = 0});
  EXPECT_EQ(client->Raw(ctx, "GET", "/version").code(), Code::kUnavailable);
  std::stop_source stop;
  std::jthread watch([&] {
    (void)client->Watch(ctx.WithStop(stop.get_token()), Builtin("Secret"), "", {}, [](WatchEvent) { return Ok(); });
  });
  headed.get_future().wait();
  // Without the watch's answer the second of these would have to wait for a turn, on a clock that stands still.
  for (int i = 0; i < 3; ++i) {
    auto answer = client->Raw(ctx.WithTimeout(Seconds(1)), "GET", "/version");
    EXPECT_TRUE(answer.ok()) << answer.error().message;
  }
  stop.request_stop();
}

}  // namespace
}  // namespace capi::kube
