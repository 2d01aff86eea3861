// Answers that a real API server gives only for a moment, from a server of our own.
#include "kube/client/transport.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/http/server.h"

namespace capi::kube {
namespace {

constexpr std::string_view kInitializing = R"({"kind":"Status","reason":"TooManyRequests","code":429,
  "message":"storage is (re)initializing","details":{"retryAfterSeconds":60}})";

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

}  // namespace
}  // namespace capi::kube
