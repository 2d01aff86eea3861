#include "base/processes/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <thread>

#include "base/caught.h"
#include "base/files.h"
#include "base/mutex.h"
#include "base/processes/temporary_folder.h"
#include "base/strings.h"

namespace capi {

struct Process::State {
  ProcessOptions options;
  Mutex mu;
  std::condition_variable_any changed;
  std::optional<pid_t> pid CAPI_GUARDED_BY(mu);        // set once the child runs
  std::optional<int> start_error CAPI_GUARDED_BY(mu);  // errno of a failed start
  std::optional<int> end CAPI_GUARDED_BY(mu);
  std::thread thread;
};

namespace {

// What the child needs, made before fork: between fork and exec nothing may allocate.
struct Prepared {
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;
  int log = -1, output = -1, cgroup = -1;
  int errors[2] = {-1, -1};  // the child writes errno here when exec fails; exec closes it
  pid_t parent = getpid();
};

std::vector<std::string> MergedEnvironment(const std::vector<std::string>& own, bool inherit) {
  std::map<std::string, std::string> merged;
  auto add = [&](const std::string& entry) { merged[entry.substr(0, entry.find('='))] = entry; };
  for (char** entry = environ; inherit && *entry != nullptr; ++entry) add(*entry);
  for (const std::string& entry : own) add(entry);
  std::vector<std::string> out;
  for (auto& [name, entry] : merged) out.push_back(std::move(entry));
  return out;
}

void Prepare(ProcessOptions& options, Prepared& prepared) {
  prepared.environment = MergedEnvironment(options.environment, options.inherit_environment);
  for (std::string& argument : options.argv) prepared.argv.push_back(argument.data());
  for (std::string& entry : prepared.environment) prepared.envp.push_back(entry.data());
  prepared.argv.push_back(nullptr);
  prepared.envp.push_back(nullptr);
  const std::string log = options.log_file.empty() ? "/dev/null" : options.log_file;
  const std::string& output = options.output_file.empty() ? log : options.output_file;
  prepared.log = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  prepared.output = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (!options.cgroup.empty()) prepared.cgroup = open((options.cgroup + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
}

[[noreturn]] void BeChild(const Prepared& prepared, const char* folder) {
  auto fail = [&] {
    int number = errno;
    [[maybe_unused]] ssize_t n = write(prepared.errors[1], &number, sizeof number);
    _exit(127);
  };
  // The signal comes when the forking *thread* ends; that one waits for this child.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  if (getppid() != prepared.parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  setpgid(0, 0);  // Ctrl-C goes to the parent alone
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, 0) < 0 || dup2(prepared.output, 1) < 0 || dup2(prepared.log, 2) < 0) fail();
  if (*folder != '\0' && chdir(folder) != 0) fail();
  if (prepared.cgroup >= 0 && write(prepared.cgroup, "0", 1) != 1) fail();
  execve(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  fail();
  _exit(127);
}

// Forks and executes; 0 or the errno of what failed.
int Launch(ProcessOptions& options, pid_t& pid) {
  Prepared prepared;
  Prepare(options, prepared);
  if (!options.cgroup.empty() && prepared.cgroup < 0) return errno;
  if (prepared.log < 0 || prepared.output < 0 || pipe2(prepared.errors, O_CLOEXEC) != 0) return errno;
  pid = fork();
  int number = pid < 0 ? errno : 0;
  if (pid == 0) BeChild(prepared, options.folder.c_str());
  close(prepared.errors[1]);
  close(prepared.log);
  close(prepared.output);
  if (prepared.cgroup >= 0) close(prepared.cgroup);
  if (pid > 0 && read(prepared.errors[0], &number, sizeof number) == sizeof number) {
    waitpid(pid, nullptr, 0);
  }
  close(prepared.errors[0]);
  return number;
}

int ExitCode(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Process>> Process::Start(ProcessOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  const std::string& argv0 = state->options.argv[0];
  State& shared = *state;
  std::unique_ptr<Process> process(new Process(std::move(state)));
  auto keep = [&shared] {
    pid_t pid = -1;
    int number = ENOMEM;
    (void)Caught([&] { number = Launch(shared.options, pid); });
    {
      MutexLock lock(shared.mu);
      if (number != 0) shared.start_error = number, shared.end = 127;
      shared.pid = pid;
    }
    shared.changed.notify_all();
    if (number != 0) return;
    // Waits without reaping, so that the pid stays valid for Signal until `end` is set.
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    MutexLock lock(shared.mu);
    int status = 0;
    waitpid(pid, &status, 0);
    shared.end = ExitCode(status);
    shared.changed.notify_all();
  };
  if (auto thrown = Caught([&] { shared.thread = std::thread(keep); })) {
    return Error{Code::kUnavailable, fmt::format("{}: no thread to start it in: {}", argv0, *thrown), {}};
  }
  MutexLock lock(shared.mu);
  shared.changed.wait(shared.mu, [&] {
    shared.mu.AssertHeld();
    return shared.pid.has_value();
  });
  if (shared.start_error) {
    Code code = *shared.start_error == ENOENT || *shared.start_error == EACCES ? Code::kNotFound : Code::kInternal;
    return Error{code, fmt::format("{}: {}", argv0, std::strerror(*shared.start_error)), {}};
  }
  return process;
}

Process::~Process() {
  Signal(SIGKILL);
  if (state_->thread.joinable()) state_->thread.join();
}

pid_t Process::pid() const {
  MutexLock lock(state_->mu);
  return *state_->pid;
}

bool Process::running() const {
  MutexLock lock(state_->mu);
  return !state_->end.has_value();
}

void Process::Signal(int number) {
  MutexLock lock(state_->mu);
  if (!state_->end && state_->pid) kill(*state_->pid, number);
}

std::optional<int> Process::Wait(Millis timeout) {
  MutexLock lock(state_->mu);
  state_->changed.wait_for(state_->mu, timeout, [&] {
    state_->mu.AssertHeld();
    return state_->end.has_value();
  });
  return state_->end;
}

int Process::Stop(int number, Millis grace) {
  Signal(number);
  if (auto end = Wait(grace)) return *end;
  Signal(SIGKILL);
  return Wait(Seconds(30)).value_or(128 + SIGKILL);
}

const ProcessOptions& Process::options() const { return state_->options; }

std::string Process::LogTail(size_t lines) const {
  auto text = ReadFile(state_->options.log_file);
  if (!text.ok()) return text.error().message;
  std::vector<std::string> all = Split(Trim(*text), '\n');
  size_t from = all.size() > lines ? all.size() - lines : 0;
  return Join(std::span(all).subspan(from), "\n");
}

Result<std::string> RunProgram(const std::vector<std::string>& argv, const std::string& folder, Millis timeout) {
  TemporaryFolder files;
  const std::string output = files.path() + "/output";
  auto process =
      TRY(Process::Start({.argv = argv, .log_file = files.path() + "/log", .output_file = output, .folder = folder}));
  auto code = process->Wait(timeout);
  if (!code) return Error{Code::kDeadlineExceeded, argv[0] + " takes too long: " + process->LogTail(), {}};
  if (*code != 0) {
    return Error{Code::kInternal, fmt::format("{}: exit code {}: {}", argv[0], *code, process->LogTail()), {}};
  }
  return ReadFile(output);
}

}  // namespace capi
