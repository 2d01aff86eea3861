#include "cli/local/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/structured.h"
#include "cli/frame/table.h"
#include "cli/local/managers.h"
#include "cli/local/operator_program.h"
#include "cli/local/place.h"
#include "local/plane/plane_lock.h"

namespace capi::cli {
namespace {

constexpr Millis kAnswerLimit{3000};
constexpr size_t kLongestMessage = 100;

// What is known of a plane. A value.
struct Seen {
  local::PlaneFolder folder;
  std::optional<pid_t> supervisor;
  local::PlaneState state;
  std::vector<local::ProcessState> pods;
  std::vector<local::ProcessState> ending;  // of Pods that go: another one is there by now, or is `missing`
  std::vector<local::ProcessState> missing;
  std::string page;         // the address of the operator's
  std::string pods_unseen;  // why they aren't known
};

Status LookAtPods(const Context& ctx, kube::Client& client, Seen& out) {
  // Before the Pods, so that those of a Deployment that has just come are there or are told as missing.
  const auto deployments = TRY(client.List(ctx, kube::Builtin("Deployment"), ""));
  const auto pods = TRY(client.List(ctx, kube::Builtin("Pod"), ""));
  for (const kube::Object& pod : pods.items) {
    for (local::ProcessState& one : ProcessesOf(pod))
      (pod.deleting() ? out.ending : out.pods).push_back(AsOfRun(std::move(one), *out.supervisor));
  }
  out.missing = MissingOf(deployments.items, pods.items);
  out.page = PageAddress(pods.items, *out.supervisor);
  return Ok();
}

Result<Seen> Look(const Context& ctx, local::PlaneFolder folder, const Getenv& getenv) {
  Seen out{.folder = std::move(folder),
           .supervisor = {},
           .state = {},
           .pods = {},
           .ending = {},
           .missing = {},
           .page = "",
           .pods_unseen = ""};
  // One that this process can't see runs nevertheless.
  out.supervisor = TRY(local::SupervisorOf(out.folder.Lock()));
  if (!out.supervisor) return out;
  auto state = local::ReadState(out.folder.State());
  if (state.ok() && state->supervisor == *out.supervisor) out.state = *std::move(state);
  if (!out.state.ready) return out;
  auto cluster = ManagementCluster::Open({.kubeconfig = out.folder.OwnKubeconfig()}, getenv);
  if (!cluster.ok()) {
    out.pods_unseen = cluster.error().message;
    return out;
  }
  const Status seen = LookAtPods(ctx.WithTimeout(kAnswerLimit), cluster->client(), out);
  if (!seen.ok()) out.pods_unseen = seen.error().message;
  return out;
}

PlaneHealth HealthOf(const Seen& seen) {
  if (!seen.supervisor) return PlaneHealth::kDown;
  auto ready = [](const local::ProcessState& one) { return one.ready; };
  const bool all = seen.state.ready && seen.pods_unseen.empty() && seen.missing.empty() &&
                   std::all_of(seen.state.processes.begin(), seen.state.processes.end(), ready) &&
                   std::all_of(seen.pods.begin(), seen.pods.end(), ready);
  return all ? PlaneHealth::kReady : PlaneHealth::kNotReady;
}

std::vector<local::ProcessState> AllOf(const Seen& seen) {
  std::vector<local::ProcessState> out;
  if (!seen.supervisor) return out;
  local::ProcessState supervisor;
  supervisor.name = "supervisor";
  supervisor.pid = *seen.supervisor;
  supervisor.started = seen.state.started;
  supervisor.ready = true;
  out.push_back(std::move(supervisor));
  out.insert(out.end(), seen.state.processes.begin(), seen.state.processes.end());
  for (const auto* some : {&seen.pods, &seen.ending, &seen.missing}) out.insert(out.end(), some->begin(), some->end());
  return out;
}

std::chrono::seconds UpFor(const local::ProcessState& one, WallTime now) {
  if (one.pid == 0 || one.started == WallTime()) return std::chrono::seconds(0);
  return std::max(std::chrono::seconds(0), std::chrono::duration_cast<std::chrono::seconds>(now - one.started));
}

std::string Table(const Seen& seen, WallTime now, const std::string& flag) {
  if (!seen.supervisor)
    return fmt::format("The plane in {} doesn't run: `clusterctl local up{}`\n", seen.folder.path(), flag);
  std::vector<std::vector<std::string>> rows = {{"NAME", "READY", "RESTARTS", "PID", "UP", "PORT", "MESSAGE"}};
  for (const local::ProcessState& one : AllOf(seen)) {
    const bool runs = one.pid > 0;
    rows.push_back({one.name, one.ready ? "True" : "False", std::to_string(one.restarts),
                    runs ? std::to_string(one.pid) : "-", runs ? ShortDuration(UpFor(one, now)) : "-",
                    one.port > 0 ? std::to_string(one.port) : "-", Shorten(one.message, kLongestMessage)});
  }
  std::string out = FormatTable(std::move(rows), 3);
  if (!seen.pods_unseen.empty()) out += fmt::format("The managers aren't known: {}\n", seen.pods_unseen);
  if (!seen.page.empty()) out += fmt::format("The status page: {}\n", seen.page);
  return out;
}

Json Facts(const Seen& seen, WallTime now) {
  Json out = {{"folder", seen.folder.path()},
              {"kubeconfig", seen.folder.Kubeconfig()},
              {"running", seen.supervisor.has_value()},
              {"ready", HealthOf(seen) == PlaneHealth::kReady},
              {"processes", Json::array()}};
  if (seen.state.port > 0) out["server"] = fmt::format("https://127.0.0.1:{}", seen.state.port);
  if (!seen.page.empty()) out["page"] = seen.page;
  if (!seen.pods_unseen.empty()) out["message"] = seen.pods_unseen;
  for (const local::ProcessState& one : AllOf(seen)) {
    Json process = {{"name", one.name}, {"ready", one.ready}, {"restarts", one.restarts}};
    if (one.pid > 0) {
      process["pid"] = one.pid;
      process["startedAt"] = FormatTime(one.started);
      process["upSeconds"] = UpFor(one, now).count();
    }
    if (one.port > 0) process["port"] = one.port;
    if (!one.message.empty()) process["message"] = one.message;
    out["processes"].push_back(std::move(process));
  }
  return out;
}

}  // namespace

std::string ShortDuration(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 120 * 60) return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

Result<PlaneHealth> LocalStatus(const Context& ctx, const LocalStatusOptions& options, World& world) {
  const OutputFormat format = TRY(ParseOutputFormat(options.output));
  auto folder = OpenPlane(options.folder, world.getenv);
  if (!folder.ok() && folder.code() == Code::kNotFound) {
    Answer none{.table = folder.error().message + "\n"};
    none.facts = {
        {"running", false}, {"ready", false}, {"message", folder.error().message}, {"processes", Json::array()}};
    world.out << Format(format, none);
    return PlaneHealth::kDown;
  }
  if (!folder.ok()) return folder.error();
  const Seen seen = TRY(Look(ctx, *std::move(folder), world.getenv));
  const WallTime now = ctx.clock->Now();
  Answer answer;
  answer.table = Table(seen, now, DirFlag(seen.folder, world.getenv));
  for (const local::ProcessState& one : AllOf(seen)) answer.names.push_back(one.name);
  answer.facts = Facts(seen, now);
  world.out << Format(format, answer);
  return HealthOf(seen);
}

}  // namespace capi::cli
