#include "local/node/container_run.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "base/processes/log_end.h"
#include "local/node/pod_status.h"
#include "local/node/probes.h"
#include "local/node/services/listeners.h"

namespace capi::local {
namespace {

constexpr Millis kTick{100};
constexpr Seconds kLongestForFields{2};
constexpr std::int64_t kLongestLog = 32ll << 20;
constexpr int kNotStarted = 128;  // as a kubelet's runtime has it

std::int64_t SizeOf(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? file.st_size : 0;
}

std::string Former(const std::string& log) { return log + ".old"; }

// A log that is too long. Its process appends, so it goes on at the beginning.
void BeginAnew(const std::string& path) {
  if (SizeOf(path) <= kLongestLog) return;
  std::error_code ignored;  // a full disk is one more reason to go on
  std::filesystem::copy_file(path, Former(path), std::filesystem::copy_options::overwrite_existing, ignored);
  std::filesystem::resize_file(path, 0, ignored);
}

// The same where no process has it: all of it is kept, and it takes no room.
void LayAside(const std::string& path) {
  std::error_code ignored;
  if (SizeOf(path) > kLongestLog) std::filesystem::rename(path, Former(path), ignored);
}

}  // namespace

struct ContainerRun::Probes {
  std::optional<ProbeState> startup, readiness, liveness;
  std::optional<Seconds> grace;  // that of the one that failed

