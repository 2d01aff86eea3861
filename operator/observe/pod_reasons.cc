#include "operator/observe/pod_reasons.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/meta/health.h"

namespace capi::ops {
namespace {

constexpr size_t kTold = 2;  // different troubles

bool IsOnItsWayOut(const kube::Object& pod) { return Find(pod.json(), {"metadata", "deletionTimestamp"}) != nullptr; }

// "container manager: ImagePullBackOff: no such image", of the first that isn't ready. A container that ended and is
// started again says why it ended: its state alone is CrashLoopBackOff.
std::string ContainerTrouble(const Json& status) {
  const Json* waits = Find(status, {"state", "waiting"});
  const Json* ended = Find(status, {"lastState", "terminated"});
  if (ended == nullptr) ended = Find(status, {"state", "terminated"});
  if (GetBool(status, {"ready"}) || (waits == nullptr && ended == nullptr)) return "";
  std::string text = "container " + GetString(status, {"name"});
  auto add = [&](std::string_view words) {
    if (!words.empty()) text += fmt::format(": {}", words);
  };
  if (waits != nullptr) {
    add(GetString(*waits, {"reason"}));
    add(Trim(GetString(*waits, {"message"})));
  }
  if (ended != nullptr) {
    text += fmt::format("; it ended with exit code {}", GetInt(*ended, {"exitCode"}));
    add(Trim(GetString(*ended, {"message"})));
  }
  return text;
}

std::string Trouble(const kube::Object& pod, const std::string& health) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    const Json* statuses = Find(pod.json(), {"status", list});
    if (statuses == nullptr || !statuses->is_array()) continue;
    for (const Json& status : *statuses) {
      bool done = std::string_view(list) == "initContainerStatuses" &&
                  GetInt(status, {"state", "terminated", "exitCode"}, -1) == 0;
      std::string trouble = done ? "" : ContainerTrouble(status);
      if (!trouble.empty()) return trouble;
    }
  }
  return health;
}

}  // namespace

std::string PodTrouble(const std::vector<kube::Object>& pods) {
  std::vector<std::string> troubles;
  for (const auto& pod : pods) {
    if (IsOnItsWayOut(pod)) continue;
    kube::Health health = kube::HealthOf(pod);
    if (health.ok() || health.message.empty()) continue;
    std::string trouble = Trouble(pod, health.message);
    bool told = std::any_of(troubles.begin(), troubles.end(),
                            [&](const std::string& text) { return text.ends_with(": " + trouble); });
    if (!told) troubles.push_back(fmt::format("pod {}: {}", pod.name(), trouble));
  }
  return JoinNames(troubles, kTold);
}

std::string PodReasons::Ask(const Context& ctx, const Workload& workload) {
  auto pods = client_.List(ctx, kube::Builtin("Pod"), workload.id.ns, {.label_selector = workload.pods});
  return pods.ok() ? PodTrouble(pods->items) : "";
}

void PodReasons::Explain(const Context& ctx, const std::string& key, Fleet& fleet) {
  MonoTime now = ctx.clock->Monotonic();
  std::map<kube::ObjectId, std::string> words;
  bool ask = true;
  {
    MutexLock lock(mu_);
    auto said = said_.find(key);
    ask = said == said_.end() || now >= said->second.at + kPodsEvery;
    if (!ask) words = said->second.words;
  }
  for (Workload& workload : fleet.workloads) {
    if (workload.health.ok() || workload.pods.empty()) continue;
    if (ask) words[workload.id] = Ask(ctx, workload);
    const std::string& text = words[workload.id];
    if (!text.empty()) workload.health.message += "; " + text;
  }
  if (!ask) return;
  MutexLock lock(mu_);
  said_[key] = {now, std::move(words)};
}

void PodReasons::Forget(const std::string& key) {
  MutexLock lock(mu_);
  said_.erase(key);
}

}  // namespace capi::ops
