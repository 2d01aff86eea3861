// T5a: nobody takes more than a share of a server's connections, memory and handlers, or keeps it from stopping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <future>
#include <thread>
#include <vector>

#include "base/http/server/hostile_testing.h"
#include "base/http/server/server.h"
#include "base/http/server/server_connection.h"
#include "base/http/server/server_testing.h"
#include "base/http/testing.h"

namespace capi::http {
namespace {

using http_testing::AllDescriptors;
using http_testing::Ask;
using http_testing::HeldServer;
using http_testing::kGet;
using http_testing::kGetHeld;
using http_testing::RawClient;
using http_testing::Serve;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Sends requests without end and reads the answers, until the server closes the connection or this is destroyed.
class Pipelining {
 public:
  explicit Pipelining(const std::string& address)
      : client_(address),
        writer_([this](const std::stop_token& stop) {
          std::string many;
          for (int i = 0; i < 64; ++i) many += kGet;
          while (!stop.stop_requested() && client_.Write(many)) {
          }
        }),
        reader_([this] {
          while (client_.ReadAnswer().starts_with("HTTP/1.1 ")) ++answers_;
        }) {}

  ~Pipelining() {
    writer_.request_stop();
    shutdown(client_.fd(), SHUT_RDWR);  // megabytes may be on their way
  }

  [[nodiscard]] bool AwaitAnswers(int count) const {
    return Await([&] { return answers_ >= count; });
  }

