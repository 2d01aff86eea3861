#include "cli/local/managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/kinds.h"
#include "api/schema/crds.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/local/status.h"
#include "cli/operator_manifests/manifests.h"
#include "local/plane/plane_lock.h"

namespace capi::cli {
namespace {

constexpr Millis kPause{200};

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
