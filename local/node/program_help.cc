#include "local/node/program_help.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

#include "base/files.h"
#include "base/processes/process.h"

namespace capi::local {
namespace {

constexpr std::array kHelpTimes = {Seconds(5), Seconds(20)};  // a machine may be busy; what knows no --help runs on
constexpr Seconds kUnsure{60};
constexpr Millis kTick{50};
constexpr size_t kLongestHelp = 1u << 20;

// What a program prints, without a file: a full disk would cut it off. Thread-compatible.
class Pipe {
 public:
  static Result<std::unique_ptr<Pipe>> Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return FileError("a pipe", errno);
    return std::unique_ptr<Pipe>(new Pipe(ends));
  }
  ~Pipe() {
    for (int end : ends_) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Whoever opens it writes into it, and waits where it is full.
  std::string path() const { return fmt::format("/proc/self/fd/{}", ends_[1]); }
  // Adds what is in it. Who says more than a help does isn't listened to.
  void Drain(std::string& text) const {
    std::array<char, 4096> piece{};
    ssize_t size = 0;
    while (text.size() < kLongestHelp && (size = read(ends_[0], piece.data(), piece.size())) > 0)
      text.append(piece.data(), static_cast<size_t>(size));
  }

 private:
  explicit Pipe(std::array<int, 2> ends) : ends_(ends) {}
  const std::array<int, 2> ends_;
};

struct Answer {
  Flags flags;
  bool ended = false;  // by itself
};

Result<Answer> AskProgram(const Context& ctx, const std::string& path, const std::string& folder,
                          const std::vector<std::string>& environment, Seconds limit) {
  const std::unique_ptr<Pipe> pipe = TRY(Pipe::Open());
  Context soon = ctx.WithTimeout(limit);
  auto process = TRY(Process::Start({.argv = {path, "--help"},
                                     .log_file = pipe->path(),
                                     .folder = folder,
                                     .environment = environment,
                                     .inherit_environment = false}));
  const pid_t group = process->pid();
  std::string text;
  bool late = false;
  while (!process->Wait(kTick)) {
    pipe->Drain(text);
    late = late || !soon.Check().ok();
    if (late) process->Signal(SIGKILL);
  }
  kill(-group, SIGKILL);
  pipe->Drain(text);
  return Answer{FlagsOfHelp(text), !late};
}

}  // namespace

Result<Flags> ProgramHelp::Of(const Context& ctx, const std::string& path, const std::string& folder,
                              const std::vector<std::string>& environment) {
  struct stat file {};
  stat(path.c_str(), &file);
  const std::string key = fmt::format("{} {} {} {}", path, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  {
    MutexLock lock(mu_);
    auto known = known_.find(key);
    if (known != known_.end() && ctx.clock->Monotonic() < known->second.until) return known->second.flags;
  }
  Answer answer;
  for (Seconds limit : kHelpTimes) {
    auto asked = AskProgram(ctx, path, folder, environment, limit);
    if (!asked.ok()) return Error{Code::kUnavailable, "its --help can't be asked: " + asked.error().message, {}};
    TRY(ctx.Check());  // it may have been cut off
    answer = std::move(*asked);
    if (answer.ended) break;
  }
  // Half of its flags would be taken for all, and its other ports for those that it has.
  if (!answer.ended && !answer.flags.empty())
    return Error{Code::kUnavailable,
                 fmt::format("its --help was cut off after {} s; it is asked again", kHelpTimes.back() / Seconds(1)),
                 {}};
  MutexLock lock(mu_);
  Known& known = known_[key];
  known = {std::move(answer.flags), answer.ended ? MonoTime::max() : ctx.clock->Monotonic() + kUnsure};
  return known.flags;
}

int FreePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  int port = 0;
  if (fd >= 0 && bind(fd, plain, size) == 0 && getsockname(fd, plain, &size) == 0) port = ntohs(address.sin_port);
  if (fd >= 0) close(fd);
  return port;
}

}  // namespace capi::local
