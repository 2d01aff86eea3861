#include "local/node/rollout/deployment_status.h"

#include <fmt/core.h>

#include <algorithm>

namespace capi::local {
namespace {

struct Counts {
  std::int64_t wanted = 1, all = 0, updated = 0, ready = 0, available = 0;
};

Counts CountsOf(const kube::Object& deployment, const std::vector<PodState>& pods) {
  Counts counts{.wanted = GetInt(deployment.json(), {"spec", "replicas"}, 1)};
  for (const PodState& pod : pods) {
    if (pod.ends) continue;
    ++counts.all;
    counts.updated += pod.current;
    counts.ready += pod.ready;
    counts.available += pod.available;
  }
  return counts;
}

std::int64_t Was(const kube::Object& deployment, const char* count) {
  return GetInt(deployment.json(), {"status", count});
}

const Json* OldCondition(const kube::Object& deployment, std::string_view type) {
  const Json* list = Find(deployment.json(), {"status", "conditions"});
  if (list == nullptr || !list->is_array()) return nullptr;
  auto found = std::find_if(list->begin(), list->end(), [&](const Json& c) { return GetString(c, {"type"}) == type; });
  return found == list->end() ? nullptr : &*found;
}

// lastTransitionTime moves with the status, lastUpdateTime with anything, or where `touch` says so.
Json NewCondition(const kube::Object& deployment, const char* type, const char* status, const std::string& reason,
                  const std::string& message, WallTime now, bool touch = false) {
  Json condition = {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}};
  const Json* was = OldCondition(deployment, type);
  std::string at = FormatTime(now);
  bool same = was != nullptr && GetString(*was, {"status"}) == status;
  condition["lastTransitionTime"] = same ? GetString(*was, {"lastTransitionTime"}, at) : at;
  bool still = same && !touch && GetString(*was, {"reason"}) == reason && GetString(*was, {"message"}) == message;
  condition["lastUpdateTime"] = still ? GetString(*was, {"lastUpdateTime"}, at) : at;
  return condition;
}

bool Progressed(const kube::Object& deployment, const Counts& counts) {
  return counts.updated > Was(deployment, "updatedReplicas") || counts.ready > Was(deployment, "readyReplicas") ||
         counts.available > Was(deployment, "availableReplicas") ||
         counts.all - counts.updated < Was(deployment, "replicas") - Was(deployment, "updatedReplicas");
}

Json Progressing(const kube::Object& deployment, const Counts& counts, WallTime now, WallTime& again) {
  auto make = [&](const char* status, const char* reason, const std::string& message, bool touch = false) {
    return NewCondition(deployment, "Progressing", status, reason, message, now, touch);
  };
  const std::string name = fmt::format("Deployment \"{}\"", deployment.name());
  if (counts.updated == counts.wanted && counts.all == counts.wanted && counts.available == counts.wanted) {
    return make("True", "NewReplicaSetAvailable", name + " has successfully progressed.");
  }
  if (GetBool(deployment.json(), {"spec", "paused"})) {
    return make("Unknown", "DeploymentPaused", "Deployment is paused");
  }
  const std::string goes_on = name + " is progressing.";
  const Json* was = OldCondition(deployment, "Progressing");
  bool another = deployment.generation() != Was(deployment, "observedGeneration");
  if (was == nullptr || another || Progressed(deployment, counts)) {
    return make("True", "ReplicaSetUpdated", goes_on, true);
  }
  auto since = ParseTime(GetString(*was, {"lastUpdateTime"}));
  WallTime deadline = since.ok() ? *since + Seconds(GetInt(deployment.json(), {"spec", "progressDeadlineSeconds"}, 600))
                                 : WallTime::max();
  std::string reason = GetString(*was, {"reason"});
  bool done = reason == "NewReplicaSetAvailable";  // that was another rollout, or a Pod of it isn't ready any more
  if (reason == "ProgressDeadlineExceeded" || (!done && now >= deadline)) {
    return make("False", "ProgressDeadlineExceeded", name + " has timed out progressing.");
  }
  if (done) return *was;
  again = std::min(again, deadline);
  return make("True", "ReplicaSetUpdated", goes_on);
}

Json WithoutTimes(Json status) {
  if (Json* conditions = Find(status, {"conditions"})) {
    for (Json& condition : *conditions) condition.erase("lastTransitionTime");
  }
  return status;
}

}  // namespace

Json DeploymentStatus(const kube::Object& deployment, const std::vector<PodState>& pods, const std::string& failure,
                      WallTime now, WallTime& again) {
  Counts counts = CountsOf(deployment, pods);
  Json status = {{"observedGeneration", deployment.generation()},
                 {"replicas", counts.all},
                 {"updatedReplicas", counts.updated},
                 {"readyReplicas", counts.ready},
                 {"availableReplicas", counts.available},
                 {"conditions", Json::array()}};
  status["unavailableReplicas"] = std::max<std::int64_t>(0, std::max(counts.wanted, counts.all) - counts.available);
  const RolloutSpec rollout = RolloutSpecOf(deployment, false);
  const bool all = counts.wanted > 0 && rollout.recreate;
  const std::int64_t least = all ? counts.wanted : counts.wanted - rollout.max_unavailable;
  bool available = counts.available >= least;
  Json& conditions = status["conditions"];
  conditions.push_back(available ? NewCondition(deployment, "Available", "True", "MinimumReplicasAvailable",
                                                "Deployment has minimum availability.", now)
                                 : NewCondition(deployment, "Available", "False", "MinimumReplicasUnavailable",
                                                "Deployment does not have minimum availability.", now));
  conditions.push_back(Progressing(deployment, counts, now, again));
  if (!failure.empty()) {
    conditions.push_back(NewCondition(deployment, "ReplicaFailure", "True", "FailedCreate", failure, now));
  }
  return status;
}

bool SameStatus(const Json& a, const Json& b) { return WithoutTimes(a) == WithoutTimes(b); }

}  // namespace capi::local
