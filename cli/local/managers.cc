#include "cli/local/managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/kinds.h"
#include "api/schema/crds.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/operator_manifests/manifests.h"
#include "local/node/pod_status.h"
#include "local/plane/plane_lock.h"

namespace capi::cli {
namespace {

constexpr Millis kPause{200};
constexpr std::string_view kProcess = "process://";

pid_t PidOf(const std::string& container_id) {
  pid_t pid = 0;
  if (!container_id.starts_with(kProcess)) return 0;
  std::from_chars(container_id.data() + kProcess.size(), container_id.data() + container_id.size(), pid);
  return pid;
}

// Whether the container says that it listens there.
bool Declares(const kube::Object& pod, const std::string& container, int port) {
  const Json* all = Find(pod.json(), {"spec", "containers"});
  if (all == nullptr || !all->is_array()) return false;
  for (const Json& one : *all) {
    const Json* ports = GetString(one, {"name"}) == container ? Find(one, {"ports"}) : nullptr;
    if (ports == nullptr || !ports->is_array()) continue;
    for (const Json& entry : *ports) {
      if (GetInt(entry, {"containerPort"}) == port) return true;
    }
  }
  return false;
}

// The first port of this machine; of several containers' the first that is this one's.
int PortOf(const kube::Object& pod, const std::string& container, bool alone) {
  for (const auto& [port, here] : local::PortsIn(pod)) {
    if (alone || Declares(pod, container, port)) return here;
  }
  return 0;
}

std::string MessageOf(const Json& status) {
  const std::string reason = GetString(status, {"state", "waiting", "reason"}),
                    message = GetString(status, {"state", "waiting", "message"});
  if (!reason.empty()) return message.empty() ? reason : fmt::format("{}: {}", reason, message);
  return GetString(status, {"state", "terminated", "message"});
}

const Json& StatusesOf(const kube::Object& pod, const char* list) {
  static const Json none = Json::array();
  const Json* all = Find(pod.json(), {"status", list});
  return all != nullptr && all->is_array() ? *all : none;
}

local::ProcessState ProcessOf(const Json& status, std::string name) {
  local::ProcessState out;
  out.name = std::move(name);
  out.ready = GetBool(status, {"ready"});
  out.restarts = static_cast<int>(GetInt(status, {"restartCount"}));
  auto started = ParseTime(GetString(status, {"state", "running", "startedAt"}));
  if (started.ok()) {
    out.started = *started;
    out.pid = PidOf(GetString(status, {"containerID"}));
  }
  out.message = MessageOf(status);
  return out;
}

// 0 for one that isn't there.
pid_t ParentOf(pid_t pid) {
  const auto text = ReadFile(fmt::format("/proc/{}/stat", pid), 1u << 12);
  if (!text.ok()) return 0;
  // "PID (NAME) STATE PARENT ...", and a name may have anything in it.
  const std::vector<std::string> fields = Split(text->substr(text->rfind(')') + 1), ' ');
  pid_t parent = 0;
  if (fields.size() > 2) std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), parent);
  return parent;
}

bool IsOf(const kube::Object& pod, const kube::Object& deployment) {
  const Json* owners = Find(pod.json(), {"metadata", "ownerReferences"});
  return owners != nullptr && owners->is_array() && std::any_of(owners->begin(), owners->end(), [&](const Json& owner) {
           return GetString(owner, {"uid"}) == deployment.uid();
         });
}

std::int64_t WantedBy(const kube::Object& deployment) { return GetInt(deployment.json(), {"spec", "replicas"}, 1); }

// "" where all is ready.
std::string NotReady(const kube::Object& deployment, const std::vector<kube::Object>& pods, pid_t supervisor) {
  std::int64_t ready = 0;
  for (const kube::Object& pod : pods) {
    if (!IsOf(pod, deployment) || pod.deleting()) continue;  // another one is there by now
    for (const local::ProcessState& told : ProcessesOf(pod)) {
      const local::ProcessState one = AsOfRun(told, supervisor);
      if (!one.ready) return one.message.empty() ? one.name : fmt::format("{}: {}", one.name, one.message);
    }
    ++ready;
  }
  const std::int64_t wanted = WantedBy(deployment);
  if (ready >= wanted) return "";
  return fmt::format("{}/{}: {} of {} Pods are ready", deployment.ns(), deployment.name(), ready, wanted);
}

