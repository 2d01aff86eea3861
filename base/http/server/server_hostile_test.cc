// T5a: what clients do that are slow, broken or hostile, and that nobody else notices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/http/server/hostile_testing.h"
#include "base/http/server/server.h"
#include "base/http/server/server_testing.h"
#include "base/http/testing.h"
#include "base/testing/process_status.h"
#include "base/testing/value_or_abort.h"

namespace capi::http {
namespace {

using http_testing::Ask;
using http_testing::Echo;
using http_testing::HeldServer;
using http_testing::HostileClients;
using http_testing::kGet;
using http_testing::kGetHeld;
using http_testing::RawClient;
using http_testing::Serve;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Times so short that a test sees them pass, for all but the answers.
ServerLimits Hasty() { return {.head_time = Millis(100), .body_time = Millis(100), .idle_time = Millis(100)}; }

TEST(Hostile, WhatIsRefusedIsTold) {
  struct Case {
    std::string name, sends, answer;
  };
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\n";
  const Case cases[] = {
      {"no HTTP", std::string("\x16\x03\x01 hello\n"), "HTTP/1.1 400 "},
      {"an endless header", "GET /a HTTP/1.1\r\nHost: x\r\nA: " + std::string(1 << 20, 'a'), "HTTP/1.1 431 "},
      {"an endless target", "GET /" + std::string(1 << 20, 'a'), "HTTP/1.1 431 "},
      {"endless headers",
       std::string(kGet.substr(0, kGet.size() - 2)) +
           [] {
             std::string headers;
             for (int i = 0; i < 9'000; ++i) headers += "A: b\r\n";
             return headers;
           }(),
       "HTTP/1.1 431 "},
      {"a huge length", head + "Content-Length: 999999999999\r\n\r\n", "HTTP/1.1 413 "},
      {"a huge body", head + "Content-Length: 50000\r\n\r\n" + std::string(50'000, 'b'), "HTTP/1.1 413 "},
      {"two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "HTTP/1.1 400 "},
      {"a length and chunks", head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "HTTP/1.1 400 "},
      {"an endless extension", head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(1 << 20, 'e'),
       "HTTP/1.1 400 "},
      {"endless chunks",
       head + "Transfer-Encoding: chunked\r\n\r\n" +
           [] {
             std::string chunks;
             for (int i = 0; i < 3'500; ++i) chunks += "a\r\n0123456789\r\n";
             return chunks;
           }(),
       "HTTP/1.1 413 "},
      {"endless trailers", head + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + std::string(1 << 20, 't'),
       "HTTP/1.1 431 "},
  };
  ServerOptions options;
  options.limits.body = 30'000;
  std::atomic<int> handled = 0;
  auto server = Serve(options, [&](const ServerRequest& request) {
    ++handled;
    return Echo(request);
  });
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RawClient client(server->address());
    client.Write(c.sends);  // the rest may meet a closed connection
    std::string answer = client.ReadAnswer();
    // Who goes on sending for long is cut off, and may miss the answer.
    if (c.sends.size() < 60'000 || !answer.empty()) {
      EXPECT_THAT(answer, StartsWith(c.answer));
      EXPECT_THAT(answer, HasSubstr("Connection: close"));
    }
    EXPECT_EQ(client.ReadToEnd(), "");
  }
  EXPECT_EQ(handled, 0);
}

TEST(Hostile, WhoIsSlowIsCutOff) {
  struct Case {
    std::string name, sends, goes_on;
  };
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\n";
  const Case cases[] = {
      {"nothing", "", ""},
      {"half a head", "GET /a HT", ""},
      {"a head, byte by byte", "GET /a HTTP/1.1\r\nA: ", "a"},
      {"half a body", head + "Content-Length: 10\r\n\r\nabc", ""},
      {"a body, byte by byte", head + "Content-Length: 3000000\r\n\r\n", "b"},
      {"chunks, byte by byte", head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"},
  };
  ServerOptions options;
  options.limits = Hasty();
  auto server = Serve(options);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RawClient client(server->address());
    client.Write(c.sends);
    // Goes on for ever, one byte after the other, until the server has closed.
    std::jthread slow([&](const std::stop_token& stop) {
      while (!c.goes_on.empty() && !stop.stop_requested() && client.Write(c.goes_on)) {
        SystemClock().Sleep(stop, Millis(10));
      }
    });
    EXPECT_EQ(client.ReadToEnd(), "");
  }
}

TEST(Hostile, WhoIsIdleIsLetGo) {
  ServerOptions options;
  options.limits.idle_time = Millis(100);
  auto server = Serve(options);
  RawClient client(server->address());
  client.Write(kGet);
  EXPECT_THAT(client.ReadToEnd(), EndsWith("GET/a"));
}

TEST(Hostile, AFurtherRequestHasTheTimeOfTheFirst) {
  ServerOptions options;
  options.limits.head_time = Seconds(1);
  auto server = Serve(options);
  RawClient client(server->address());
  client.Write(kGet);
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET/a"));
  client.Write("GET /a HT");
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(Hostile, AStalledHandshakeIsCutOff) {
  http_testing::TestCa ca;
  auto pem = ca.Issue({.alt_names = "IP:127.0.0.1"});
  ServerOptions options;
  options.cert_pem = pem.cert;
  options.key_pem = pem.key;
  options.limits = Hasty();
  auto server = Serve(options);
  for (const std::string& sends : {std::string(), std::string("\x16\x03\x01\x02\x00\x01", 6), std::string(kGet)}) {
    RawClient client(server->address());
    client.Write(sends);
    EXPECT_NE(client.ReadToEnd(), "timed out");
  }
}

TEST(Hostile, PipelinedRequestsAreAnsweredInTheirOrder) {
  auto server = Serve();
  RawClient client(server->address());
  std::string all;
  for (int i = 0; i < 50; ++i) {
    all +=
        "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'z');
  }
  client.Write(all);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(client.ReadAnswer(), HasSubstr("\r\n\r\nPOST/" + std::to_string(i) + "zzz")) << i;
  }
}

TEST(Hostile, AClientThatOnlyEndedWritingGetsItsAnswer) {
  std::promise<void> ended;
  auto server = Serve({}, [&](const ServerRequest& request) {
    ended.get_future().wait();
    return Echo(request);
  });
  RawClient client(server->address());
  client.Write(kGet);
  client.EndWriting();
  ended.set_value();
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("GET/a"));
  RawClient half(server->address());
  half.Write("GET /a HT");
  half.EndWriting();
  EXPECT_EQ(half.ReadToEnd(), "");
}

TEST(Hostile, AClientThatIsGoneHarmsNobody) {
  HeldServer held;
  {
    RawClient client(held.server().address());
    client.Write(kGetHeld);
    ASSERT_TRUE(held.AwaitHeld(1));
    linger now = {1, 0};
    setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  held.Open();
  auto response = Ask(held.server().address());
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "GET/a");
}

TEST(Hostile, AClientThatNeverReadsIsCutOff) {
  ServerOptions options;
  options.limits.write_time = Millis(100);
  options.limits.held = 64u << 20;
  auto server = Serve(options, [](const ServerRequest&) {
    return Response{.status = 200, .headers = {}, .body = std::string(20 << 20, 'x')};  // more than sockets hold
  });
  RawClient client(server->address());
  client.Write(kGet);
  // As long as it doesn't read it can't tell; a second request is what finds the connection closed.
  while (client.Write(kGet)) std::this_thread::yield();
  EXPECT_NE(client.ReadToEnd(), "timed out");
}

TEST(Hostile, WhoWaitedLongestGivesWay) {
  ServerOptions options;
  options.limits.connections = 4;
  HeldServer held(options);
  const std::string address = held.server().address();
  RawClient answered(address);
  answered.Write(kGetHeld);
  ASSERT_TRUE(held.AwaitHeld(1));
  RawClient eldest(address);
  eldest.Write("GET /");
  RawClient useful(address);
  useful.Write(kGet);
  EXPECT_THAT(useful.ReadAnswer(), HasSubstr("GET/a"));
  // One after the other: the server takes each in before the next one comes.
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 3; ++i) {
    slow.push_back(std::make_unique<RawClient>(address));
    slow.back()->Write(kGet);
    EXPECT_THAT(slow.back()->ReadAnswer(), HasSubstr("GET/a"));
  }
  EXPECT_EQ(eldest.ReadToEnd(), "") << "it never asked for anything";
  EXPECT_EQ(useful.ReadToEnd(), "") << "it asked before the others did";
  slow.back()->Write(kGet);
  EXPECT_THAT(slow.back()->ReadAnswer(), HasSubstr("GET/a"));
  held.Open();
  EXPECT_THAT(answered.ReadAnswer(), HasSubstr("GET/held")) << "it was being answered";
}

TEST(Hostile, BodiesTogetherHaveABound) {
  ServerOptions options;
  options.limits.body = 1 << 20;
  options.limits.held = 4 << 20;
  auto server = Serve(options);
  const std::string half = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + std::string(900'000, 'x');
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->address()));
    clients.back()->Write(half);
  }
  // The first ones had to go; the last one goes on.
  EXPECT_EQ(clients[0]->ReadToEnd(), "");
  clients.back()->Write(std::string(100'000, 'x'));
  EXPECT_THAT(clients.back()->ReadAnswer(), StartsWith("HTTP/1.1 200 "));
}

// 1,000 of them beside: probes are answered, and memory stays where it was. How fast they are answered is told by `make
// bench`.
TEST(Hostile, AThousandDontKeepProbesOut) {
  http_testing::AllowDescriptors(4096);
  ServerOptions options;
  options.threads = 1;
  options.limits.body = 0;
  auto server = Serve(options);
  ASSERT_TRUE(Ask(server->address()).ok());
  size_t before = ValueOrAbort(ProcessStatus(getpid(), "VmRSS"), "memory");
  HostileClients hostile(server->address(), 1000);
  hostile.AwaitConnections(1000);
  for (int i = 0; i < 100; ++i) {
    auto response = Ask(server->address());
    ASSERT_TRUE(response.ok()) << i << ": " << response.error().message;
    EXPECT_EQ(response->body, "GET/a");
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep what is freed
  EXPECT_LT(ValueOrAbort(ProcessStatus(getpid(), "VmRSS"), "memory"), before + (32u << 10));
#endif
}

}  // namespace
}  // namespace capi::http
