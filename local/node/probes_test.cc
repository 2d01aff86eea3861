#include "local/node/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/testing.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

Json Yaml(std::string_view text) { return ValueOrAbort(ParseYaml(text), "yaml"); }

const MonoTime kStart{std::chrono::hours(1)};

// G7: thresholds count answers in a row.
TEST(ProbeState, ChangesAfterAnswersInARow) {
  ProbeState live({.failures = 3}, true, false, kStart);
  for (bool yes : {false, false, true, false, false}) live.Answered(yes, kStart);
  EXPECT_TRUE(live.good());
  live.Answered(false, kStart);
  EXPECT_FALSE(live.good());

  ProbeState ready({.successes = 2}, false, true, kStart);
  for (bool yes : {true, false, true}) ready.Answered(yes, kStart);
  EXPECT_FALSE(ready.good());
  ready.Answered(true, kStart);
  EXPECT_TRUE(ready.good());
}

// G7: who waits for a yes is asked at once and often; else the declared times count.
TEST(ProbeState, IsDue) {
  ProbeSpec spec{.initial_delay = Seconds(5), .period = Seconds(7)};
  ProbeState live(spec, true, false, kStart), ready(spec, false, true, kStart);
  EXPECT_EQ(live.due(), kStart + Seconds(5));
  EXPECT_EQ(ready.due(), kStart);
  live.Answered(true, kStart + Seconds(5));
  EXPECT_EQ(live.due(), kStart + Seconds(12));
  for (int wait : {20, 40, 80, 100, 100}) {
    ready.Answered(false, kStart);
    EXPECT_EQ(ready.due(), kStart + Millis(wait));
  }
  ready.Answered(true, kStart);
  EXPECT_EQ(ready.due(), kStart + Seconds(7));
  ProbeState command({.ask = {{"exec", {{"command", {"a"}}}}}}, false, true, kStart);
  command.Answered(false, kStart);
  EXPECT_EQ(command.due(), kStart + Millis(200)) << "each is a process";
}

TEST(ProbeState, OfAStartIsLateByTime) {
  ProbeState start({.initial_delay = Seconds(5), .period = Seconds(2), .failures = 10}, false, true, kStart);
  for (int i = 0; i < 100; ++i) start.Answered(false, kStart + Seconds(1));
  EXPECT_FALSE(start.Late(kStart + Seconds(24)));
  EXPECT_TRUE(start.Late(kStart + Seconds(25)));
  start.Answered(true, kStart + Seconds(24));
  EXPECT_FALSE(start.Late(kStart + Seconds(25)));
}

TEST(Probe, HasTheDefaultsOfKubernetes) {
  auto probe = ProbeOf(Yaml("readinessProbe: {tcpSocket: {port: 1}}"), "readinessProbe");
  ASSERT_TRUE(probe.ok() && *probe);
  EXPECT_EQ((*probe)->period, Seconds(10));
  EXPECT_EQ((*probe)->timeout, Seconds(1));
  EXPECT_EQ((*probe)->failures, 3);
  EXPECT_EQ((*probe)->successes, 1);
  EXPECT_FALSE(*ProbeOf(Yaml("{name: a}"), "livenessProbe"));
  auto grpc = ProbeOf(Yaml("livenessProbe: {grpc: {port: 1}}"), "livenessProbe");
  ASSERT_FALSE(grpc.ok());
  EXPECT_THAT(grpc.error().message, testing::HasSubstr("livenessProbe.grpc"));
}

TEST(Probe, KnowsAllPorts) {
  Json container = Yaml(R"(
ports: [{name: webhook, containerPort: 9443}, {name: health, containerPort: 9440}]
readinessProbe: {httpGet: {path: /readyz, port: health}}
livenessProbe: {tcpSocket: {port: 7000}}
)");
  EXPECT_THAT(PortsOf(container), testing::UnorderedElementsAre(9443, 9440, 9440, 7000));
  EXPECT_EQ(PortNumber(container, "webhook"), 9443);
  EXPECT_EQ(PortNumber(container, 12), 12);
  EXPECT_EQ(PortNumber(container, "none"), 0);
}

// G7: what counts as a yes.
TEST(Probe, Asks) {
  http_testing::RawServer server(
      [](http_testing::Peer& peer, int) {
        std::string request = peer.ReadRequest();
        bool good = request.starts_with("GET /good");
        peer.Write(good ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
      },
      true);
  Json container = Yaml("ports: [{name: h, containerPort: 9440}]");
  std::map<int, int> ports = {{9440, server.port()}};
  std::vector<std::string> ran;
  ProbeTarget target{container, ports, [&](const Context&, const std::vector<std::string>& command, Millis) {
                       ran = command;
                       return Ok();
                     }};
  struct Case {
    const char* ask;
    bool yes;
  };
  for (const Case& c : {Case{"{httpGet: {path: /good, port: h}}", true},
                        {"{httpGet: {path: good, port: 9440}}", true},
                        {"{httpGet: {path: /bad, port: h}}", false},
                        {"{tcpSocket: {port: h}}", true},
                        {"{tcpSocket: {port: 1}}", false},
                        {"{exec: {command: [a, b]}}", true}}) {
    ProbeSpec probe{.ask = Yaml(c.ask), .timeout = Seconds(10)};
    EXPECT_EQ(Ask({}, probe, target).ok(), c.yes) << c.ask;
  }
  EXPECT_THAT(ran, testing::ElementsAre("a", "b"));
  target.own = [](int) { return false; };
  Status other = Ask({}, {.ask = Yaml("{httpGet: {path: /good, port: h}}"), .timeout = Seconds(10)}, target);
  ASSERT_FALSE(other.ok()) << "another process answers";
  EXPECT_THAT(other.error().message, testing::HasSubstr("that of another process"));
}

}  // namespace
}  // namespace capi::local
