#include "cli/local_clusters/hooks/hook.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "cli/frame/interrupt.h"

namespace capi::cli::local_clusters {
namespace {

constexpr size_t kMaxOutput = 64u << 20;
constexpr Millis kGrace = Seconds(5);
// How often the end of the context, and of the program, is looked at while nothing comes from the program.
constexpr int kLookMillis = 50;
// In one round; they take all that a pipe may hold.
constexpr int kMostReads = 64;

// Both ends of a pipe, closed with it. Thread-compatible.
struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Status Open() {
    if (pipe2(ends.data(), O_CLOEXEC) == 0) return Ok();
    return Error{Code::kInternal, fmt::format("pipe: {}", std::strerror(errno)), {}};
  }
  void Close(size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    Close(0);
    Close(1);
  }
};

std::vector<std::string> Environment(const std::vector<std::string>& own) {
  std::map<std::string, std::string> merged;
  auto add = [&](const std::string& entry) { merged[entry.substr(0, entry.find('='))] = entry; };
  for (char** entry = environ; *entry != nullptr; ++entry) add(*entry);
  for (const std::string& entry : own) add(entry);
  std::vector<std::string> out;
  for (auto& [name, entry] : merged) out.push_back(std::move(entry));
  return out;
}

// Between fork and exec, where nothing may allocate.
[[noreturn]] void BeChild(const char* path, char* const* argv, char* const* envp, const std::array<int, 4>& files,
                          pid_t parent) {
  auto fail = [&] {
    int number = errno;
    [[maybe_unused]] ssize_t n = write(files[3], &number, sizeof number);
    _exit(127);
  };
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  if (getppid() != parent) _exit(127);
  // What it starts can be ended with it, Ctrl-C is ours alone to take, and who asks at a terminal is told that there is
  // none: in the background of ours it would be stopped without a word.
  if (setsid() < 0) fail();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  for (int target = 0; target < 3; ++target) {
    if (dup2(files[static_cast<size_t>(target)], target) < 0) fail();
  }
  execve(path, argv, envp);
  fail();
  _exit(127);
}

// A program that runs, its pipes, and what came of it. Thread-compatible.
class Running {
 public:
  Running(const Context& ctx, const HookRun& run) : ctx_(ctx), run_(run) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (pid_ > 0 && !end_) Reap();
  }

  Status Start();
  // Until its end, or that of the context.
  Status Serve();
  Result<std::string> Outcome();

 private:
  Status Exchange();  // one round
  void Write();
  void Read(Pipe& pipe, const std::function<void(std::string_view)>& see);
  bool Ended();
  void End();
  // Waits for its end, and ends what it has started.
  void Reap();

  const Context& ctx_;
  const HookRun& run_;
  Pipe in_, out_, words_;
  pid_t pid_ = -1;
  size_t written_ = 0;
  std::string output_;
  std::optional<int> end_;  // as waitpid has it
};

Status Running::Start() {
  Pipe errors;
  for (Pipe* pipe : {&in_, &out_, &words_, &errors}) TRY(pipe->Open());
  std::vector<std::string> environment = Environment(run_.environment);
  std::string path = run_.path;
  std::vector<char*> argv = {path.data(), nullptr}, envp;
  for (std::string& entry : environment) envp.push_back(entry.data());
  envp.push_back(nullptr);
  const std::array<int, 4> files = {in_.ends[0], out_.ends[1], words_.ends[1], errors.ends[1]};
  const pid_t parent = getpid();
  pid_ = ForkEndedWithSecondInterrupt();
  if (pid_ == 0) BeChild(path.c_str(), argv.data(), envp.data(), files, parent);
  if (pid_ < 0) return Error{Code::kInternal, fmt::format("{}: {}", run_.path, std::strerror(errno)), {}};
  in_.Close(0);
  out_.Close(1);
  words_.Close(1);
  errors.Close(1);
  int number = 0;
  if (read(errors.ends[0], &number, sizeof number) == sizeof number) {
    Reap();
    pid_ = -1;
    return Error{Code::kInvalidArgument, fmt::format("{} can't be run: {}", run_.path, std::strerror(number)), {}};
  }
  fcntl(in_.ends[1], F_SETFL, O_NONBLOCK);
  fcntl(out_.ends[0], F_SETFL, O_NONBLOCK);
  fcntl(words_.ends[0], F_SETFL, O_NONBLOCK);
  return Ok();
}

