#include "base/testing/process_status.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing/value_or_abort.h"

namespace capi {
namespace {

TEST(ProcessStatus, TellsOfTheProcessThatIsNamed) {
  const size_t now = ValueOrAbort(ProcessStatus(getpid(), "VmRSS"), "memory"),
               peak = ValueOrAbort(ProcessStatus(getpid(), "VmHWM"), "");
  EXPECT_GT(now, 0u);
  EXPECT_GE(peak, now);
  EXPECT_EQ(ValueOrAbort(ProcessStatus(getpid(), "PPid"), "parent"), static_cast<size_t>(getppid()));
}

// What isn't told was 0 to bounds on memory and threads: "no more than before" held of a process that had ended.
TEST(ProcessStatus, SaysWhatItCannotTell) {
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(ended), nullptr, WEXITED | WNOWAIT), 0);
  const std::pair<int, std::string> cases[] = {{ended, "VmRSS"},  // nobody has waited for it yet
                                               {-1, "VmRSS"},
                                               {getpid(), "VmR"},
                                               {getpid(), "Nothing"},
                                               {getpid(), "Name"}};  // the last one is a text
  for (const auto& [pid, name] : cases) {
    auto told = ProcessStatus(pid, name);
    EXPECT_EQ(told.ok() ? "told" : CodeName(told.code()), CodeName(Code::kNotFound)) << pid << " " << name;
  }
  waitpid(ended, nullptr, 0);
}

}  // namespace
}  // namespace capi
