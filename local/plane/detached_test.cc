#include "local/plane/detached.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

constexpr int kLimit = 10'000;  // milliseconds

// Rule G3: `clusterctl local up 3>&1 | tee log` ends with `up`, and not with the plane.
TEST(StartDetached, PassesOnNothingThatItsCallerHasOpen) {
  TempFolder temp;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // which exec doesn't close
  const auto pid = StartDetached({"/bin/sleep", "1000"}, temp / "log");
  close(ends[1]);
  ASSERT_TRUE(pid.ok()) << pid.error().message;
  pollfd end{.fd = ends[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, kLimit), 1) << "the child has it";
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
  EXPECT_EQ(waitpid(*pid, nullptr, WNOHANG), 0) << "it runs";
  kill(*pid, SIGKILL);
  waitpid(*pid, nullptr, 0);
}

TEST(StartDetached, TellsWhatCannotBeStarted) {
  TempFolder temp;
  EXPECT_EQ(StartDetached({temp / "none"}, temp / "log").code(), Code::kNotFound);
}

}  // namespace
}  // namespace capi::local
