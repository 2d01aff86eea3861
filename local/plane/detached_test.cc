#include "local/plane/detached.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <thread>

#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

constexpr int kLimit = 10'000;  // milliseconds

// As on a kernel that doesn't have the call; of this thread and its children.
void ForbidCloseRange() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(filter), filter};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  ASSERT_NE(close_range(3, ~0u, CLOSE_RANGE_CLOEXEC), 0);
}

// Rule G3: `clusterctl local up 3>&1 | tee log` ends with `up`, and not with the plane.
TEST(StartDetached, PassesOnNothingThatItsCallerHasOpen) {
  TempFolder temp;
  for (bool old_kernel : {false, true}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);  // which exec doesn't close
    Result<pid_t> pid = 0;
    std::thread([&] {
      if (old_kernel) ForbidCloseRange();
      pid = StartDetached({"/usr/bin/tail", "-f", "/dev/null"}, temp / "log");
    }).join();
    close(ends[1]);
    ASSERT_TRUE(pid.ok()) << pid.error().message;
    pollfd end{.fd = ends[0], .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&end, 1, kLimit), 1) << "the child has it, old kernel: " << old_kernel;
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    EXPECT_EQ(waitpid(*pid, nullptr, WNOHANG), 0) << "it runs";
    kill(*pid, SIGKILL);
    waitpid(*pid, nullptr, 0);
  }
}

TEST(StartDetached, TellsWhatCannotBeStarted) {
  TempFolder temp;
  EXPECT_EQ(StartDetached({temp / "none"}, temp / "log").code(), Code::kNotFound);
}

}  // namespace
}  // namespace capi::local
