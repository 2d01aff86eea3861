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
#include <thread>

#include "base/caught.h"
#include "base/files.h"
#include "base/mutex.h"
#include "base/processes/log_end.h"
#include "base/processes/temporary_folder.h"

namespace capi {

namespace {

// What a start does, by what a failure of it is the fault of.
enum class Step { kLog, kOutput, kGroup, kSystem, kFolder, kProgram };

// As the child writes it to its parent: it has no pointers. A value.
struct Failure {
  Step step = Step::kSystem;
  int number = 0;  // errno; 0 for none
};

}  // namespace

struct Process::State {
  ProcessOptions options;
  Mutex mu;
  std::condition_variable_any changed;
  std::optional<pid_t> pid CAPI_GUARDED_BY(mu);            // set once the child runs
  std::optional<Failure> start_error CAPI_GUARDED_BY(mu);  // of a failed start
  std::optional<int> end CAPI_GUARDED_BY(mu);
  std::thread thread;
};

namespace {

// Closed at the end, whatever that is: where there are few, one that is lost is lost for good.
struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  void Close() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

// What the child needs, made before fork: between fork and exec nothing may allocate.
struct Prepared {
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;
  Descriptor log, output, cgroup;
  Descriptor errors, failed;  // the child writes a Failure into `failed`; exec closes it
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

std::string LogOf(const ProcessOptions& options) { return options.log_file.empty() ? "/dev/null" : options.log_file; }
std::string OutputOf(const ProcessOptions& options) {
  return options.output_file.empty() ? LogOf(options) : options.output_file;
}
std::string GroupOf(const ProcessOptions& options) { return options.cgroup + "/cgroup.procs"; }

bool Open(const std::string& path, int flags, Descriptor& out) {
  out.fd = open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0644);
  return out.fd >= 0;
}

Failure Prepare(ProcessOptions& options, Prepared& prepared) {
  prepared.environment = MergedEnvironment(options.environment, options.inherit_environment);
  for (std::string& argument : options.argv) prepared.argv.push_back(argument.data());
  for (std::string& entry : prepared.environment) prepared.envp.push_back(entry.data());
  prepared.argv.push_back(nullptr);
  prepared.envp.push_back(nullptr);
  if (!Open(LogOf(options), O_CREAT | O_APPEND, prepared.log)) return {Step::kLog, errno};
  if (!Open(OutputOf(options), O_CREAT | O_APPEND, prepared.output)) return {Step::kOutput, errno};
  if (!options.cgroup.empty() && !Open(GroupOf(options), 0, prepared.cgroup)) return {Step::kGroup, errno};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {Step::kSystem, errno};
  prepared.errors.fd = ends[0];
  prepared.failed.fd = ends[1];
  return {};
}

[[noreturn]] void BeChild(const Prepared& prepared, const char* folder) {
  auto fail = [&](Step step) {
    const Failure failure{step, errno};
    [[maybe_unused]] ssize_t n = write(prepared.failed.fd, &failure, sizeof failure);
    _exit(127);
  };
  // The signal comes when the forking *thread* ends; that one waits for this child.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(Step::kSystem);
  if (getppid() != prepared.parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  setpgid(0, 0);  // Ctrl-C goes to the parent alone
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, 0) < 0 || dup2(prepared.output.fd, 1) < 0 || dup2(prepared.log.fd, 2) < 0)
    fail(Step::kSystem);
  if (*folder != '\0' && chdir(folder) != 0) fail(Step::kFolder);
  if (prepared.cgroup.fd >= 0 && write(prepared.cgroup.fd, "0", 1) != 1) fail(Step::kGroup);
  execve(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  fail(Step::kProgram);
  _exit(127);
}

// Forks and executes.
Failure Launch(ProcessOptions& options, pid_t& pid) {
  Prepared prepared;
  Failure failure = Prepare(options, prepared);
  if (failure.number != 0) return failure;
  pid = fork();
  if (pid < 0) return {Step::kSystem, errno};
  if (pid == 0) BeChild(prepared, options.folder.c_str());
  prepared.failed.Close();
  if (read(prepared.errors.fd, &failure, sizeof failure) != sizeof failure) return {};
  waitpid(pid, nullptr, 0);
  return failure;
}

// Names the path that it is the fault of: `argv[0]` isn't missing where its log can't be written.
Error StartError(const ProcessOptions& options, const Failure& failure) {
  const std::string& program = options.argv[0];
  const std::string why = std::strerror(failure.number);
  auto at = [&](const std::string& path) {
    return Error{Code::kInternal, fmt::format("{} can't be started: {}: {}", program, path, why), {}};
  };
  switch (failure.step) {
    case Step::kLog: return at(LogOf(options));
    case Step::kOutput: return at(OutputOf(options));
    case Step::kGroup: return at(GroupOf(options));
    case Step::kFolder: return at(options.folder);
    case Step::kSystem: return {Code::kInternal, fmt::format("{} can't be started: {}", program, why), {}};
    case Step::kProgram: break;
  }
  const bool missing = failure.number == ENOENT || failure.number == EACCES;
  return {missing ? Code::kNotFound : Code::kInternal, fmt::format("{}: {}", program, why), {}};
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
    Failure failure{Step::kSystem, ENOMEM};
    (void)Caught([&] { failure = Launch(shared.options, pid); });
    {
      MutexLock lock(shared.mu);
      if (failure.number != 0) shared.start_error = failure, shared.end = 127;
      shared.pid = pid;
    }
    shared.changed.notify_all();
    if (failure.number != 0) return;
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
  if (shared.start_error) return StartError(shared.options, *shared.start_error);
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

std::string Process::LogTail(size_t lines) const { return LastLines(state_->options.log_file, lines); }

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
