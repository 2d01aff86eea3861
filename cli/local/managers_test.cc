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