void Running::Write() {
  while (written_ < run_.input.size()) {
    ssize_t n = write(in_.ends[1], run_.input.data() + written_, run_.input.size() - written_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) break;  // it doesn't want all of it
    written_ += static_cast<size_t>(n);
  }
  in_.Close(1);
}

void Running::Read(Pipe& pipe, const std::function<void(std::string_view)>& see) {
  std::array<char, 16384> buffer;
  // One that never stops to write is not read for ever: the end of the context has to be looked at.
  for (int turn = 0; turn < kMostReads; ++turn) {
    ssize_t n = read(pipe.ends[0], buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return pipe.Close(0);
    see(std::string_view(buffer.data(), static_cast<size_t>(n)));
    if (output_.size() > kMaxOutput) return;
  }
}

bool Running::Ended() {
  siginfo_t info{};
  // It isn't taken away yet: until then nothing else has its number.
  const bool over =
      !end_ && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
  if (over) Reap();
  return end_.has_value();
}

void Running::Reap() {
  int status = 0;
  kill(-pid_, SIGKILL);
  EndsWithSecondInterrupt(0);
  waitpid(pid_, &status, 0);
  end_ = status;
}

Status Running::Exchange() {
  std::array<pollfd, 3> wait = {pollfd{in_.ends[1], POLLOUT, 0}, pollfd{out_.ends[0], POLLIN, 0},
                                pollfd{words_.ends[0], POLLIN, 0}};
  poll(wait.data(), wait.size(), kLookMillis);
  if (in_.ends[1] >= 0) Write();
  if (out_.ends[0] >= 0) Read(out_, [this](std::string_view text) { output_ += text; });
  if (words_.ends[0] >= 0) Read(words_, run_.on_words);
  if (output_.size() <= kMaxOutput) return Ok();
  return Error{Code::kInvalidArgument, fmt::format("{} writes more than {} MiB", run_.path, kMaxOutput >> 20), {}};
}

Status Running::Serve() {
  // Its own end counts: what it has left in the background ends with it, but what has gone into a group of its own may
  // hold the pipes open for ever.
  while (!Ended()) {
    Status going = ctx_.Check();
    if (going.ok()) going = Exchange();
    if (!going.ok()) {
      End();
      return going;
    }
  }
  return Exchange();
}

void Running::End() {
  kill(-pid_, SIGTERM);
  const MonoTime until = SystemClock().Monotonic() + kGrace;
  while (!Ended() && SystemClock().Monotonic() < until) {
    static_cast<void>(Exchange());  // it may have something to say yet
    output_.clear();
  }
  if (!end_) Reap();
}

Result<std::string> Running::Outcome() {
  if (WIFEXITED(*end_) && WEXITSTATUS(*end_) == 0) return std::move(output_);
  const std::string how = WIFEXITED(*end_) ? fmt::format("with exit code {}", WEXITSTATUS(*end_))
                                           : fmt::format("by signal {}", WTERMSIG(*end_));
  return Error{Code::kFailedPrecondition, fmt::format("{} ended {}", run_.path, how), {}};
}

}  // namespace

Result<std::string> RunHook(const Context& ctx, const HookRun& run) {
  // A write to a program that reads no more is an error to us, not the end.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  Running running(ctx, run);
  Status served = running.Start();
  if (served.ok()) served = running.Serve();
  sigaction(SIGPIPE, &before, nullptr);
  if (served.ok()) return running.Outcome();
  if (served.code() == Code::kDeadlineExceeded)
    return Error{Code::kDeadlineExceeded, fmt::format("{} takes too long and was ended", run.path), {}};
  return served.error();
}

}  // namespace capi::cli::local_clusters
