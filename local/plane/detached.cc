#include "local/plane/detached.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/files.h"

namespace capi::local {
namespace {

constexpr int kMostFiles = 1 << 16;

// What the child needs, made before fork: between fork and exec nothing may allocate.
struct Prepared {
  std::vector<char*> argv;
  int log = -1;
  int errors[2] = {-1, -1};  // the child writes errno here when exec fails; exec closes it
};

// Whoever waits for the end of a pipe or for a lock that the caller was started with doesn't wait for this one. Not
// before exec, since `errors` lives until then.
void CloseAtExec() {
  if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0) return;
  // A kernel before 5.11, or a sandbox that doesn't know the call.
  rlimit most{};
  const bool limited = getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < rlim_t{kMostFiles};
  const int end = limited ? static_cast<int>(most.rlim_cur) : kMostFiles;
  for (int file = 3; file < end; ++file) fcntl(file, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void BeChild(const Prepared& prepared) {
  auto fail = [&] {
    int number = errno;
    [[maybe_unused]] ssize_t n = write(prepared.errors[1], &number, sizeof number);
    _exit(127);
  };
  if (setsid() < 0) fail();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGHUP, SIG_IGN);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, 0) < 0 || dup2(prepared.log, 1) < 0 || dup2(prepared.log, 2) < 0) fail();
  if (chdir("/") != 0) fail();
  CloseAtExec();
  execv(prepared.argv[0], prepared.argv.data());
  fail();
  _exit(127);
}

}  // namespace

Result<pid_t> StartDetached(const std::vector<std::string>& argv, const std::string& log) {
  Prepared prepared;
  for (const std::string& argument : argv) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  prepared.log = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (prepared.log < 0) return FileError(log, errno);
  if (pipe2(prepared.errors, O_CLOEXEC) != 0) {
    const int number = errno;
    close(prepared.log);
    return FileError("pipe", number);
  }
  pid_t pid = fork();
  int number = pid < 0 ? errno : 0;
  if (pid == 0) BeChild(prepared);
  close(prepared.errors[1]);
  close(prepared.log);
  if (pid > 0 && read(prepared.errors[0], &number, sizeof number) == sizeof number) waitpid(pid, nullptr, 0);
  close(prepared.errors[0]);
  if (number == 0) return pid;
  return Error{Code::kNotFound, fmt::format("{}: {}", argv.front(), std::strerror(number)), {}};
}

}  // namespace capi::local
