#include "cli/local/start.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/files.h"
#include "base/processes/log_end.h"
#include "base/strings.h"
#include "local/plane/detached.h"
#include "local/plane/leftovers.h"

namespace capi::cli {
namespace {

constexpr Millis kPause{20};
constexpr Millis kKilled{5000};  // how long the kernel may take
constexpr Millis kLeftovers{2000};
constexpr Millis kOthers{10'000};  // who ends the plane, or writes into its folder
constexpr size_t kLogLines = 8;
constexpr char kSelf[] = "/proc/self/exe";

std::string ProgramOf(const std::string& link) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink(link, error);
  return error ? "" : path.string();
}

// Looks after a supervisor that was started. Thread-compatible.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}

  // To be called before the plane's holder is looked for: one that has ended since has lost to nobody yet.
  void Look() {
    int status = 0;
    if (!ended_ && pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
      ended_ = true;
      asked_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
  }
  void Saw(std::optional<pid_t> holder) {
    ran_ = ran_ || holder == pid_;
    other_ = other_ || (holder && holder != pid_);
  }
  // It never was, or has.
  bool ended() const { return pid_ == 0 || ended_; }
  bool ran() const { return ran_; }
  // There was a plane that somebody has ended: this one, as it was asked to, or that of another `up`.
  bool was_up() const { return pid_ == 0 || asked_ || other_; }

 private:
  const pid_t pid_;
  bool ended_ = false, asked_ = false, ran_ = false, other_ = false;
};

std::string Progress(const local::PlaneState& state) {
  std::vector<std::string> parts;
  for (const local::ProcessState& one : state.processes) {
    std::string how = one.ready ? "ready" : one.pid > 0 ? "starting" : "down";
    if (one.restarts > 0) how += fmt::format(", {} restarts", one.restarts);
    parts.push_back(fmt::format("{}: {}", one.name, how));
  }
  return parts.empty() ? "starting" : Join(parts, "; ");
}

std::string WhyNot(const local::PlaneState& state) {
  for (const local::ProcessState& one : state.processes) {
    if (!one.ready && !one.message.empty()) return fmt::format("{}: {}", one.name, one.message);
  }
  return state.message.empty() ? Progress(state) : state.message;
}

// nullopt while it isn't the one that runs that wrote it.
std::optional<local::PlaneState> StateOf(const local::PlaneFolder& folder) {
  auto holder = local::SupervisorOf(folder.Lock());
  auto state = local::ReadState(folder.State());
  const bool current = holder.ok() && *holder && state.ok() && state->supervisor == **holder;
  return current ? std::optional(*std::move(state)) : std::nullopt;
}

// Whose plane it is at this moment; nullopt for nobody's.
std::optional<pid_t> HolderOf(const local::PlaneFolder& folder) {
  auto holder = local::SupervisorOf(folder.Lock());
  return holder.ok() ? *holder : std::nullopt;
}

// nullopt where somebody has it. kUnavailable where the plane was deleted: then nothing is left of the lock, either.
Result<std::optional<local::PlaneLock>> TryLock(const local::PlaneFolder& folder) {
  auto lock = local::PlaneLock::TryTake(folder.Lock());
  if (!lock.ok() && lock.code() != Code::kNotFound) return lock.error();
  if (lock.ok() && !*lock) return lock;
  const Status there = folder.CheckIsThere();
  if (there.ok()) return lock;
  const auto another = local::PlaneFolder::Open(folder.path());
  std::error_code ignored;
  if (lock.ok() && !another.ok() && another.code() == Code::kNotFound) std::filesystem::remove(folder.Lock(), ignored);
  return there.error();
}

// Takes the lock, or nothing after `limit`.
Result<std::optional<local::PlaneLock>> TakeWithin(const Context& ctx, const local::PlaneFolder& folder, Millis limit) {
  const MonoTime end = ctx.clock->Monotonic() + limit;
  for (;;) {
    auto lock = TRY(TryLock(folder));
    if (lock || ctx.clock->Monotonic() >= end) return lock;
    ctx.clock->Sleep(std::stop_token(), kPause);
  }
}

// Why nobody runs the plane.
Error Gone(const local::PlaneFolder& folder, const Child& own) {
  if (own.was_up()) return {Code::kUnavailable, fmt::format("the plane in {} has ended meanwhile", folder.path()), {}};
  if (!own.ran()) {
    const Status there = folder.CheckIsThere();  // a `down --delete` was faster
    if (!there.ok()) return there.error();
  }
  return {Code::kInternal,
          fmt::format("the plane didn't come up; {} ends with:\n{}", folder.Log("supervisor"),
                      LastLines(folder.Log("supervisor"), kLogLines)),
          {}};
}

bool IsReady(const local::PlaneState& state) {
  return state.ready &&
         std::all_of(state.processes.begin(), state.processes.end(), [](const auto& one) { return one.ready; });
}

}  // namespace

std::string WhyOutdated(pid_t supervisor, const local::Settings& settings, const Getenv& getenv) {
  const std::string process = fmt::format("/proc/{}", supervisor);
  const std::string program = ProgramOf(process + "/exe"), self = ProgramOf(kSelf);
  if (program != self)
    return fmt::format("{}, in the place of {}", self, program.empty() ? "another program" : program);
  auto text = ReadFile(process + "/environ");
  if (!text.ok()) return "this environment: that of the supervisor can't be read";
  const std::vector<std::string> entries = Split(*text, '\0');
  for (const std::string& name : settings.environment) {
    auto value = getenv(name);
    // One that isn't set here says nothing about those there.
    if (value && std::find(entries.begin(), entries.end(), name + "=" + *value) == entries.end())
      return "another value of " + name;
  }
  return "";
}

Result<local::PlaneLock> LockPlane(const Context& ctx, const local::PlaneFolder& folder) {
  const MonoTime end = ctx.clock->Monotonic() + kOthers;
  for (;;) {
    auto lock = TRY(TryLock(folder));
    if (lock) return *std::move(lock);
    if (TRY(local::SupervisorOf(folder.Lock())))
      return Error{Code::kUnavailable, fmt::format("the plane in {} runs by now", folder.path()), {}};
    TRY(ctx.Check());
    if (ctx.clock->Monotonic() >= end)
      return Error{Code::kDeadlineExceeded, "another command that ends the plane doesn't end", {}};
    ctx.clock->Sleep(ctx.stop, kPause);
  }
}

Result<pid_t> StartSupervisor(const local::PlaneFolder& folder) {
  return local::StartDetached({ProgramOf(kSelf), "local", "supervise", "--dir", folder.path()},
                              folder.Log("supervisor"));
}

Result<local::PlaneState> AwaitPlane(const Context& ctx, const local::PlaneFolder& folder, pid_t child,
                                     LiveLines& lines, Millis patience) {
  local::PlaneState last;
  Child own(child);
  MonoTime there = ctx.clock->Monotonic();
  for (;;) {
    own.Look();
    const auto holder = HolderOf(folder);
    own.Saw(holder);
    // Another `up` may have been faster: its supervisor does as well.
    if (holder || !own.ended()) there = ctx.clock->Monotonic();
    if (!holder && own.ended() && ctx.clock->Monotonic() - there >= patience) return Gone(folder, own);
    if (auto state = StateOf(folder)) {
      last = *std::move(state);
      if (IsReady(last)) return last;
      lines.Draw({Progress(last)});
    }
    if (!ctx.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) {
      return Error{
          ctx.stop.stop_requested() ? Code::kCancelled : Code::kDeadlineExceeded,
          fmt::format("the plane isn't ready: {}. `clusterctl local logs {}` has more", WhyNot(last), folder.Flag()),
          {}};
    }
  }
}

bool EndWhatIsLeft(const local::PlaneFolder& folder, const Getenv& getenv) {
  const bool left = local::EndLeftovers(folder.id(), kLeftovers) > 0;
  local::PlaneFolder::RemovePrivate(folder.Private(getenv));
  folder.RemovePrivates();
  return left;
}

Result<StoppedPlane> StopPlane(const Context& ctx, const local::PlaneFolder& folder, const Getenv& getenv,
                               Millis grace) {
  auto holder = TRY(local::SupervisorOf(folder.Lock()));
  if (holder) kill(*holder, SIGTERM);
  auto lock = TRY(TakeWithin(ctx, folder, grace));
  if (!lock) {
    auto stubborn = TRY(local::SupervisorOf(folder.Lock()));
    if (stubborn) kill(*stubborn, SIGKILL);
    lock = TRY(TakeWithin(ctx, folder, kKilled));
  }
  if (!lock) {
    const std::string who = holder ? fmt::format("the supervisor of the plane (process {})", *holder)
                                   : std::string("another command that ends the plane");
    return Error{Code::kDeadlineExceeded, who + " doesn't end", {}};
  }
  const bool left = EndWhatIsLeft(folder, getenv);
  return StoppedPlane{holder.has_value() || left, *std::move(lock)};
}

}  // namespace capi::cli
