#include "kube/client/config/run_program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

namespace capi::kube {
namespace {

constexpr size_t kMaxOut = 4u << 20;
constexpr size_t kMaxErr = 4u << 10;
constexpr int kSliceMs = 20;  // how late a context's end may be noticed

struct Fd {
  int value = -1;
  Fd() = default;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { Close(); }
  void Close() {
    if (value >= 0) close(value);
    value = -1;
  }
};

struct Pipe {
  Fd read, write;
  bool Open() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return false;
    read.value = fds[0];
    write.value = fds[1];
    return fcntl(read.value, F_SETFL, O_NONBLOCK) == 0;
  }
};

// "NAME=value" of this process with `extra` instead of or beside it.
std::vector<std::string> Environment(const std::vector<std::pair<std::string, std::string>>& extra) {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    std::string_view entry = *at;
    std::string_view name = entry.substr(0, entry.find('='));
    bool replaced = std::any_of(extra.begin(), extra.end(), [&](const auto& e) { return e.first == name; });
    if (!replaced) out.emplace_back(entry);
  }
  for (const auto& [name, value] : extra) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

Result<pid_t> Spawn(const Program& program, int out, int err) {
  std::vector<std::string> argv = {program.command};
  argv.insert(argv.end(), program.args.begin(), program.args.end());
  std::vector<std::string> env = Environment(program.env);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!program.interactive) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  // Which signals our threads block is no affair of the program's: Ctrl-C ends it.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  int failed =
      posix_spawnp(&pid, program.command.c_str(), &actions, &attributes, Pointers(argv).data(), Pointers(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return pid;
  Code code = failed == ENOENT ? Code::kNotFound : Code::kUnauthenticated;
  return Error{code, fmt::format("{}: {}", program.command, std::strerror(failed)), {}};
}

// Reads what is there. False at the end of the stream.
bool Drain(Fd& fd, std::string& into, bool echo) {
  char buffer[4096];
  while (fd.value >= 0) {
    ssize_t n = read(fd.value, buffer, sizeof buffer);
    if (n > 0) {
      into.append(buffer, static_cast<size_t>(n));
      if (echo) [[maybe_unused]]
        ssize_t shown = write(2, buffer, static_cast<size_t>(n));
      if (into.size() > kMaxOut) return true;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    fd.Close();
  }
  return false;
}

// The exit code once the program has ended.
std::optional<int> Ended(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Status Follow(const Context& ctx, const Program& program, pid_t pid, Pipe& out, Pipe& err, ProgramOutput& result) {
  while (true) {
    std::optional<int> code = Ended(pid);  // before the last read, so that nothing printed is missed
    Drain(out.read, result.out, false);
    Drain(err.read, result.err, program.interactive);
    if (result.err.size() > kMaxErr) result.err.erase(0, result.err.size() - kMaxErr);
    if (code) {
      result.exit_code = *code;
      return Ok();
    }
    Status go_on = ctx.Check();
    if (result.out.size() > kMaxOut) {
      go_on = Error{Code::kInvalidArgument, fmt::format("{}: prints over {} bytes", program.command, kMaxOut), {}};
    }
    if (!go_on.ok()) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
      return go_on;
    }
    pollfd fds[] = {{out.read.value, POLLIN, 0}, {err.read.value, POLLIN, 0}};
    bool closed = out.read.value < 0 && err.read.value < 0;  // ends any moment
    poll(fds, 2, closed ? 1 : kSliceMs);
  }
}

}  // namespace

Result<ProgramOutput> RunProgram(const Context& ctx, const Program& program) {
  Pipe out, err;
  if (!out.Open() || !err.Open()) return Error{Code::kUnavailable, std::strerror(errno), {}};
  pid_t pid = TRY(Spawn(program, out.write.value, err.write.value));
  out.write.Close();
  err.write.Close();
  ProgramOutput result;
  TRY(Follow(ctx, program, pid, out, err, result));
  return result;
}

}  // namespace capi::kube
