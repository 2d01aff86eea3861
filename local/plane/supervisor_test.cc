// What a supervisor does around its processes, with programs that never are ready.
#include "local/plane/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/testing/await.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"
#include "local/plane/leftovers.h"
#include "local/plane/plane_lock.h"
#include "local/plane/state.h"

namespace capi::local {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Supervisor : public ::testing::Test {
 protected:
  std::string Program(const std::string& name, const std::string& script) {
    const std::string path = temp_ / name;
    EXPECT_TRUE(WriteFile(path, "#!/bin/sh\n" + script + "\n", 0755).ok());
    return path;
  }
  Status Run(const Context& ctx) {
    return Supervise(
        ctx,
        {.folder = plane_, .private_folder = private_, .programs = programs_, .environment = {}, .images = *images_});
  }

  TempFolder temp_;
  PlaneFolder plane_ = ValueOrAbort(PlaneFolder::Make(temp_ / "plane"), "plane");
  const std::string private_ = temp_ / ("capi-local-" + plane_.id());
  std::unique_ptr<Programs> images_ = ValueOrAbort(OpenPrograms({}), "programs");
  PlanePrograms programs_{Program("etcd", "exec tail -f /dev/null"),
                          Program("kube-apiserver", "exec tail -f /dev/null"), ""};
};

// Rule G2: who finds the lock free finds no process of the supervisor, either.
TEST_F(Supervisor, HasItsLockUntilItsProcessEnds) {
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::stop_source stop;
    stop.request_stop();
    const char byte = Run(Context{}.WithStop(stop.get_token())).ok() ? 'y' : 'n';
    [[maybe_unused]] const ssize_t n = write(done[1], &byte, 1);
    for (;;) pause();
  }
  close(done[1]);  // where the child ends without a word, so does the wait
  char byte = 0;
  EXPECT_EQ(read(done[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(ValueOrAbort(SupervisorOf(plane_.Lock()), "lock"), std::optional(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(done[0]);
}

// Rule G3: somebody's logout removes it. What a program has started by itself ends with the run.
TEST_F(Supervisor, EndsWithItsPrivateFolderAndLeavesNothing) {
  programs_.etcd =
      Program("etcd", "tail -f /dev/null & echo begun >'" + (temp_ / "begun") + "'; exec tail -f /dev/null");
  std::optional<Status> ended;
  std::jthread run([&](const std::stop_token& stop) { ended = Run(Context{}.WithStop(stop)); });
  ASSERT_TRUE(Await([&] { return fs::exists(temp_ / "begun") && fs::exists(private_ + "/egress.yaml"); }));
  ASSERT_GE(LeftoversOf(plane_.id()).size(), 2u);
  ASSERT_TRUE(Await([&] { return ValueOrAbort(ReadState(plane_.State()), "state").processes.size() == 2; }));
  fs::remove_all(private_);
  EXPECT_TRUE(Await([&] { return LeftoversOf(plane_.id()).empty(); }));
  run.request_stop();
  run.join();
  ASSERT_TRUE(ended && !ended->ok());
  EXPECT_EQ(ended->code(), Code::kUnavailable);
  EXPECT_THAT(ended->error().message, HasSubstr("was removed, as by a logout"));
}

TEST_F(Supervisor, RemovesItsPrivateFolder) {
  std::stop_source stop;
  stop.request_stop();
  ASSERT_TRUE(Run(Context{}.WithStop(stop.get_token())).ok());
  EXPECT_TRUE(fs::exists(plane_.OwnKubeconfig()));
  EXPECT_FALSE(fs::exists(private_));
}

// Rule G8: nobody runs on a part of the data.
TEST_F(Supervisor, RunsNoPlaneThatIsHalfDeleted) {
  ASSERT_TRUE(WriteFile(plane_.path() + "/etcd.gone", "").ok());
  EXPECT_EQ(Run(Context{}).code(), Code::kUnavailable);
  EXPECT_FALSE(fs::exists(plane_.Etcd()));
}

}  // namespace
}  // namespace capi::local
