#include "local/node/pod_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "kube/meta/health.h"

namespace capi::local {
namespace {

const WallTime kNow = *ParseTime("2026-01-01T00:10:00Z");

ContainerFacts Facts(ContainerFacts::State state, bool ready = false) {
  ContainerFacts facts{.name = "manager", .image = "i:1", .state = state, .started = kNow, .ready = ready};
  facts.began = state == ContainerFacts::State::kRunning;
  return facts;
}

kube::Object Pod(const PodFacts& facts, WallTime now = kNow, Json old = Json::object()) {
  kube::Object pod(Json{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}, {"namespace", "n"}}}});
  pod.json()["status"] = std::move(old);
  pod.json()["status"] = PodStatus(pod, facts, now);
  return pod;
}

std::string Condition(const kube::Object& pod, std::string_view type, std::string_view field = "status") {
  for (const Json& one : pod.json()["status"]["conditions"]) {
    if (one["type"] == type) return GetString(one, {field});
  }
  return "";
}

// G4: a Pod is told of as a kubelet does.
TEST(PodStatus, TellsOfWhatWaitsAndRuns) {
  kube::Object waits = Pod({.started = kNow, .containers = {Facts(ContainerFacts::State::kWaiting)}});
  EXPECT_EQ(waits.json()["status"]["phase"], "Pending");
  EXPECT_EQ(waits.json()["status"]["containerStatuses"][0]["state"]["waiting"]["reason"], "ContainerCreating");
  EXPECT_EQ(Condition(waits, "Ready"), "False");
  EXPECT_EQ(Condition(waits, "Ready", "message"), "containers with unready status: [manager]");
  EXPECT_EQ(Condition(waits, "PodScheduled"), "True");

  kube::Object runs = Pod({.started = kNow, .containers = {Facts(ContainerFacts::State::kRunning)}});
  EXPECT_EQ(runs.json()["status"]["phase"], "Running");
  EXPECT_FALSE(kube::HealthOf(runs).ok());
  kube::Object ready = Pod({.started = kNow, .containers = {Facts(ContainerFacts::State::kRunning, true)}});
  EXPECT_EQ(Condition(ready, "Ready"), "True");
  EXPECT_EQ(ready.json()["status"]["podIP"], "127.0.0.1");
  EXPECT_TRUE(kube::HealthOf(ready).ok());
  kube::Object half =
      Pod({.started = kNow,
           .containers = {Facts(ContainerFacts::State::kRunning, true), Facts(ContainerFacts::State::kRunning)}});
  EXPECT_EQ(Condition(half, "Ready"), "False");
}

// G7: a crash loop has its reason, and the end before.
TEST(PodStatus, TellsOfACrashLoop) {
  ContainerFacts facts = Facts(ContainerFacts::State::kWaiting);
  facts.reason = "CrashLoopBackOff";
  facts.message = "back-off 10s";
  facts.restarts = 2;
  facts.end =
      ContainerEnd{.exit_code = 3, .reason = "Error", .message = "no such flag", .started = kNow, .finished = kNow};
  kube::Object pod = Pod({.started = kNow, .containers = {facts}});
  EXPECT_EQ(pod.json()["status"]["phase"], "Running");
  const Json& status = pod.json()["status"]["containerStatuses"][0];
  EXPECT_EQ(status["state"]["waiting"]["reason"], "CrashLoopBackOff");
  EXPECT_EQ(status["lastState"]["terminated"]["exitCode"], 3);
  EXPECT_EQ(status["lastState"]["terminated"]["message"], "no such flag");
  EXPECT_EQ(status["restartCount"], 2);
  EXPECT_EQ(kube::HealthOf(pod).state, kube::HealthState::kFailed);
}

TEST(PodStatus, WaitsForWhatComesFirst) {
  ContainerFacts init = Facts(ContainerFacts::State::kRunning);
  kube::Object pod = Pod({.started = kNow, .init = {init}, .containers = {Facts(ContainerFacts::State::kWaiting)}});
  EXPECT_EQ(pod.json()["status"]["phase"], "Pending");
  EXPECT_EQ(Condition(pod, "Initialized"), "False");
  init.state = ContainerFacts::State::kEnded;
  init.end = ContainerEnd{.exit_code = 0, .reason = "Completed"};
  pod = Pod({.started = kNow, .init = {init}, .containers = {Facts(ContainerFacts::State::kRunning, true)}});
  EXPECT_EQ(Condition(pod, "Initialized"), "True");
  EXPECT_EQ(pod.json()["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"], 0);
}