// Those of the operator and of these providers.
Result<std::vector<kube::Object>> DeploymentsOf(const Context& ctx, kube::Client& client,
                                                const std::set<std::string>& labels) {
  const kube::Resource& kind = kube::Builtin("Deployment");
  auto out = TRY(
      client.List(ctx, kind, std::string(api::kOperatorNamespace), {.label_selector = std::string(kOperatorSelector)}));
  auto others = TRY(client.List(ctx, kind, "", {.label_selector = std::string(api::kLabelProvider)}));
  for (kube::Object& one : others.items) {
    if (labels.contains(one.label(api::kLabelProvider))) out.items.push_back(std::move(one));
  }
  return std::move(out.items);
}

// "" where all are ready.
Result<std::string> Look(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder,
                         const std::set<std::string>& labels) {
  const auto supervisor = TRY(local::SupervisorOf(folder.Lock()));
  if (!supervisor) return std::string("the plane has ended");  // or another `up` starts it anew
  const auto deployments = TRY(DeploymentsOf(ctx, client, labels));
  const auto pods = TRY(client.List(ctx, kube::Builtin("Pod"), ""));
  return NotReadyOf(deployments, pods.items, *supervisor);
}

}  // namespace

std::vector<local::ProcessState> ProcessesOf(const kube::Object& pod) {
  std::vector<local::ProcessState> out;
  const std::string name = fmt::format("{}/{}", pod.ns(), pod.name());
  // The containers wait for these.
  for (const Json& status : StatusesOf(pod, "initContainerStatuses")) {
    if (Find(status, {"state", "terminated"}) != nullptr && GetInt(status, {"state", "terminated", "exitCode"}) == 0)
      continue;
    out.push_back(ProcessOf(status, fmt::format("{}:{}", name, GetString(status, {"name"}))));
  }
  const Json& statuses = StatusesOf(pod, "containerStatuses");
  for (const Json& status : statuses) {
    const bool alone = statuses.size() == 1;
    const std::string container = GetString(status, {"name"});
    out.push_back(ProcessOf(status, alone ? name : fmt::format("{}:{}", name, container)));
    out.back().port = PortOf(pod, container, alone);
  }
  if (!out.empty()) return out;
  local::ProcessState waiting;
  waiting.name = name;
  waiting.message = GetString(pod.json(), {"status", "message"}, "it isn't started yet");
  return {waiting};
}

local::ProcessState AsOfRun(local::ProcessState process, pid_t supervisor) {
  if (process.pid > 0 && ParentOf(process.pid) == supervisor) return process;
  // What it says of itself is why it doesn't run.
  if ((process.pid > 0 || process.ready) && process.message.empty()) process.message = "its process is gone";
  process.ready = false;
  process.pid = 0;
  return process;
}

std::string NotReadyOf(const std::vector<kube::Object>& deployments, const std::vector<kube::Object>& pods,
                       pid_t supervisor) {
  for (const kube::Object& deployment : deployments) {
    std::string why = NotReady(deployment, pods, supervisor);
    if (!why.empty()) return why;
  }
  return "";
}

std::vector<local::ProcessState> MissingOf(const std::vector<kube::Object>& deployments,
                                           const std::vector<kube::Object>& pods) {
  std::vector<local::ProcessState> out;
  for (const kube::Object& deployment : deployments) {
    const std::int64_t there = std::count_if(
        pods.begin(), pods.end(), [&](const kube::Object& pod) { return IsOf(pod, deployment) && !pod.deleting(); });
    const std::int64_t wanted = WantedBy(deployment);
    if (there >= wanted || deployment.deleting()) continue;
    out.emplace_back();
    out.back().name = fmt::format("{}/{}", deployment.ns(), deployment.name());
    out.back().message = fmt::format("it has {} of {} Pods", there, wanted);
  }
  return out;
}

Status AwaitManagers(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder,
                     const std::set<std::string>& labels, LiveLines& lines) {
  std::string why;
  for (;;) {
    auto seen = Look(ctx, client, folder, labels);
    if (seen.ok() && seen->empty()) return Ok();
    if (seen.ok()) why = *std::move(seen);
    if (!seen.ok() && why.empty()) why = seen.error().message;
    if (!seen.ok() && !seen.error().Transient() && seen.code() != Code::kDeadlineExceeded) return seen.error();
    lines.Draw({"Waiting for the managers. " + why});
    if (!ctx.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) break;
  }
  return Error{ctx.stop.stop_requested() ? Code::kCancelled : Code::kDeadlineExceeded,
               fmt::format("the managers aren't ready: {}. `clusterctl local logs {}` has more", why, folder.Flag()),
               {}};
}

}  // namespace capi::cli
