#include "cli/frame/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/testing/await.h"

namespace capi::cli {
namespace {

// In a process of its own: how it ends when it gets SIGTERM again and again after the first one. It goes on for as long
// as `release` is open.
int EndOf(NextSignal next) {
  int ready[2], release[2];
  if (pipe(ready) != 0 || pipe(release) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    {
      Interrupt interrupt(next);
      char byte = 'r';
      [[maybe_unused]] ssize_t n = write(ready[1], &byte, 1);
      close(release[1]);
      n = read(release[0], &byte, 1);
      if (interrupt.token().stop_requested()) code = 7;
    }
    _exit(code);
  }
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) return -1;
  close(release[0]);
  int status = 0;
  bool gone = false;
  auto has_ended = [&] { return gone = gone || waitpid(child, &status, WNOHANG) == child; };
  // Each is sent once the one before is taken: two of the same that wait are one.
  for (int i = 0; i < 3 && !gone; ++i) {
    kill(child, SIGTERM);
    if (!Await([&] {
          if (has_ended()) return true;
          std::ifstream file("/proc/" + std::to_string(child) + "/status");
          for (std::string line; std::getline(file, line);) {
            if (line.starts_with("ShdPnd:")) return line.find_first_not_of("0 \t", 7) == line.npos;
          }
          return false;
        }))
      ADD_FAILURE() << "nobody takes the signal";
  }
  close(release[1]);
  if (!gone) waitpid(child, &status, 0);
  close(ready[0]);
  close(ready[1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Interrupt, TheNextSignalEndsACommandAtOnce) { EXPECT_EQ(EndOf(NextSignal::kEnds), 130); }

// Rule G8: two `down` end a plane as one does.
TEST(Interrupt, FurtherSignalsAreNothingToOneThatProgramsEnd) { EXPECT_EQ(EndOf(NextSignal::kNothing), 7); }

}  // namespace
}  // namespace capi::cli