  // Until somebody is to be asked who isn't ready yet; a tick at most.
  Millis Pause(MonoTime now) const {
    const auto& asked = startup && !startup->good() ? startup : readiness;
    if (!asked || asked->good()) return kTick;
    const auto left = std::chrono::ceil<Millis>(asked->due() - now);
    return std::clamp(left, Millis(1), kTick);
  }
};

ContainerRun::ContainerRun(PodParts& pod, const Json& container, size_t index, bool init)
    : pod_(pod),
      container_(container),
      index_(index),
      init_(init),
      name_(GetString(container, {"name"})),
      ctx_(pod.ctx.WithStop(pod.stop)) {}

void ContainerRun::Change(const std::function<void(ContainerFacts&)>& change) {
  pod_.board.Change([&](PodFacts& facts) { change((init_ ? facts.init : facts.containers)[index_]); });
}

void ContainerRun::Wait(const std::string& reason, const std::string& message) {
  Change([&](ContainerFacts& facts) {
    facts.state = ContainerFacts::State::kWaiting;
    facts.reason = reason;
    facts.message = message;
    facts.ready = facts.began = false;
    facts.pid = 0;
  });
}

bool ContainerRun::Sleep(Millis time) { return pod_.node.clock.Sleep(pod_.stop, time); }

void ContainerRun::Run() {
  BackOff back_off;
  while (!stopped()) {
    std::optional<ContainerPlan> plan = Prepare();
    bool waited = false;
    if (!plan || !AwaitTurn(plan->alone, waited)) return;
    MonoTime started = pod_.node.clock.Monotonic();
    std::optional<ContainerEnd> end = RunInTurn(std::move(*plan), waited);
    if (!end) continue;
    bool done = stopped() || (init_ && end->exit_code == 0);
    Change([&](ContainerFacts& facts) {
      facts.state = ContainerFacts::State::kEnded;
      facts.end = end;
      facts.ready = init_ && end->exit_code == 0;
      facts.began = false;
      facts.pid = 0;
    });
    pod_.node.wake();
    if (done) return;
    Millis delay = back_off.After(std::chrono::duration_cast<Millis>(pod_.node.clock.Monotonic() - started));
    Wait("CrashLoopBackOff", fmt::format("back-off {}s restarting failed container={} pod={}_{}",
                                         (delay + Millis(999)) / Seconds(1), name_, pod_.pod.name(), pod_.pod.ns()));
    if (!Sleep(delay)) return;
    Change([](ContainerFacts& facts) { ++facts.restarts; });
  }
}

Result<ContainerPlan> ContainerRun::TryPrepare(bool& found) {
  const std::string image = GetString(container_, {"image"});
  found = true;
  TRY(CheckPod(pod_.pod));
  TRY(CheckContainer(pod_.node.options, container_));
  found = false;
  auto program = TRY(pod_.node.programs.Find(ctx_, image));
  found = true;
  auto plan = TRY(PlanContainer(ctx_, pod_.node, pod_.files, pod_.ports, pod_.pod, container_, std::move(program)));
  TRY(CheckPorts(plan));
  return plan;
}

// Of the ports that no flag leads elsewhere: who isn't alone there would be asked in the name of the other one.
Status ContainerRun::CheckPorts(ContainerPlan& plan) {
  for (int port : plan.unled) {
    auto other = ListenerOf(port);
    if (!other) continue;
    if (!pod_.owner.empty() && pod_.node.runners.OwnerOf(other->group) == pod_.owner) {
      plan.alone = true;  // the Deployment's other process: it ends first
      continue;
    }
    std::string who =
        other->pid == 0 ? "another user's process" : fmt::format("process {} ({})", other->pid, other->name);
    return Error{Code::kUnavailable,
                 fmt::format("port {} of this machine is taken by {}, and no flag of the container leads it to another "
                             "one, so it starts when that one has ended",
                             port, who),
                 {}};
  }
  return Ok();
}

std::optional<ContainerPlan> ContainerRun::Prepare() {
  RetryDelay delay;
  bool crashed = false;
  pod_.board.Change([&](PodFacts& facts) {
    const ContainerFacts& own = (init_ ? facts.init : facts.containers)[index_];
    crashed = own.reason == "CrashLoopBackOff";
  });
  // What is known already: the program of a container that crashed is there.
  if (!crashed) Wait("Pulling", "the program of image " + GetString(container_, {"image"}) + " is looked for");
  while (!stopped()) {
    bool found = false;
    auto plan = TryPrepare(found);
    if (plan.ok()) return std::move(*plan);
    if (stopped()) break;
    Wait(found ? "CreateContainerConfigError" : "ErrImagePull", plan.error().message);
    if (!Sleep(found ? delay.Next(kLongestForFields) : delay.NextFor(plan.error()))) break;
  }
  return std::nullopt;
}

bool ContainerRun::AwaitTurn(bool alone, bool& waited) {
  while (!pod_.node.runners.Begin(pod_.owner, pod_.pod.uid(), name_, alone)) {
    if (!waited) {
      Wait("ContainerCreating",
           "one process of its Deployment runs at a time (its election can't be held outside of a cluster, or its port "
           "is no other one), so it starts when the other one has ended; with more replicas than one the Deployment is "
           "never available");
      pod_.node.wake();
    }
    waited = true;
    if (!Sleep(kTick)) return false;
  }
  return true;
}

// nullopt where it has to be prepared again.
std::optional<ContainerEnd> ContainerRun::RunInTurn(ContainerPlan plan, bool waited) {
  struct Turn {
    PodParts& pod;
    const std::string& container;
    ~Turn() { pod.node.runners.End(pod.owner, pod.pod.uid(), container); }  // also by an exception: others wait for it
  } turn{pod_, name_};
  if (!waited) return RunOnce(plan);
  // The plan may be hours old: its ports may be somebody's by now, and its Secrets have other values.
  bool found = false;
  auto anew = TryPrepare(found);
  if (!anew.ok()) return std::nullopt;
  return RunOnce(*anew);
}

ContainerEnd ContainerRun::RunOnce(const ContainerPlan& plan) {
  ContainerEnd end{.started = pod_.node.clock.Now()};
  LayAside(plan.process.log_file);  // one that ends quickly never comes to the look of Watch
  std::int64_t from = SizeOf(plan.process.log_file);
  std::string why;
  auto process = Process::Start(plan.process);
  if (process.ok()) {
    const bool waits = Find(container_, {"startupProbe"}) != nullptr;
    const bool asked = waits || Find(container_, {"readinessProbe"}) != nullptr;
    Change([&](ContainerFacts& facts) {
      facts.state = ContainerFacts::State::kRunning;
      facts.reason = facts.message = "";
      facts.started = end.started;
      facts.source = plan.program.source;
      facts.ports = plan.ports;
      facts.began = !waits;
      facts.ready = !asked && !init_;
      facts.pid = (*process)->pid();
    });
    pod_.node.wake();
    pod_.node.runners.Started((*process)->pid(), pod_.owner);
    end.exit_code = Watch(plan, **process, why);
    pod_.node.runners.Ended((*process)->pid());
  } else {
    end.exit_code = kNotStarted;
    why = process.error().message;
  }
  end.finished = pod_.node.clock.Now();
  end.reason = end.exit_code == 0 ? "Completed" : "Error";
  end.message = MessageOf(plan, from, why, end.exit_code);
  return end;
}

std::string ContainerRun::MessageOf(const ContainerPlan& plan, std::int64_t from, const std::string& why,
                                    int code) const {
  auto log = EndOfLog(plan.process.log_file, from);
  std::string tail = code == 0 || !log.ok() ? "" : LogTail(*log, plan.secrets);
  return why.empty() || tail.empty() ? why + tail : why + "\n" + tail;
}

// Until its end. `why`: what isn't in its log.
int ContainerRun::Watch(const ContainerPlan& plan, Process& process, std::string& why) {
  Clock& clock = pod_.node.clock;
  MonoTime start = clock.Monotonic();
  Probes probes;
  if (auto probe = ProbeOf(container_, "startupProbe"); probe.ok() && *probe)
    probes.startup.emplace(**probe, false, true, start);
  if (auto probe = ProbeOf(container_, "readinessProbe"); probe.ok() && *probe)
    probes.readiness.emplace(**probe, false, true, start);
  if (auto probe = ProbeOf(container_, "livenessProbe"); probe.ok() && *probe)
    probes.liveness.emplace(**probe, true, false, start);
  MonoTime trim = start;
  while (true) {
    if (auto code = process.Wait(probes.Pause(clock.Monotonic()))) {
      kill(-process.pid(), SIGKILL);  // what it has started
      return *code;
    }
    if (stopped()) return End(process, Millis::max());
    AskAll(plan, process.pid(), probes, why);
    if (!why.empty()) {
      Seconds pods = Bounded(GetInt(pod_.pod.json(), {"spec", "terminationGracePeriodSeconds"}, 30));
      return End(process, probes.grace.value_or(pods));
    }
    if (clock.Monotonic() < trim) continue;
    trim = clock.Monotonic() + Seconds(10);
    BeginAnew(plan.process.log_file);
  }
}

void ContainerRun::AskAll(const ContainerPlan& plan, pid_t group, Probes& probes, std::string& why) {
  Clock& clock = pod_.node.clock;
  ProbeTarget target{container_, plan.ports,
                     [&](const Context&, const std::vector<std::string>& command, Millis timeout) {
                       return RunCommand(plan, command, timeout);
                     },
                     [&](int port) { return !plan.unled.contains(port) || GroupListens(group, port); }};
  auto ask = [&](ProbeState& probe) -> Status {
    if (clock.Monotonic() < probe.due()) return Ok();
    Status answer = Ask(ctx_, probe.spec(), target);
    probe.Answered(answer.ok(), clock.Monotonic());
    return answer;
  };
  if (probes.startup && !probes.startup->good()) {
    Status answer = ask(*probes.startup);
    if (probes.startup->Late(clock.Monotonic())) {
      why = "its startupProbe didn't succeed in time";
      probes.grace = probes.startup->spec().grace;
    }
    if (!probes.startup->good()) return;
    // Liveness is asked from now on.
    if (probes.liveness) {
      ProbeSpec spec = probes.liveness->spec();  // emplace ends the one that has it first
      probes.liveness.emplace(std::move(spec), true, false, clock.Monotonic());
    }
    Change([&](ContainerFacts& facts) {
      facts.began = true;
      facts.ready = !probes.readiness && !init_;
    });
    pod_.node.wake();
  }
  if (probes.readiness) {
    bool was = probes.readiness->good();
    (void)ask(*probes.readiness);
    bool is = probes.readiness->good();
    if (is != was) Change([&](ContainerFacts& facts) { facts.ready = is && !init_; });
    if (is != was) pod_.node.wake();
  }
  if (probes.liveness) {
    Status answer = ask(*probes.liveness);
    if (!probes.liveness->good()) {
      why = "its livenessProbe failed" + (answer.ok() ? std::string() : ": " + answer.error().message);
      probes.grace = probes.liveness->spec().grace;
    }
  }
}

// SIGTERM, and SIGKILL after the grace that counts by then. A stop shortens that of a restart.
int ContainerRun::End(Process& process, Millis grace_at_most) {
  Clock& clock = pod_.node.clock;
  Change([](ContainerFacts& facts) { facts.ready = false; });
  process.Signal(SIGTERM);
  MonoTime told = clock.Monotonic();
  std::optional<int> code;
  while (!(code = process.Wait(kTick / 4))) {
    Millis grace = stopped() ? std::min(grace_at_most, Millis(pod_.grace_ms.load())) : grace_at_most;
    if (clock.Monotonic() - told >= grace) process.Signal(SIGKILL);
  }
  kill(-process.pid(), SIGKILL);
  return *code;
}

Status ContainerRun::RunCommand(const ContainerPlan& plan, const std::vector<std::string>& command, Millis timeout) {
  ProcessOptions options = TRY(PlanProbe(plan, command));
  auto process = TRY(Process::Start(std::move(options)));
  Context soon = ctx_.WithTimeout(timeout);
  bool late = false;
  std::optional<int> code;
  while (!(code = process->Wait(kTick))) {
    late = late || !soon.Check().ok();
    if (late) process->Signal(SIGKILL);
  }
  kill(-process->pid(), SIGKILL);
  if (!late && code == 0) return Ok();
  if (late) return Error{Code::kDeadlineExceeded, fmt::format("{} takes too long", command[0]), {}};
  return Error{Code::kUnavailable, fmt::format("{} ends with exit code {}", command[0], *code), {}};
}

}  // namespace capi::local
