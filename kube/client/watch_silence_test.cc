// F8: a watch that a proxy keeps open though the server is gone is noticed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <semaphore>

#include "base/http/testing.h"
#include "kube/client/client.h"

namespace capi::kube {
namespace {

using http_testing::Peer;
using http_testing::RawServer;

const std::string kHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kEvent = R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"}}})"
                           "\n";

std::string Chunk(std::string_view text) { return fmt::format("{:x}\r\n{}\r\n", text.size(), text); }

struct Ended {
  Status status;
  int events = 0;
};

// A watch on a server that sends `text` and then nothing.
Ended WatchOf(const std::string& text, Millis max_silence) {
  RawServer server([&](Peer& peer, int) {
    peer.ReadRequest();
    peer.Write(text);
    peer.WaitForEnd();
  });
  auto client = *Client::Connect({.server = server.url()}, {});
  Ended ended;
  WatchOptions options;
  options.max_silence = max_silence;
  ended.status = client->Watch(Context{}.WithTimeout(Seconds(60)), Builtin("Secret"), "", options,
                               [&](WatchEvent) { return ++ended.events, Ok(); });
  return ended;
}

TEST(WatchSilence, IsNoticedWithinTwoMinutes) {
  EXPECT_LE(WatchOptions().max_silence, Seconds(120));
  EXPECT_GT(WatchOptions().max_silence, Seconds(75)) << "a server says something each minute";
}

// An ordinary end: whoever watches goes on from the last version, and where the server is gone hears of it then.
TEST(WatchSilence, EndsTheWatchWithWhatCame) {
  for (const std::string& sent : {kHead, kHead + Chunk(kEvent)}) {
    Ended ended = WatchOf(sent, Millis(50));
    EXPECT_TRUE(ended.status.ok()) << ended.status.error().message;
    EXPECT_EQ(ended.events, sent == kHead ? 0 : 1);
  }
}

TEST(WatchSilence, InTheMiddleOfAnEventOrBeforeAnyAnswerIsAnError) {
  for (const std::string& sent : {std::string(), kHead + Chunk(kEvent.substr(0, 20))}) {
    Ended ended = WatchOf(sent, Millis(50));
    ASSERT_FALSE(ended.status.ok());
    EXPECT_EQ(ended.status.code(), Code::kUnavailable);
    EXPECT_EQ(ended.events, 0);
  }
}

// What comes now and then, be it a bookmark, keeps it open. Each piece is sent when the clock has gone on since the one
// before: together that is longer than the silence that ends a watch.
TEST(WatchSilence, BeginsAnewWithEachPiece) {
  std::counting_semaphore<4> next(1);
  RawServer server([&](Peer& peer, int) {
    peer.ReadRequest();
    peer.Write(kHead);
    for (int i = 0; i < 3; ++i) {
      next.acquire();
      peer.Write(Chunk(kEvent));
    }
    peer.Write("0\r\n\r\n");
    peer.WaitForEnd();
  });
  auto client = *Client::Connect({.server = server.url()}, {});
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  int events = 0;
  Status ended = client->Watch(ctx, Builtin("Secret"), "", {}, [&](WatchEvent) {
    clock.Advance(Seconds(60));
    next.release();
    return ++events, Ok();
  });
  EXPECT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_EQ(events, 3);
}

}  // namespace
}  // namespace capi::kube
