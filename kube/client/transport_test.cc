// Answers that a real API server gives only for a moment, from a server of our own.
#include "kube/client/transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/http/server/server.h"
#include "base/http/testing.h"

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
    Result<Credential> Get(const Context& ctx, bool) override {
      EXPECT_FALSE(ctx.deadline.has_value());
      clock.Advance(Seconds(300));
      return Credential{"Bearer x", "", ""};
    }
    FakeClock& clock;
  };
  auto server = http::Server::Start({}, [](const http::ServerRequest& request) {
    bool knows = request.headers.Get("Authorization") == "Bearer x";
    return http::Response{.status = knows ? 200 : 401, .headers = {}, .body = "ok"};
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