 private:
  std::atomic<int> answers_ = 0;
  RawClient client_;
  std::jthread writer_, reader_;
};

// Whether the server stops in time; if not, the program ends: the server would be waited for without end.
bool Stops(Server& server, Millis limit = Seconds(20)) {
  auto stopped = std::async(std::launch::async, [&] { server.Stop(); });
  if (stopped.wait_for(limit) == std::future_status::ready) return true;
  std::fputs("the server doesn't stop\n", stderr);
  std::abort();
}

// CPU time of threads other than this one so far.
double OthersSeconds() {
  auto seconds = [](clockid_t clock) {
    timespec time = {};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  return seconds(CLOCK_PROCESS_CPUTIME_ID) - seconds(CLOCK_THREAD_CPUTIME_ID);
}

// How often they went to sleep.
long OthersWaits() {
  rusage all = {}, own = {};
  getrusage(RUSAGE_SELF, &all);
  getrusage(RUSAGE_THREAD, &own);
  return all.ru_nvcsw - own.ru_nvcsw;
}

TEST(Share, WhoNeverPausesBetweenRequestsGivesWay) {
  ServerOptions options;
  options.threads = 1;
  options.limits.connections = 4;
  for (int round = 0; round < 5; ++round) {
    auto server = Serve(options);
    std::vector<std::unique_ptr<Pipelining>> greedy;
    for (int i = 0; i < 4; ++i) greedy.push_back(std::make_unique<Pipelining>(server->address()));
    for (const auto& one : greedy) ASSERT_TRUE(one->AwaitAnswers(100));
    auto response = Ask(server->address());
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->body, "GET/a");
  }
}

TEST(Share, StopEndsBesideAClientThatNeverPauses) {
  auto server = Serve();
  Pipelining greedy(server->address());
  ASSERT_TRUE(greedy.AwaitAnswers(100));
  EXPECT_TRUE(Stops(*server));
}

TEST(Share, StopWaitsForNoReaderForLong) {
  ServerOptions options;
  options.limits.held = 64u << 20;
  options.limits.stop_time = Millis(50);
  auto server = Serve(options, [](const ServerRequest&) {
    return Response{.status = 200, .headers = {}, .body = std::string(20 << 20, 'x')};  // more than sockets hold
  });
  RawClient client(server->address());
  client.Write(kGet);
  pollfd answer = {client.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&answer, 1, 20'000), 1) << "it is being written";
  EXPECT_TRUE(Stops(*server, options.limits.write_time / 2));
}

TEST(Share, HandlersAreToldThatTheServerStops) {
  std::atomic<bool> inside = false;
  auto server = Serve({}, [&](const ServerRequest& request) {
    inside = true;
    SystemClock().Sleep(request.stop, Seconds(60));
    return http_testing::Echo(request);
  });
  RawClient client(server->address());
  client.Write(kGet);
  ASSERT_TRUE(Await([&] { return inside.load(); }));
  EXPECT_TRUE(Stops(*server));
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("GET/a"));
}

TEST(Share, WhatNoHandlerHasBegunGets503WhenTheServerStops) {
  ServerOptions options;
  options.threads = 1;
  HeldServer held(options);
  const std::string address = held.server().address();
  RawClient first(address), second(address), third(address);
  first.Write(kGetHeld);
  ASSERT_TRUE(held.AwaitHeld(1));
  second.Write("POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(second.ReadAnswer(), StartsWith("HTTP/1.1 100 "));
  second.Write("x");
  third.Write("nonsense\r\n");
  EXPECT_THAT(third.ReadToEnd(), StartsWith("HTTP/1.1 400 ")) << "by then the server has read what came before";
  std::jthread stopper([&] { held.server().Stop(); });
  ASSERT_TRUE(Await([&] { return !RawClient(address).Write(kGet); })) << "it stops";
  held.Open();
  EXPECT_THAT(first.ReadToEnd(), HasSubstr("GET/held")) << "its handler had begun";
  EXPECT_THAT(second.ReadToEnd(), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(held.held(), 1);
}

TEST(Share, RequestsAtHandlersHaveABoundAndTakeNothingFromOthers) {
  ServerOptions options;
  options.limits.held = 1 << 20;
  HeldServer held(options);
  const std::string address = held.server().address();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 60; ++i) {
    clients.push_back(std::make_unique<RawClient>(address));
    clients.back()->Write("POST /held?" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n" +
                          std::string(30'000, 'z'));
  }
  ASSERT_TRUE(held.AwaitHeld(8));
  ASSERT_TRUE(Ask(address).ok()) << "by then the server has read what came before, and sent away whom it had to";
  RawClient half(address);
  half.Write("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + std::string(8'000, 'y'));
  auto small = Ask(address);
  ASSERT_TRUE(small.ok()) << small.error().message;
  EXPECT_EQ(small->body, "GET/a");
  EXPECT_LE(held.held() * 30'000, options.limits.held / 2);
  half.Write(std::string(1'000, 'y'));
  std::vector<std::string> at_handlers = held.queries();
  held.Open();
  EXPECT_THAT(half.ReadAnswer(), EndsWith("yyy")) << "it isn't why memory ran short";
  for (const std::string& i : at_handlers) {
    EXPECT_TRUE(clients[std::stoul(i)]->ReadAnswer().ends_with("zzz")) << i << ": whom a handler has, keeps its place";
  }
}

TEST(Share, ARequestAtAHandlerCountsOnce) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets), 0);
  MonoTime now = MonoTime() + Seconds(1);
  ServerConnection connection(sockets[0], nullptr, {}, now);
  const std::string request = "GET /a HTTP/1.1\r\nHost: x\r\nA: " + std::string(8'000, 'a') + "\r\n\r\n";
  ASSERT_EQ(send(sockets[1], request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  connection.Step(now);
  ASSERT_TRUE(connection.whole());
  size_t before = connection.held();
  EXPECT_GE(before, request.size());
  (void)connection.TakeRequest();
  EXPECT_LE(connection.held(), before + 100);
  EXPECT_GE(connection.held(), request.size());
  close(sockets[1]);
}

// Half of the connections never wait for a handler, so that there is always one that can give way.
TEST(Share, HandlersHaveHalfOfTheConnections) {
  ServerOptions options;
  options.limits.connections = 4;
  options.limits.body_time = Seconds(2);
  HeldServer held(options);
  const std::string address = held.server().address();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<RawClient>(address));
    clients.back()->Write(kGetHeld);
    ASSERT_TRUE(held.AwaitHeld(i + 1));
  }
  // Its time begins once its head was read, and all is sent by then; with it comes no more than a part of the body.
  RawClient third(address);
  third.Write("POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n" + std::string(20'000, 'x'));
  EXPECT_THAT(third.ReadToEnd(), StartsWith("HTTP/1.1 503 ")) << "its turn didn't come in time";
  EXPECT_EQ(held.held(), 2);
  held.Open();
  for (const auto& client : clients) EXPECT_THAT(client->ReadAnswer(), EndsWith("GET/held"));
}

TEST(Share, AHandshakeThatGoesOnCountsWithItsMemory) {
  http_testing::TestCa ca;
  auto pem = ca.Issue({.alt_names = "IP:127.0.0.1"});
  ServerOptions options;
  options.cert_pem = pem.cert;
  options.key_pem = pem.key;
  options.limits.held = 200u << 10;  // four of them
  options.limits.head_time = Seconds(120);
  auto server = Serve(options);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(std::make_unique<RawClient>(server->address()));
  EXPECT_EQ(clients[0]->ReadToEnd(), "");
  pollfd second = {clients[1]->fd(), POLLIN, 0};
  EXPECT_EQ(poll(&second, 1, 0), 0);
}

TEST(Share, WhereDescriptorsRunOutTheEldestGivesWay) {
  auto server = Serve();
  RawClient idle(server->address());
  idle.Write(kGet);
  EXPECT_THAT(idle.ReadAnswer(), EndsWith("GET/a"));
  AllDescriptors taken;
  taken.Release();
  RawClient probe(server->address());  // has the last one
  probe.Write(kGet);
  EXPECT_THAT(probe.ReadAnswer(), EndsWith("GET/a"));
  EXPECT_EQ(idle.ReadToEnd(), "");
}

TEST(Share, WhereDescriptorsRanOutElsewhereTheServerWaits) {
  auto server = Serve();
  AllDescriptors taken;
  taken.Release();
  RawClient probe(server->address());  // has the last one
  probe.Write(kGet);
  long before = OthersWaits();
  double busy = OthersSeconds();
  EXPECT_TRUE(Await([&] { return OthersWaits() >= before + 3; })) << "it tries now and then, and not all the time";
  EXPECT_LT(OthersSeconds() - busy, 0.05) << "nor between two waits";
  pollfd answer = {probe.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&answer, 1, 0), 0) << "nobody can be let in";
  taken.Release();
  EXPECT_THAT(probe.ReadAnswer(), EndsWith("GET/a"));
}

TEST(Share, AServerWithoutADescriptorDoesNotStart) {
  AllDescriptors taken;
  for (int left : {0, 1}) {
    EXPECT_EQ(Server::Start({}, http_testing::Echo).code(), Code::kUnavailable) << left;
    taken.Release();
  }
}

}  // namespace
}  // namespace capi::http
