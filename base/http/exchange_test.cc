#include "base/http/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>

#include "base/http/testing.h"

namespace capi::http {
namespace {

using http_testing::Peer;
using http_testing::RawServer;
using ::testing::HasSubstr;

Context Ctx() { return Context().WithTimeout(Seconds(20)); }

Exchange Failed(Code code, bool written, bool answered) {
  Exchange exchange{Error{code, "", {}}};
  exchange.written = written;
  exchange.answered = answered;
  return exchange;
}

// F8: what isn't idempotent goes out again only where none of it was written.
TEST(Exchange, SaysWhatMayBeSentAgain) {
  struct Case {
    std::string_view method;
    std::optional<bool> idempotent;
    bool written, answered, again;
  };
  const Case cases[] = {
      {"GET", {}, true, false, true},     {"HEAD", {}, true, false, true},    {"PUT", {}, true, false, true},
      {"DELETE", {}, true, false, true},  {"GET", {}, true, true, false},     {"POST", {}, true, false, false},
      {"PATCH", {}, true, false, false},  {"POST", {}, false, false, true},   {"PATCH", {}, false, false, true},
      {"PATCH", true, true, false, true}, {"PATCH", true, true, true, false}, {"PUT", false, true, false, false},
      {"PUT", false, false, false, true},
  };
  for (const Case& c : cases) {
    Request request;
    request.method = c.method;
    request.idempotent = c.idempotent;
    EXPECT_EQ(MaySendAgain(request, Failed(Code::kUnavailable, c.written, c.answered)), c.again)
        << c.method << c.written << c.answered;
    EXPECT_FALSE(MaySendAgain(request, Failed(Code::kCancelled, false, false)));
    EXPECT_FALSE(MaySendAgain(request, Exchange{Response()}));
  }
}

TEST(Exchange, KnowsWhetherAnyOfARequestWasWritten) {
  std::latch dialled(1);
  RawServer server([&](Peer& peer, int index) {
    if (index > 0) {
      peer.ReadRequest();
      return;
    }
    dialled.wait();  // a reset that comes before fails the dialling itself
    peer.Reset();
  });
  for (bool broken : {true, false}) {
    Context ctx = Ctx();
    Waiter waiter(ctx);
    auto connection = Connection::Dial(waiter, "127.0.0.1", server.port(), ctx.clock->Monotonic() + Seconds(10));
    if (broken) dialled.count_down();
    ASSERT_TRUE(connection.ok()) << connection.error().message;
    if (broken) {
      char byte;
      EXPECT_FALSE((*connection)->Read(waiter, &byte, 1).ok()) << "the reset has come";
    }
    Request request;
    request.method = "POST";
    request.body = "x";
    Exchange exchange = DoExchange(waiter, **connection, request, "/", {});
    EXPECT_FALSE(exchange.response.ok());
    EXPECT_EQ(exchange.written, !broken);
    EXPECT_EQ(MaySendAgain(request, exchange), broken);
  }
}

// Two lines are two layers, of which a reader might take off either.
TEST(Exchange, RefusesMoreThanOneContentEncoding) {
  RawServer server([&](Peer& peer, int) {
    peer.ReadRequest();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx");
    peer.WaitForEnd();
  });
  auto response = (*Client::Create(server.url(), {}))->Do(Ctx(), {.target = "/"});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.code(), Code::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("more than one content encoding"));
}

// F8: a stream that stopped has what came; an answer that stopped is none.
TEST(Exchange, EndsWhereNothingComesAnyMore) {
  struct Case {
    std::string_view name, sent;
    bool stream;
    std::string_view error, body;
  };
  const std::string_view kHalf = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
  const Case cases[] = {
      {"a stream", kHalf, true, "", "half"},
      {"a body", kHalf, false, "nothing came for 0.05 s", ""},
      {"no head", "", true, "nothing came for 0.05 s", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RawServer server([&](Peer& peer, int) {
      peer.ReadRequest();
      peer.Write(c.sent);
      peer.WaitForEnd();
    });
    std::string body;
    int heads = 0;
    Request request;
    request.target = "/";
    request.max_silence = Millis(50);
    request.on_head = [&](int status) { heads += status == 200; };
    if (c.stream) request.on_data = [&](std::string_view piece) { return body += piece, Ok(); };
    auto response = (*Client::Create(server.url(), {}))->Do(Ctx(), request);
    EXPECT_EQ(heads, c.sent.empty() ? 0 : 1);
    EXPECT_EQ(body, c.body);
    ASSERT_EQ(response.ok(), c.error.empty());
    if (response.ok()) continue;
    EXPECT_EQ(response.code(), Code::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr(std::string(c.error)));
  }
}

}  // namespace
}  // namespace capi::http
