#include "base/http/server/server_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/http/server/hostile_testing.h"
#include "base/http/server/server_testing.h"
#include "base/testing/await.h"

namespace capi::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kMost = 1u << 20;

// Serves one stream at every path but /a, which it echoes, with a single thread.
struct Streams {
  explicit Streams(ServerOptions options = {.threads = 1})
      : server(http_testing::Serve(std::move(options), [this](const ServerRequest& request) {
          if (request.path == "/a") return ServerResponse(http_testing::Echo(request));
          ServerResponse response;
          response.status = 200;
          response.headers.Set("Content-Type", "text/event-stream");
          response.stream = stream;
          return response;
        })) {}

  std::shared_ptr<ServerStream> stream = std::make_shared<ServerStream>(kMost);
  std::unique_ptr<Server> server;
};

constexpr std::string_view kGetStream = "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(ServerStream, GoesOnUntilItEnds) {
  Streams streams;
  http_testing::RawClient client(streams.server->address());
  client.Write(kGetStream);
  EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\n")) << "the head doesn't wait for the first piece";
  EXPECT_EQ(http_testing::Ask(streams.server->address())->body, "GET/a") << "no thread waits with it";
  EXPECT_TRUE(streams.stream->Send("one "));
  EXPECT_TRUE(streams.stream->Send("two"));
  streams.stream->End();
  EXPECT_FALSE(streams.stream->Send("three"));
  EXPECT_EQ(client.ReadToEnd(), "one two");
}

TEST(ServerStream, HasAHeadWithoutALength) {
  Streams streams;
  streams.stream->Send("x");
  streams.stream->End();
  http_testing::RawClient client(streams.server->address());
  client.Write(kGetStream);
  const std::string all = client.ReadToEnd();
  EXPECT_THAT(all, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(all, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(all, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(all, EndsWith("\r\n\r\nx"));
}

TEST(ServerStream, IsNotForHead) {
  Streams streams;
  http_testing::RawClient client(streams.server->address());
  client.Write("HEAD /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\n"));
  EXPECT_TRUE(streams.stream->ended()) << "whoever has news holds them for nobody";
}

TEST(ServerStream, TellsThatTheClientIsGone) {
  Streams streams;
  {
    http_testing::RawClient client(streams.server->address());
    client.Write(kGetStream);
    client.ReadAnswer();
  }
  EXPECT_TRUE(Await([&] { return streams.stream->ended(); }));
  EXPECT_FALSE(streams.stream->Send("x"));
  EXPECT_LT(streams.stream->held(), 64U);
}

TEST(ServerStream, SendsASlowClientAway) {
  Streams streams;
  http_testing::RawClient client(streams.server->address());
  client.Write(kGetStream);
  client.ReadAnswer();
  // It reads nothing: the sockets' buffers fill, then the stream's.
  const std::string piece(64u << 10, 'x');
  int sent = 0;
  while (sent < 10'000 && streams.stream->Send(piece)) ++sent;
  EXPECT_LT(sent, 10'000);
  EXPECT_LE(streams.stream->held(), kMost);
}

// T5a: taking something counts as a whole request does.
TEST(ServerStream, WhoTakesItDoesntGiveWayToWhoIsIdle) {
  ServerOptions options{.threads = 1};
  options.limits.connections = 2;
  Streams streams(options);
  http_testing::RawClient client(streams.server->address()), idle(streams.server->address());
  client.Write(kGetStream);
  client.ReadAnswer();
  idle.Write(http_testing::kGet);
  EXPECT_THAT(idle.ReadAnswer(), EndsWith("GET/a"));
  streams.stream->Send("x");
  char got = 0;
  ASSERT_EQ(recv(client.fd(), &got, 1, 0), 1);
  EXPECT_EQ(http_testing::Ask(streams.server->address())->body, "GET/a");
  EXPECT_FALSE(streams.stream->ended());
  EXPECT_EQ(idle.ReadToEnd(), "");
}

TEST(ServerStream, EndsWithTheServer) {
  Streams streams;
  http_testing::RawClient client(streams.server->address());
  client.Write(kGetStream);
  client.ReadAnswer();
  streams.server->Stop();
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_TRUE(streams.stream->ended());
}

}  // namespace
}  // namespace capi::http