TEST(PodStatus, KeepsTheTimesOfConditions) {
  PodFacts facts{.started = kNow, .containers = {Facts(ContainerFacts::State::kRunning)}};
  kube::Object first = Pod(facts), second = Pod(facts, kNow + Seconds(9), first.json()["status"]);
  EXPECT_EQ(first.json(), second.json());
  facts.containers[0].ready = true;
  kube::Object third = Pod(facts, kNow + Seconds(9), second.json()["status"]);
  EXPECT_EQ(Condition(third, "Ready", "lastTransitionTime"), "2026-01-01T00:10:09Z");
  EXPECT_EQ(Condition(third, "PodScheduled", "lastTransitionTime"), "2026-01-01T00:10:00Z");
}

TEST(PodStatus, OfAPodThatIsNotRun) {
  kube::Object pod(Json{{"apiVersion", "v1"}, {"kind", "Pod"}});
  pod.json()["status"] = UnscheduledStatus(pod, "NotRunHere", "not here", kNow);
  EXPECT_THAT(kube::HealthOf(pod).message, testing::HasSubstr("not here"));
}

TEST(PodStatus, HasPortsAndProcess) {
  ContainerFacts facts = Facts(ContainerFacts::State::kRunning);
  facts.ports = {{9443, 40001}, {9440, 40002}};
  facts.pid = 12;
  PodFacts all{.containers = {facts}};
  EXPECT_EQ(PortsAnnotation(all), "9440:40002,9443:40001");
  kube::Object pod = Pod(all);
  EXPECT_EQ(pod.json()["status"]["containerStatuses"][0]["containerID"], "process://12");
  EXPECT_TRUE(PortsIn(pod).empty());
  pod.set_annotation(kPortsAnnotation, PortsAnnotation(all));
  EXPECT_EQ(PortsIn(pod), facts.ports);
  pod.set_annotation(kPortsAnnotation, "9440,x,:,8443:31001");
  EXPECT_THAT(PortsIn(pod), testing::ElementsAre(testing::Pair(8443, 31001)));
}

// G7: the last lines of a log, without values of Secrets.
TEST(LogTail, IsShortAndTellsNoSecret) {
  EXPECT_EQ(LogTail("", {}), "");
  EXPECT_EQ(LogTail("a\nb\n", {}), "a\nb");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "line " + std::to_string(i) + "\n";
  EXPECT_TRUE(LogTail(many, {}).starts_with("line 90\n"));
  EXPECT_EQ(LogTail("login with hunter22 failed: hunter22", {"hunter22", "no"}), "login with *** failed: ***");
  std::string umlauts;
  for (int i = 0; i < 3000; ++i) umlauts += "\xc3\xa4";
  std::string tail = LogTail("a" + umlauts, {});
  EXPECT_LE(tail.size(), 2048u);
  EXPECT_TRUE(IsValidUtf8(tail));
}

// G7: nor the end of a value that has many lines, or is longer than what is told; nor one without the end of its line.
TEST(LogTail, TellsNoPartOfASecret) {
  std::string key = "-----BEGIN KEY-----\n";
  for (int i = 10; i < 40; ++i) key += "line" + std::to_string(i) + "ofkey\n";
  std::string tail = LogTail("bad key:\n" + key, {key});
  EXPECT_EQ(tail.find("ofkey"), tail.npos) << tail;
  tail = LogTail("the end:\nline38ofkey\nline39ofkey\nfailed", {key});
  EXPECT_EQ(tail, "the end:\n***\n***\nfailed");
  EXPECT_EQ(LogTail("login with hunter22: failed", {"hunter22\n"}), "login with ***: failed");
  EXPECT_EQ(LogTail("hunter22-and-more", {"hunter22", "hunter22-and-more"}), "***");
  std::string large(5000, 'k');
  EXPECT_EQ(LogTail("bad: " + large, {large}), "bad: ***");
}

}  // namespace
}  // namespace capi::local
