#include "base/http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/encoding.h"
#include "base/http/server/server.h"
#include "base/http/testing.h"

namespace capi::http {
namespace {

using http_testing::Peer;
using http_testing::RawServer;
using ::testing::HasSubstr;

Context Ctx() { return Context().WithTimeout(Seconds(20)); }

Request Get(std::string target = "/") {
  Request request;
  request.target = std::move(target);
  return request;
}

Request Post(std::string body) {
  Request request;
  request.method = "POST";
  request.target = "/";
  request.body = std::move(body);
  return request;
}

Request Harmless(Request request) {
  request.idempotent = true;
  return request;
}

std::unique_ptr<Client> Connect(const std::string& url, Options options = {}) {
  auto client = Client::Create(url, std::move(options));
  if (!client.ok()) ADD_FAILURE() << client.error().message;
  return *std::move(client);
}

// What the client makes of one answer; the server closes after it.
Result<Response> Answered(std::string_view answer, Request request = Get()) {
  RawServer server([&](Peer& peer, int) {
    peer.ReadRequest();
    peer.Write(answer);
  });
  return Connect(server.url())->Do(Ctx(), std::move(request));
}

TEST(Client, SendsWhatItIsGiven) {
  std::string seen;
  RawServer server([&](Peer& peer, int) {
    seen = peer.ReadRequest();
    peer.Write("HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-One: 1\r\nx-one: 2\r\n\r\nok");
    peer.WaitForEnd();
  });
  {
    auto client = Connect(server.url() + "/prefix/");
    Request request = Post("{}");
    request.target = "/a%2Fb?x=%20";
    request.content_type = "application/json";
    request.headers.Set("Authorization", "Bearer x");
    auto response = client->Do(Ctx(), request);
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "ok");
    EXPECT_EQ(response->headers.Get("X-ONE"), "1");
  }
  EXPECT_EQ(seen, "POST /prefix/a%2Fb?x=%20 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                      "\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n"
                      "Content-Length: 2\r\n\r\n{}");
}

TEST(Client, ReadsEveryKindOfAnswer) {
  struct Case {
    std::string_view name, answer, method;
    int status;
    std::string_view body;
  };
  const Case cases[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "GET", 200, "abc"},
      {"no reason", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na", "GET", 200, "a"},
      {"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 1\n\na", "GET", 200, "a"},
      {"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
       "GET", 200, "abc0123456789"},
      {"trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n", "GET", 200, "a"},
      {"until the end", "HTTP/1.1 200 OK\r\n\r\nabc", "GET", 200, "abc"},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nabc", "GET", 200, "abc"},
      {"204 has no body", "HTTP/1.1 204 No Content\r\n\r\n", "GET", 204, ""},
      {"304 has no body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "GET", 304, ""},
      {"HEAD has no body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HEAD", 200, ""},
      {"interim answers", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\na",
       "GET", 200, "a"},
      {"an error is an answer", "HTTP/1.1 500 Oops\r\nContent-Length: 1\r\n\r\nx", "DELETE", 500, "x"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Request request = Get();
    request.method = c.method;
    auto response = Answered(c.answer, request);
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->status, c.status);
    EXPECT_EQ(response->body, c.body);
  }
}

TEST(Client, SaysWhatIsWrongWithAnAnswer) {
  struct Case {
    std::string_view name, answer, message;
  };
  const std::string long_header = "HTTP/1.1 200 OK\r\nX: " + std::string(300'000, 'x') + "\r\n\r\n";
  const Case cases[] = {
      {"nothing", "", "connection closed by the server"},
      {"not HTTP", "220 smtp.example.com\r\n", "answer is not HTTP"},
      {"TLS alert", "\x15\x03\x01 alert\n", "answer is not HTTP"},
      {"no colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "bad header line"},
      {"endless header", long_header, "line too long"},
      {"cut head", "HTTP/1.1 200 OK\r\nContent-", "connection closed"},
      {"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "body cut off after 3 of 10 bytes"},
      {"cut chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc", "body cut off after 3 of 10"},
      {"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "body cut off"},
      {"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "bad chunk"},
      {"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "bad Content-Length"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto response = Answered(c.answer, Get("/path?secret=x"));
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.code(), Code::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr(c.message));
    EXPECT_THAT(response.error().message, HasSubstr("GET http://127.0.0.1:"));
    EXPECT_THAT(response.error().message, Not(HasSubstr("secret")));
  }
}

TEST(Client, SaysWhyItCannotConnect) {
  std::string url;
  {
    RawServer gone([](Peer&, int) {});
    url = gone.url();
  }
  auto refused = Connect(url)->Do(Ctx(), Get());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("Connection refused"));

  auto unknown = Connect("http://no-such-host.invalid")->Do(Ctx(), Get());
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("look up no-such-host.invalid"));

  RawServer reset([](Peer& peer, int) {
    peer.ReadRequest();
    peer.Reset();
  });
  auto broken = Connect(reset.url())->Do(Ctx(), Get());
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.code(), Code::kUnavailable);
  EXPECT_THAT(broken.error().message, HasSubstr("reset by peer"));
}

TEST(Client, RefusesWhatWouldBreakOutOfItsLine) {
  auto client = Connect("http://127.0.0.1:9");
  Request target = Get("/a b"), newline = Get("/a\r\nX: y"), method = Get(), header = Get(), name = Get();
  method.method = "GET /x";
  header.headers.Set("X", "a\r\nY: b");
  name.headers.Set("X Y", "a");
  for (const Request& request : {target, newline, method, header, name})
    EXPECT_EQ(client->Do(Ctx(), request).code(), Code::kInvalidArgument);
}

TEST(Client, UsesOneConnectionAgainAndAgain) {
  std::atomic<int> connections = 0;
  RawServer server([&](Peer& peer, int) {
    ++connections;
    while (!peer.ReadRequest().empty()) peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
  });
  auto client = Connect(server.url());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(client->Do(Ctx(), Get()).ok());
  EXPECT_EQ(connections, 1);
}

TEST(Client, DoesNotUseAConnectionThatShallClose) {
  for (std::string_view header : {"Connection: close", "connection: Keep-Alive, Close"}) {
    std::atomic<int> connections = 0;
    RawServer server([&](Peer& peer, int) {
      ++connections;
      while (!peer.ReadRequest().empty())
        peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" + std::string(header) + "\r\n\r\na");
    });
    auto client = Connect(server.url());
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(client->Do(Ctx(), Get()).ok());
    EXPECT_EQ(connections, 2) << header;
  }
}

TEST(Client, KeepsNoIdleConnectionTooLong) {
  std::atomic<int> connections = 0;
  RawServer server(
      [&](Peer& peer, int) {
        ++connections;
        while (!peer.ReadRequest().empty()) peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
      },
      /*parallel=*/true);
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  auto client = Connect(server.url());
  EXPECT_TRUE(client->Do(ctx, Get()).ok());
  clock.Advance(Seconds(59));
  EXPECT_TRUE(client->Do(ctx, Get()).ok());
  EXPECT_EQ(connections, 1);
  clock.Advance(Seconds(61));
  EXPECT_TRUE(client->Do(ctx, Get()).ok());
  EXPECT_EQ(connections, 2);
}

// F8: the server takes a second request on a kept-alive connection and drops it unanswered.
TEST(Client, SendsAgainWhereAKeptConnectionWasStale) {
  struct Case {
    std::string_view name;
    Request request;
    std::string_view half_answer;
    bool sent_again;
  };
  const Case cases[] = {
      {"GET", Get(), "", true},
      {"POST, which the server may have done", Post("x"), "", false},
      {"POST that does no harm twice", Harmless(Post("x")), "", true},
      {"GET with half an answer", Get(), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::atomic<int> requests = 0;
    RawServer server([&](Peer& peer, int index) {
      for (int i = 0; !peer.ReadRequest().empty(); ++i) {
        ++requests;
        if (index == 0 && i == 1) {
          peer.Write(c.half_answer);
          return;
        }
        peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
      }
    });
    auto client = Connect(server.url());
    ASSERT_TRUE(client->Do(Ctx(), Get()).ok());
    auto second = client->Do(Ctx(), c.request);
    EXPECT_EQ(second.ok(), c.sent_again);
    EXPECT_EQ(requests, c.sent_again ? 3 : 2);
  }
}

// Each time that a request is sent is one more that is asked for, and a refusal costs no connection.
TEST(Client, AsksBeforeItSends) {
  std::atomic<int> requests = 0, connections = 0;
  RawServer server([&](Peer& peer, int index) {
    ++connections;
    for (int i = 0; !peer.ReadRequest().empty(); ++i) {
      ++requests;
      if (index == 0 && i == 1) return;
      peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
    }
  });
  auto client = Connect(server.url());
  int asked = 0, allowed = 1;
  Request request = Get();
  request.before_send = [&] { return asked++ < allowed ? Ok() : Status(Error{Code::kFailedPrecondition, "no", {}}); };
  ASSERT_TRUE(client->Do(Ctx(), request).ok());
  EXPECT_EQ(client->Do(Ctx(), request).code(), Code::kFailedPrecondition);
  EXPECT_EQ(requests, 1);
  EXPECT_EQ(connections, 1);
  // The kept connection turns out to be stale.
  asked = 0;
  int again = 0;
  request.on_again = [&] { ++again; };
  EXPECT_EQ(client->Do(Ctx(), request).code(), Code::kFailedPrecondition);
  EXPECT_EQ(again, 1);
  EXPECT_EQ(requests, 2);
  EXPECT_EQ(asked, 2);
  asked = 0;
  EXPECT_TRUE(client->Do(Ctx(), request).ok());
  EXPECT_EQ(requests, 3);
  EXPECT_EQ(again, 1);
}

TEST(Client, DoesNotSendAgainOnANewConnection) {
  std::atomic<int> requests = 0;
  RawServer server([&](Peer& peer, int) {
    if (!peer.ReadRequest().empty()) ++requests;
  });
  EXPECT_FALSE(Connect(server.url())->Do(Ctx(), Get()).ok());
  EXPECT_EQ(requests, 1);
}

TEST(Client, HearsARefusalBeforeItHasSentEverything) {
  RawServer server([&](Peer& peer, int) {
    peer.Write("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig");
    peer.WaitForEnd();
  });
  auto response = Connect(server.url())->Do(Ctx(), Post(std::string(8 << 20, 'x')));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 413);
  EXPECT_EQ(response->body, "big");
}

TEST(Client, RunsCallsSideBySide) {
  std::atomic<int> waiting = 0;
  RawServer server(
      [&](Peer& peer, int) {
        peer.ReadRequest();
        ++waiting;
        while (waiting < 8) std::this_thread::yield();
        peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
        peer.WaitForEnd();
      },
      /*parallel=*/true);
  auto client = Connect(server.url());
  std::atomic<int> ok = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { ok += client->Do(Ctx(), Get()).ok(); });
  }
  EXPECT_EQ(ok, 8);
}

}  // namespace
}  // namespace capi::http
