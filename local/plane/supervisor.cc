#include "local/plane/supervisor.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "base/caught.h"
#include "base/mutex.h"
#include "local/node/node.h"
#include "local/plane/control_plane.h"
#include "local/plane/leftovers.h"
#include "local/plane/logs.h"
#include "local/plane/plane_lock.h"
#include "local/plane/state.h"

namespace capi::local {
namespace {

constexpr Millis kTick{100}, kAfterThrown{1000};
constexpr Millis kLogsLookedAt{30'000};
constexpr Millis kLeftoversLimit{2000}, kOthersLimit{10'000};

// The node, in a thread of its own. Thread-compatible.
class RunningNode {
 public:
  RunningNode(const SupervisorOptions& options, ControlPlane& plane, Clock& clock)
      : node_(plane.client(), options.images,
              {.folder = options.folder.Pods(),
               .volumes = options.private_folder + "/volumes",
               .server = fmt::format("https://127.0.0.1:{}", plane.port()),
               .ca_pem = plane.ca_pem(),
               .socket = EgressSocket(options.private_folder),
               .environment = EnvironmentOf(options)},
              clock) {}
  ~RunningNode() { Stop(); }

  void Start(const Context& ctx) {
    thread_ = std::thread([this, own = ctx.WithStop(stop_.get_token())] {
      Status ended = node_.Run(own);
      MutexLock lock(mu_);
      ended_ = std::move(ended);
    });
  }
  // Waits for the end of its processes.
  void Stop() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  bool started() const { return thread_.joinable(); }
  // How it ended, where it did.
  std::optional<Status> ended() const {
    MutexLock lock(mu_);
    return ended_;
  }

 private:
  static std::vector<std::string> EnvironmentOf(const SupervisorOptions& options) {
    std::vector<std::string> out = options.environment;
    out.push_back(fmt::format("{}={}", kPlaneVariable, options.folder.id()));
    return out;
  }

  Node node_;
  std::stop_source stop_;
  std::thread thread_;
  mutable Mutex mu_;
  std::optional<Status> ended_ CAPI_GUARDED_BY(mu_);
};

// The file of the state, written when that changes. A full disk ends nothing. Thread-compatible.
class StateFile {
 public:
  StateFile(const PlaneFolder& folder, const Context& ctx) : path_(folder.State()), log_(ctx.log) {}

  void Write(const PlaneState& state) {
    if (written_ == state) return;
    Status done = WriteState(path_, state);
    if (done.ok()) {
      written_ = state;
    } else if (!complained_) {
      log_.Warn("the state can't be written", {{"error", done.error().message}});
    }
    complained_ = !done.ok();
  }

 private:
  const std::string path_;
  Logger log_;
  std::optional<PlaneState> written_;
  bool complained_ = false;
};

// Where sockets, tokens and Secrets lie. Some systems remove it at the user's last logout, and nothing works without.
// Thread-compatible.
class PrivateFolder {
 public:
  PrivateFolder(const std::string& path, const PlaneFolder& plane) : path_(path), plane_(plane) {
    stat(path_.c_str(), &made_);
  }

  Status Check() const {
    struct stat now {};
    if (stat(path_.c_str(), &now) == 0 && now.st_ino == made_.st_ino && now.st_dev == made_.st_dev) return Ok();
    return Error{Code::kUnavailable,
                 fmt::format("{} was removed, as by a logout: `clusterctl local up {}` goes on", path_, plane_.Flag()),
                 {}};
  }

 private:
  const std::string path_;
  const PlaneFolder& plane_;
  struct stat made_ {};
};

void LogEnds(const Context& ctx, const std::vector<ProcessState>& before, const std::vector<ProcessState>& now) {
  for (size_t i = 0; i < before.size() && i < now.size(); ++i) {
    if (now[i].restarts > before[i].restarts)
      ctx.log.Warn("a process ended, and is started again", {{"process", now[i].name}, {"message", now[i].message}});
  }
}

// A machine without threads has some later.
void Begin(const Context& ctx, RunningNode& node) {
  auto thrown = Caught([&] { node.Start(ctx); });
  if (!thrown) return;
  ctx.log.Error("the node is begun again", {{"error", *thrown}});
  ctx.clock->Sleep(ctx.stop, kAfterThrown);
}

// What has to end with a run, however that ends: what a manager has started by itself, and its Secrets.
class RunsEnd {
 public:
  explicit RunsEnd(const SupervisorOptions& options) : options_(options) {}
  ~RunsEnd() {
    EndLeftovers(options_.folder.id(), kLeftoversLimit);
    PlaneFolder::RemovePrivate(options_.private_folder);
  }
  RunsEnd(const RunsEnd&) = delete;
  RunsEnd& operator=(const RunsEnd&) = delete;

 private:
  const SupervisorOptions& options_;
};

// Until a stop, or the node's end.
Status Loop(const Context& ctx, const SupervisorOptions& options, ControlPlane& plane, RunningNode& node) {
  Clock& clock = *ctx.clock;
  StateFile file(options.folder, ctx);
  const PrivateFolder own(options.private_folder, options.folder);
  PlaneState state{.supervisor = getpid(), .started = clock.Now(), .port = plane.port()};
  MonoTime logs_at = clock.Monotonic();
  do {
    TRY(own.Check());
    plane.Look(ctx);
    if (plane.ready() && !node.started()) Begin(ctx, node);
    if (auto ended = node.ended()) {
      if (!ended->ok()) return ended->error().With("the node ended");
      return Error{Code::kInternal, "the node ended by itself", {}};
    }
    const std::vector<ProcessState> before = std::exchange(state.processes, plane.States());
    LogEnds(ctx, before, state.processes);
    state.ready = plane.ready() && node.started();
    state.message = state.ready ? "" : "waiting for the API server";
    file.Write(state);
    if (clock.Monotonic() < logs_at) continue;
    BoundLogs(options.folder.Logs());
    logs_at = clock.Monotonic() + kLogsLookedAt;
  } while (clock.Sleep(ctx.stop, kTick));
  state.ready = false;
  state.message = "ending";
  file.Write(state);
  return Ok();
}

// Who ends the plane at this moment, or removes it, is waited for.
Result<PlaneLock> Take(const Context& ctx, const PlaneFolder& folder) {
  const MonoTime end = ctx.clock->Monotonic() + kOthersLimit;
  for (;;) {
    auto lock = TRY(PlaneLock::TryTake(folder.Lock(), PlaneLock::Who::kSupervisor));
    if (lock) return *std::move(lock);
    const auto other = TRY(SupervisorOf(folder.Lock()));
    if (other || ctx.clock->Monotonic() >= end) break;
    TRY(ctx.Check());
    ctx.clock->Sleep(ctx.stop, kTick);
  }
  return Error{Code::kAlreadyExists, fmt::format("the plane in {} runs already", folder.path()), {}};
}

// In the plane's folder, which is this process's.
Status Run(const Context& ctx, const SupervisorOptions& options) {
  TRY(PlaneFolder::MakePrivate(options.private_folder));
  const RunsEnd end(options);
  auto plane = TRY(ControlPlane::Prepare(ctx, options.folder, options.private_folder, options.programs));
  ctx.log.Info("the plane starts", {{"folder", options.folder.path()}, {"port", plane->port()}});
  RunningNode node(options, *plane, *ctx.clock);
  Status ended = Loop(ctx, options, *plane, node);
  node.Stop();
  plane->Stop();
  return ended;
}

}  // namespace

Status Supervise(const Context& ctx, const SupervisorOptions& options) {
  const PlaneFolder& folder = options.folder;
  TRY(Take(ctx, folder)).KeepUntilExit();
  TRY(folder.CheckIsThere());  // nobody removed it before this process had the lock
  if (folder.IsHalfDeleted())
    return Error{Code::kUnavailable, fmt::format("the plane in {} is half deleted", folder.path()), {}};
  BeginState(folder.State(), getpid(), ctx.clock->Now());
  if (size_t ended = EndLeftovers(folder.id(), kLeftoversLimit); ended > 0)
    ctx.log.Warn("ended processes of a supervisor that is gone", {{"count", ended}});
  TRY(folder.MakeFolders());
  folder.RemovePrivates();
  TRY(folder.TellPrivate(options.private_folder));
  Status ended = Run(ctx, options);
  ctx.log.Info("the plane has ended");
  return ended;
}

}  // namespace capi::local
