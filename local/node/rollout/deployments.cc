#include "local/node/rollout/deployments.h"

#include <fmt/core.h>

#include <algorithm>

#include "local/node/rollout/deployment_status.h"

namespace capi::local {
namespace {

constexpr Seconds kCallTime{10}, kRetry{2}, kUnseen{30};
constexpr size_t kLongestPrefix = 200;  // of a Pod's name

std::string DeploymentOf(const kube::Object& pod) {
  const Json* owners = Find(pod.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return "";
  for (const Json& owner : *owners) {
    if (GetBool(owner, {"controller"}) && GetString(owner, {"kind"}) == "Deployment") return GetString(owner, {"uid"});
  }
  return "";
}

// Where the cut is at a dot of the name, no "-" may follow.
std::string PrefixOf(std::string name) {
  if (name.size() <= kLongestPrefix) return name;
  name.resize(kLongestPrefix);
  name.erase(name.find_last_not_of(".-") + 1);
  return name;
}

}  // namespace

kube::Object PodOf(const kube::Object& deployment, const std::string& hash) {
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  const Json* pods = Find(deployment.json(), {"spec", "template"});
  if (pods != nullptr && pods->is_object()) pod.update(*pods);
  Json& metadata = Ensure(pod, {"metadata"});
  for (const char* field : {"name", "namespace", "creationTimestamp"}) metadata.erase(field);
  metadata["namespace"] = deployment.ns();
  metadata["generateName"] = fmt::format("{}-{}-", PrefixOf(deployment.name()), hash);
  Ensure(metadata, {"labels", kHashLabel}) = hash;
  metadata["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                              {"kind", "Deployment"},
                                              {"name", deployment.name()},
                                              {"uid", deployment.uid()},
                                              {"controller", true},
                                              {"blockOwnerDeletion", true}}});
  Json& spec = Ensure(pod, {"spec"});
  spec["nodeName"] = kNodeName;
  // As the API server's admission of ServiceAccounts has it, which a local plane lacks: a token is for that name alone.
  if (GetString(spec, {"serviceAccountName"}).empty()) spec["serviceAccountName"] = "default";
  return kube::Object(std::move(pod));
}

Deployments::Deployments(NodeParts& node, kube::Informer& deployments, kube::Informer& pods)
    : node_(node), deployments_(deployments), pods_(pods) {}

Deployments::Pods Deployments::PodsByOwner() {
  Pods by_owner;
  std::set<std::string> there;
  for (const kube::ObjectPtr& pod : pods_.List()) {
    made_.erase(pod->uid());
    there.insert(pod->uid());
    std::string owner = DeploymentOf(*pod);
    if (!owner.empty()) by_owner[owner].push_back(pod);
  }
  std::erase_if(removed_, [&](const std::string& uid) { return !there.contains(uid) && !made_.contains(uid); });
  MonoTime now = node_.clock.Monotonic();
  std::erase_if(made_, [&](const auto& one) { return one.second.at + kUnseen < now; });
  for (const auto& [uid, made] : made_) {
    by_owner[DeploymentOf(made.pod)].push_back(std::make_shared<kube::Object>(made.pod));
  }
  return by_owner;
}

WallTime Deployments::Pass(const Context& ctx) {
  WallTime again = WallTime::max();
  std::vector<kube::ObjectPtr> all = deployments_.List();
  Pods by_owner = PodsByOwner();
  std::set<std::string> known;
  for (const kube::ObjectPtr& deployment : all) {
    known.insert(deployment->uid());
    if (ctx.stop.stop_requested()) return again;
    if (!deployment->deleting()) One(ctx, *deployment, by_owner[deployment->uid()], again);
  }
  // Where nobody collects garbage. A Pod comes after its Deployment, so that one is gone.
  for (const auto& [owner, pods] : by_owner) {
    if (known.contains(owner)) continue;
    for (const kube::ObjectPtr& pod : pods) {
      if (!pod->deleting()) Remove(ctx, pod->ns(), {.name = pod->name(), .uid = pod->uid()});
    }
  }
  std::erase_if(written_, [&](const auto& one) { return !known.contains(one.first); });
  return again;
}

