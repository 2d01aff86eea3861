#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "base/http/client.h"
#include "base/http/connection.h"
#include "base/http/server/hostile_testing.h"
#include "base/http/testing.h"

namespace capi::http {
namespace {

using http_testing::Peer;
using http_testing::RawServer;
using ::testing::HasSubstr;

// Milliseconds on a quiet machine. Without the interruption these calls would never end.
constexpr Millis kAtOnce = Seconds(5);

// Where a call is blocked.
struct Block {
  std::string_view name, scheme;
  std::function<void(Peer&)> before;  // what the server does before it falls silent
  bool large_request = false;
};

std::vector<Block> Blocks() {
  return {
      {"in the TLS handshake", "https", [](Peer&) {}},
      {"in front of the answer", "http", [](Peer& peer) { peer.ReadRequest(); }},
      {"in the head", "http",
       [](Peer& peer) {
         peer.ReadRequest();
         peer.Write("HTTP/1.1 200 OK\r\nContent-");
       }},
      {"in the body", "http",
       [](Peer& peer) {
         peer.ReadRequest();
         peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
       }},
      {"in a stream", "http",
       [](Peer& peer) {
         peer.ReadRequest();
         peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
       }},
      {"in the write", "http", [](Peer&) {}, true},
  };
}

Result<Response> Blocked(const Block& block, const Context& ctx, std::promise<void>* silent) {
  std::promise<void> done;
  RawServer server([&](Peer& peer, int) {
    block.before(peer);
    if (silent != nullptr) silent->set_value();
    done.get_future().wait();
  });
  std::string url = std::string(block.scheme) + "://127.0.0.1:" + std::to_string(server.port());
  auto client = Client::Create(url, {});
  Request request;
  request.target = "/";
  if (block.large_request) request.body.assign(64 << 20, 'x');
  request.method = block.large_request ? "PUT" : "GET";
  request.on_data = [](std::string_view) { return Ok(); };
  auto response = (*client)->Do(ctx, std::move(request));
  done.set_value();
  return response;
}

Millis Since(MonoTime start) { return std::chrono::duration_cast<Millis>(SystemClock().Monotonic() - start); }

TEST(Interrupt, AStopRequestEndsACallAtOnce) {
  for (const Block& block : Blocks()) {
    SCOPED_TRACE(block.name);
    std::stop_source source;
    std::promise<void> silent;
    MonoTime stopped;
    std::jthread stopper([&] {
      silent.get_future().wait();
      stopped = SystemClock().Monotonic();
      source.request_stop();
    });
    Context ctx;
    ctx.stop = source.get_token();
    auto response = Blocked(block, ctx, &silent);
    stopper.join();
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.code(), Code::kCancelled) << response.error().message;
    EXPECT_LT(Since(stopped), kAtOnce);
  }
}

TEST(Interrupt, ADeadlineEndsACallOnTime) {
  for (const Block& block : Blocks()) {
    SCOPED_TRACE(block.name);
    MonoTime start = SystemClock().Monotonic();
    auto response = Blocked(block, Context().WithTimeout(Millis(100)), nullptr);
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.code(), Code::kDeadlineExceeded) << response.error().message;
    EXPECT_GE(Since(start), Millis(100));
    EXPECT_LT(Since(start), Millis(100) + kAtOnce);
  }
}

TEST(Interrupt, ACallThatIsStoppedAlreadyDoesNothing) {
  std::stop_source source;
  source.request_stop();
  Context ctx;
  ctx.stop = source.get_token();
  Request request;
  request.target = "/";
  auto response = (*Client::Create("http://127.0.0.1:9", {}))->Do(ctx, request);
  EXPECT_EQ(response.code(), Code::kCancelled);
}

// A listener whose queue is full: the kernel drops further connection requests.
class FullListener {
 public:
  FullListener() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    fds_.push_back(socket(AF_INET, SOCK_STREAM, 0));
    (void)bind(fds_[0], reinterpret_cast<sockaddr*>(&address), size);
    listen(fds_[0], 0);
    getsockname(fds_[0], reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    for (int i = 0; i < 4; ++i) {
      fds_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      (void)connect(fds_.back(), reinterpret_cast<sockaddr*>(&address), size);
    }
  }
  ~FullListener() {
    for (int fd : fds_) close(fd);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  std::vector<int> fds_;
  int port_ = 0;
};

TEST(Interrupt, AlsoInConnect) {
  FullListener full;
  Request request;
  request.target = "/";
  MonoTime start = SystemClock().Monotonic();
  auto late = (*Client::Create(full.url(), {}))->Do(Context().WithTimeout(Millis(100)), request);
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  EXPECT_LT(Since(start), Millis(100) + kAtOnce);

  Options options;
  options.connect_timeout = Millis(100);
  auto slow = (*Client::Create(full.url(), options))->Do(Context(), request);
  ASSERT_FALSE(slow.ok());
  EXPECT_EQ(slow.code(), Code::kUnavailable);
  EXPECT_THAT(slow.error().message, HasSubstr("timed out"));
}

// A client with a slow TLS handshake gives up after connect_timeout, too.
TEST(Interrupt, AHandshakeHasTheTimeOfAConnect) {
  std::promise<void> done;
  RawServer server([&](Peer&, int) { done.get_future().wait(); });
  Options options;
  options.connect_timeout = Millis(100);
  Request request;
  request.target = "/";
  auto slow = (*Client::Create("https://127.0.0.1:" + std::to_string(server.port()), options))->Do(Context(), request);
  done.set_value();
  ASSERT_FALSE(slow.ok());
  EXPECT_EQ(slow.code(), Code::kUnavailable);
  EXPECT_THAT(slow.error().message, HasSubstr("TLS handshake: timed out"));
}

// A call that could not hear that it should stop doesn't begin to wait.
TEST(Interrupt, WithoutADescriptorNothingIsWaitedFor) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  std::stop_source stop;
  Context ctx = Context().WithStop(stop.get_token());
  {
    http_testing::AllDescriptors taken;
    Waiter waiter(ctx);
    Status waited = waiter.Wait(pipes[0], POLLIN);
    ASSERT_FALSE(waited.ok());
    EXPECT_EQ(waited.code(), Code::kUnavailable);
    EXPECT_THAT(waited.error().message, HasSubstr("Too many open files"));
  }
  close(pipes[0]);
  close(pipes[1]);
}

// F8: the server would do what the request says, and nobody would hear that it has.
TEST(Interrupt, WithoutADescriptorNothingIsSent) {
  std::atomic<int> requests = 0, connections = 0;
  RawServer server([&](Peer& peer, int) {
    ++connections;
    while (!peer.ReadRequest().empty()) {
      ++requests;
      peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
    }
  });
  auto client = *Client::Create(server.url(), {});
  std::stop_source stop;
  Context ctx = Context().WithStop(stop.get_token()).WithTimeout(Seconds(20));
  Request request;
  request.method = "POST";
  request.target = "/";
  ASSERT_TRUE(client->Do(ctx, request).ok());
  {
    http_testing::AllDescriptors taken;
    auto refused = client->Do(ctx, request);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("Too many open files"));
  }
  ASSERT_TRUE(client->Do(ctx, request).ok());
  EXPECT_EQ(connections, 1) << "it stays open meanwhile";
  EXPECT_EQ(requests, 2);
}

}  // namespace
}  // namespace capi::http
