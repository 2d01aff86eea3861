#include "cli/local/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"
#include "cli/local/logs.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

std::vector<local::ProcessState> Of(const std::string& status) {
  Json json = *ParseYaml(
      "metadata: {name: p, namespace: ns, annotations: {local.capi-operator.io/ports: '9440:38123,9443:5'}}\n"
      "status:\n" +
      status);
  return ProcessesOf(kube::Object(std::move(json)));
}

// G8.
TEST(LocalStatus, SaysOfEachContainerHowItsProcessIs) {
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

TEST(LocalStatus, WritesDurationsShort) {
  using std::chrono::seconds;
  for (auto [duration, text] :
       {std::pair(0, "0s"), {119, "119s"}, {120, "2m"}, {7199, "119m"}, {7200, "2h"}, {172800, "2d"}})
    EXPECT_EQ(ShortDuration(seconds(duration)), text);
}

class Commands : public testing::Test {
 protected:
  Outcome Local(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "local");
    arguments.insert(arguments.end(), {"--dir", folder_ / "plane"});
    return Clusterctl(std::move(arguments));
  }
  void MakePlane() { folder_.Put("plane/capi-local.json", R"({"plane":"0123456789abcdef","format":1})"); }
  TestFolder folder_;
};

// G8: what the exit codes say.
TEST_F(Commands, OfAPlaneThatDoesNotRun) {
  EXPECT_EQ(Local({"status"}).code, 3);
  EXPECT_THAT(Local({"status"}).out, HasSubstr("no plane lives in"));
  EXPECT_EQ(Local({"down"}).code, 0);
  MakePlane();
  const Outcome status = Local({"status"});
  EXPECT_EQ(status.code, 3);
  EXPECT_THAT(status.out, HasSubstr("doesn't run"));
  EXPECT_THAT(Local({"status", "-o", "json"}).out, HasSubstr("\"running\": false"));
  EXPECT_THAT(Local({"down"}).out, HasSubstr("doesn't run; its data is kept"));
  EXPECT_EQ(Local({"down", "--delete"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "plane"));
}

TEST_F(Commands, LogsAreFoundByManyNames) {
  MakePlane();
  folder_.Put("plane/logs/etcd.log", "one\ntwo\nthree\n");
  folder_.Put("plane/pods/capi-system_capi-controller-manager-5d-x/manager.log", "of the core\n");
  folder_.Put("plane/pods/capd-system_capd-controller-manager-7f-y/manager.log", "of docker\n");
  EXPECT_EQ(Local({"logs", "etcd"}).out, "one\ntwo\nthree\n");
  EXPECT_EQ(Local({"logs", "etcd", "--tail", "2"}).out, "two\nthree\n");
  EXPECT_EQ(Local({"logs", "etcd", "--tail", "0"}).out, "");
  EXPECT_EQ(Local({"logs", "etcd", "--tail", "9"}).out, "one\ntwo\nthree\n");
  for (const char* name : {"capi-controller-manager", "capi-controller-manager-5d-x",
                           "capi-system/capi-controller-manager", "capi-system/capi-controller-manager-5d-x:manager"})
    EXPECT_EQ(Local({"logs", name}).out, "of the core\n") << name;
  EXPECT_EQ(Local({"logs"}).out,
            "==> capd-system/capd-controller-manager-7f-y:manager <==\nof docker\n"
            "==> capi-system/capi-controller-manager-5d-x:manager <==\nof the core\n"
            "==> etcd <==\none\ntwo\nthree\n");
  const Outcome nobody = Local({"logs", "nobody"});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("no process \"nobody\"; there are capd-system/"));
}

}  // namespace
}  // namespace capi::cli