void Deployments::One(const Context& ctx, const kube::Object& deployment, const std::vector<kube::ObjectPtr>& pods,
                      WallTime& again) {
  WallTime now = node_.clock.Now();
  std::string hash = TemplateHash(deployment);
  Seconds min_ready(GetInt(deployment.json(), {"spec", "minReadySeconds"}));
  std::vector<PodState> states;
  for (const kube::ObjectPtr& pod : pods) {
    states.push_back(StateOf(*pod, hash, min_ready, now, again));
    states.back().ends = states.back().ends || removed_.contains(pod->uid());
  }
  Rollout next = NextOfRollout(RolloutSpecOf(deployment, node_.runners.IsAlone(deployment.uid())), states);
  for (const PodState& pod : next.remove) Remove(ctx, deployment.ns(), pod);
  std::string failure = Create(ctx, deployment, hash, next.create);
  if (!failure.empty()) again = std::min<WallTime>(again, now + kRetry);
  // What was just done counts already.
  for (PodState& state : states) state.ends = state.ends || removed_.contains(state.uid);
  for (const auto& [uid, made] : made_) {
    const std::string& id = uid;
    auto same = [&](const PodState& state) { return state.uid == id; };
    if (DeploymentOf(made.pod) != deployment.uid() || std::any_of(states.begin(), states.end(), same)) continue;
    states.push_back(StateOf(made.pod, hash, min_ready, now, again));
  }
  WriteStatus(ctx, deployment, states, failure, again);
}

std::string Deployments::Create(const Context& ctx, const kube::Object& deployment, const std::string& hash,
                                std::int64_t count) {
  for (; count > 0; --count) {
    auto made = node_.client.Create(ctx.WithTimeout(kCallTime), kube::Builtin("Pod"), PodOf(deployment, hash));
    if (!made.ok()) return made.error().message;
    std::string uid = made->uid();
    made_.insert_or_assign(uid, Made{std::move(*made), node_.clock.Monotonic()});
  }
  return "";
}

void Deployments::Remove(const Context& ctx, const std::string& ns, const PodState& pod) {
  if (removed_.contains(pod.uid)) return;
  Status done = node_.client.Delete(ctx.WithTimeout(kCallTime), kube::Builtin("Pod"), ns, pod.name, {.uid = pod.uid});
  if (done.ok() || done.code() == Code::kNotFound || done.code() == Code::kConflict) {
    removed_.insert(pod.uid);
  } else {
    ctx.log.Warn("a pod isn't deleted", {{"pod", ns + "/" + pod.name}, {"error", done.error().message}});
  }
}

void Deployments::WriteStatus(const Context& ctx, const kube::Object& deployment, const std::vector<PodState>& pods,
                              const std::string& failure, WallTime& again) {
  // The watch may be behind our last write: times of conditions come from that.
  kube::Object live = deployment;
  auto written = written_.find(deployment.uid());
  if (written != written_.end()) live.json()["status"] = written->second;
  Json status = DeploymentStatus(live, pods, failure, node_.clock.Now(), again);
  const Json* now = Find(live.json(), {"status"});
  if (now != nullptr && SameStatus(*now, status)) return;
  Json patch = {{"metadata", {{"uid", deployment.uid()}}}, {"status", status}};
  auto answer = node_.client.Patch(ctx.WithTimeout(kCallTime), kube::Builtin("Deployment"), deployment.ns(),
                                   deployment.name(), kube::PatchType::kMerge, patch, {.subresource = "status"});
  if (answer.ok()) {
    written_[deployment.uid()] = std::move(status);
    return;
  }
  again = std::min<WallTime>(again, node_.clock.Now() + kRetry);
  if (answer.code() == Code::kNotFound || answer.code() == Code::kConflict) return;
  ctx.log.Warn("a Deployment's status isn't written",
               {{"deployment", deployment.ns() + "/" + deployment.name()}, {"error", answer.error().message}});
}

}  // namespace capi::local
