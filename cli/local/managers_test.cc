#include "cli/local/managers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/yaml/yaml.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

// A child of this process, which counts for the supervisor.
class Child {
 public:
  Child() : pid_(fork()) {
    while (pid_ == 0) pause();
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};
const Child kChild;
const pid_t kOwn = kChild.pid(), kSupervisor = getpid();

kube::Object Deployment(const std::string& name, int replicas) {
  return kube::Object(*ParseYaml(
      fmt::format("metadata: {{name: {0}, namespace: ns, uid: {0}}}\nspec: {{replicas: {1}}}\n", name, replicas)));
}

kube::Object Pod(const std::string& of, pid_t pid, bool ready = true) {
  return kube::Object(*ParseYaml(
      fmt::format("metadata: {{name: {0}-x, namespace: ns, ownerReferences: [{{uid: {0}, controller: true}}]}}\n"
                  "status:\n  containerStatuses:\n  - {{name: m, ready: {1}, containerID: 'process://{2}',\n"
                  "     state: {{running: {{startedAt: '2026-01-02T03:04:05Z'}}}}}}\n",
                  of, ready, pid)));
}

std::vector<local::ProcessState> Of(const std::string& status) {
  Json json = *ParseYaml(
      "metadata: {name: p, namespace: ns, annotations: {local.capi-operator.io/ports: '9440:38123,9443:5'}}\n"
      "status:\n" +
      status);
  return ProcessesOf(kube::Object(std::move(json)));
}

// G8.
TEST(Managers, AreOneProcessForEachContainer) {
  auto running =
      Of("  containerStatuses:\n  - {name: manager, ready: true, restartCount: 2, containerID: 'process://77',\n"
         "     state: {running: {startedAt: '2026-01-02T03:04:05Z'}}}\n");
  ASSERT_EQ(running.size(), 1u);
  EXPECT_EQ(running[0], (local::ProcessState{"ns/p", 77, *ParseTime("2026-01-02T03:04:05Z"), 2, true, 38123, ""}));
  auto crashed =
      Of("  containerStatuses:\n  - {name: a, restartCount: 3, containerID: 'process://77', state: {waiting: {reason: "
         "CrashLoopBackOff, message: m}}}\n"
         "  - {name: b, ready: true, restartCount: 0, state: {running: {startedAt: x}}}\n");
  ASSERT_EQ(crashed.size(), 2u);
  EXPECT_EQ(crashed[0].name, "ns/p:a");
  EXPECT_EQ(crashed[0].pid, 0);
  EXPECT_FALSE(crashed[0].ready);
  EXPECT_EQ(crashed[0].message, "CrashLoopBackOff: m");
  auto waiting = Of("  {phase: Pending, message: no program}\n");
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_FALSE(waiting[0].ready);
  EXPECT_EQ(waiting[0].message, "no program");
}

// G8: of several containers each has its own port, or none.
TEST(Managers, ListenAtPortsOfTheirOwn) {
  const std::vector<local::ProcessState> both =
      Of("  containerStatuses: [{name: proxy}, {name: manager}, {name: other}]\nspec:\n  containers:\n"
         "  - {name: proxy, ports: [{containerPort: 9443}]}\n  - {name: manager, ports: [{containerPort: 9440}]}\n");
  ASSERT_EQ(both.size(), 3u);
  EXPECT_EQ(both[0].port, 5);
  EXPECT_EQ(both[1].port, 38123);
  EXPECT_EQ(both[2].port, 0);
}

// G8: why a Pod waits that has init containers.
TEST(Managers, WaitForInitContainersThatAreNotThrough) {
  const std::string rest = "  containerStatuses:\n  - {name: m, state: {waiting: {reason: PodInitializing}}}\n";
  const std::string through = "  - {name: first, state: {terminated: {exitCode: 0}}}\n";
  auto waiting = Of("  initContainerStatuses:\n" + through +
                    "  - {name: second, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: m}}}\n" +
                    "  - {name: third, state: {terminated: {exitCode: 1, message: bad}}}\n" + rest);
  ASSERT_EQ(waiting.size(), 3u);
  EXPECT_EQ(waiting[0], (local::ProcessState{"ns/p:second", 0, {}, 4, false, 0, "CrashLoopBackOff: m"}));
  EXPECT_EQ(waiting[1].name, "ns/p:third");
  EXPECT_EQ(waiting[1].message, "bad");
  EXPECT_EQ(waiting[2].name, "ns/p");
  EXPECT_EQ(Of("  initContainerStatuses:\n" + through + rest).size(), 1u);
}

// G2: what the API server has of a run that was killed says that all is ready.
TEST(Managers, AreReadyByTheWordsOfTheirOwnRunAlone) {
  const std::vector<kube::Object> one = {Deployment("a", 1)};
  EXPECT_EQ(NotReadyOf(one, {Pod("a", kOwn)}, kSupervisor), "");
  EXPECT_THAT(NotReadyOf(one, {Pod("a", kOwn)}, kSupervisor + 1), HasSubstr("ns/a-x: its process is gone"));
  EXPECT_THAT(NotReadyOf(one, {Pod("a", 1 << 30)}, kSupervisor), HasSubstr("ns/a-x: its process is gone"));
  EXPECT_THAT(NotReadyOf(one, {Pod("a", kOwn, false)}, kSupervisor), HasSubstr("ns/a-x"));
  EXPECT_THAT(NotReadyOf(one, {Pod("a", kOwn), Pod("a", kOwn, false)}, kSupervisor), HasSubstr("ns/a-x"));
}

TEST(Managers, AreAllThatAreWanted) {
  const std::vector<kube::Object> all = {Deployment("a", 1), Deployment("b", 0), Deployment("c", 2)};
  EXPECT_EQ(NotReadyOf(all, {Pod("a", kOwn), Pod("c", kOwn)}, kSupervisor), "ns/c: 1 of 2 Pods are ready");
  EXPECT_EQ(NotReadyOf(all, {Pod("a", kOwn), Pod("c", kOwn), Pod("c", kOwn), Pod("others", 1)}, kSupervisor), "");
  EXPECT_EQ(NotReadyOf(all, {Pod("c", kOwn), Pod("c", kOwn)}, kSupervisor), "ns/a: 0 of 1 Pods are ready");
}

// The node has another one in its place.
TEST(Managers, OfAPodThatEndsArentWaitedFor) {
  kube::Object ends = Pod("a", 1 << 30, false);
  ends.json()["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z";
  EXPECT_EQ(NotReadyOf({Deployment("a", 1)}, {ends, Pod("a", kOwn)}, kSupervisor), "");
  EXPECT_EQ(NotReadyOf({Deployment("a", 1)}, {ends}, kSupervisor), "ns/a: 0 of 1 Pods are ready");
}

// G8: `status && ...` goes on where all is ready, and in no moment between two Pods.
TEST(Managers, WithoutAPodAreMissing) {
  kube::Object ends = Pod("a", 1 << 30, false), goes = Deployment("d", 1);
  for (kube::Object* one : {&ends, &goes}) one->json()["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z";
  const std::vector<kube::Object> all = {Deployment("a", 1), Deployment("b", 0), Deployment("c", 2), goes};
  EXPECT_TRUE(MissingOf(all, {Pod("a", kOwn), Pod("c", kOwn), Pod("c", 1, false)}).empty());
  const auto missing = MissingOf(all, {ends, Pod("c", kOwn)});
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0], (local::ProcessState{"ns/a", 0, {}, 0, false, 0, "it has 0 of 1 Pods"}));
  EXPECT_EQ(missing[1].message, "it has 1 of 2 Pods");
}

// G8: `status` shows no process of an earlier run.
TEST(Managers, OfAnEarlierRunAreShownWithoutItsProcess) {
  const local::ProcessState told{"ns/p", kOwn, {}, 1, true, 5, ""};
  EXPECT_EQ(AsOfRun(told, kSupervisor), told);
  EXPECT_EQ(AsOfRun(told, kSupervisor + 1), (local::ProcessState{"ns/p", 0, {}, 1, false, 5, "its process is gone"}));
  const local::ProcessState waiting{"ns/p", 0, {}, 1, false, 0, "CrashLoopBackOff"};
  EXPECT_EQ(AsOfRun(waiting, kSupervisor), waiting);
}

}  // namespace
}  // namespace capi::cli
