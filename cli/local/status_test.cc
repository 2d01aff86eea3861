#include "cli/local/status.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/local/lock_holder_testing.h"
#include "cli/local/logs.h"
#include "cli/local/place.h"
#include "cli/move/move_testing.h"
#include "local/node/pod_status.h"
#include "local/plane/state.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

TEST(LocalStatus, WritesDurationsShort) {
  using std::chrono::seconds;
  const std::pair<int, const char*> cases[] = {{0, "0s"},      {119, "119s"}, {120, "2m"},
                                               {7199, "119m"}, {7200, "2h"},  {172800, "2d"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(ShortDuration(seconds(duration)), text);
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

// G14: a variable of a shell that isn't set would mean the user's own plane.
TEST_F(Commands, WithoutAFolderInItsFlagAreRefused) {
  for (const std::string& line : {"up", "down", "down --delete", "status", "logs"}) {
    std::vector<std::string> arguments = {"local"};
    for (std::string& word : Split(line, ' ')) arguments.push_back(std::move(word));
    arguments.insert(arguments.end(), {"--dir", ""});
    const Outcome got = Clusterctl(arguments, {{"HOME", folder_.path()}});
    EXPECT_EQ(got.code, 1) << line;
    EXPECT_THAT(got.err, HasSubstr("--dir: its value is empty")) << line;
  }
}

// G8: one that somebody of another container or machine runs isn't taken for one that doesn't run.
TEST_F(Commands, OfAPlaneThatCanNotBeSeenFail) {
  MakePlane();
  const int fd = open((folder_ / "plane/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);  // the kernel tells no process for its holder
  const Outcome status = Local({"status"});
  EXPECT_EQ(status.code, 1);
  EXPECT_THAT(status.err, HasSubstr("another container or machine"));
  close(fd);
}

// G8: what a person is told to do is for this plane, and no other one.
TEST_F(Commands, NameThePlaneThatTheyAreAskedOf) {
  MakePlane();
  EXPECT_THAT(Local({"status"}).out, HasSubstr("`clusterctl local up --dir " + (folder_ / "plane") + "`"));
  const auto plane = local::PlaneFolder::Open(folder_ / "plane");
  ASSERT_TRUE(plane.ok());
  EXPECT_EQ(DirFlag(*plane, From({})), " --dir " + plane->path());
  folder_.Put("cluster-api/local/capi-local.json", R"({"plane":"0123456789abcdef","format":1})");
  const auto usual = local::PlaneFolder::Open(folder_ / "cluster-api/local");
  ASSERT_TRUE(usual.ok());
  EXPECT_EQ(DirFlag(*usual, From({{"XDG_DATA_HOME", folder_ / ""}})), "");
}

// A plane that is ready, whose API server is the cluster a.
class OfAPlane : public move::Moves {
 protected:
  void SetUp() override {
    folder_.Put("plane/capi-local.json", R"({"plane":"0123456789abcdef","format":1})");
    folder_.Put("plane/pki/kubeconfig", a_.Kubeconfig());
    supervisor_.Hold(folder_ / "plane/lock", local::PlaneLock::Who::kSupervisor);
    const auto holder = local::SupervisorOf(folder_ / "plane/lock");
    ASSERT_TRUE(holder.ok() && *holder);
    ASSERT_TRUE(local::WriteState(folder_ / "plane/state.json", {.supervisor = **holder, .ready = true}).ok());
  }
  Outcome Status(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"local", "status", "--dir", folder_ / "plane"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Clusterctl(std::move(arguments));
  }
  void Put(const char* yaml) { a_.Put(*ParseYaml(yaml)); }

  LockHolder supervisor_;
};

// G8: `status && ...` goes on where all managers are there.
TEST_F(OfAPlane, ADeploymentWithoutItsPodsIsARowThatIsNotReady) {
  EXPECT_EQ(Status().code, 0);
  Put("{kind: Deployment, metadata: {name: m, namespace: ns}, spec: {replicas: 2}}");
  const Outcome got = Status();
  EXPECT_EQ(got.code, 2);
  EXPECT_THAT(got.out, testing::ContainsRegex("ns/m +False .*it has 0 of 2 Pods"));
}

// G8: the others are what it has.
TEST_F(OfAPlane, APodThatGoesCountsForNothing) {
  Put("{kind: Pod, metadata: {name: p, namespace: ns, finalizers: [x]}, status: {message: waits}}");
  EXPECT_EQ(Status().code, 2);
  Put("{kind: Pod, metadata: {name: p, namespace: ns, finalizers: [x], deletionTimestamp: '2026-01-02T03:04:05Z'},\n"
      " status: {message: waits}}");
  const Outcome got = Status();
  EXPECT_EQ(got.code, 0);
  EXPECT_THAT(got.out, testing::ContainsRegex("ns/p +False .*waits"));
}

// G8: of the operator's page, that of the run that there is; by now another program may have the port of an earlier
// one.
TEST_F(OfAPlane, ThePageIsThatOfThisRun) {
  const auto put = [this](pid_t pid) {
    const std::string id = "process://" + std::to_string(pid);
    Json pod = *ParseYaml(
        "{kind: Pod, metadata: {name: p, namespace: capi-operator-system},\n"
        " status: {containerStatuses: [{name: manager, state: {running: {startedAt: '2026-01-02T03:04:05Z'}}}]}}");
    pod["metadata"]["annotations"][local::kPortsAnnotation] = "8444:31002";
    pod["status"]["containerStatuses"][0]["containerID"] = id;
    a_.Put(std::move(pod));
  };
  put(1);
  EXPECT_THAT(Status().out, testing::Not(HasSubstr("31002/")));
  EXPECT_THAT(Status({"-o", "json"}).out, testing::Not(HasSubstr("\"page\"")));
  put(supervisor_.child());
  EXPECT_THAT(Status().out, HasSubstr("\nThe status page: http://127.0.0.1:31002/\n"));
  EXPECT_THAT(Status({"-o", "json"}).out, HasSubstr("\"page\": \"http://127.0.0.1:31002/\""));
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
  folder_.Put("plane/logs/half.log", "one\ntwo\nthr");  // its process has more to say
  const std::pair<const char*, const char*> tails[] = {
      {"0", ""}, {"1", "thr"}, {"2", "two\nthr"}, {"3", "one\ntwo\nthr"}, {"9", "one\ntwo\nthr"}};
  for (const auto& [lines, text] : tails) EXPECT_EQ(Local({"logs", "half", "--tail", lines}).out, text) << lines;
  std::filesystem::remove(folder_ / "plane/logs/half.log");
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
