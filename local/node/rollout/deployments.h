// The controller of Deployments: their Pods on this node, and their status (behaviour.md G4).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/cache/informer.h"
#include "local/node/node_parts.h"
#include "local/node/rollout/rollout.h"

namespace capi::local {

// Thread-compatible.
class Deployments {
 public:
  Deployments(NodeParts& node, kube::Informer& deployments, kube::Informer& pods);

  // One look at all of them, and what follows from it. Returns when to look again at the latest, without any change.
  WallTime Pass(const Context& ctx);

 private:
  using Pods = std::map<std::string, std::vector<kube::ObjectPtr>>;  // by their Deployment's uid
  Pods PodsByOwner();
  void One(const Context& ctx, const kube::Object& deployment, const std::vector<kube::ObjectPtr>& pods,
           WallTime& again);
  std::string Create(const Context& ctx, const kube::Object& deployment, const std::string& hash, std::int64_t count);
  void Remove(const Context& ctx, const std::string& ns, const PodState& pod);
  void WriteStatus(const Context& ctx, const kube::Object& deployment, const std::vector<PodState>& pods,
                   const std::string& failure, WallTime& again);

  NodeParts& node_;
  kube::Informer &deployments_, &pods_;
  // What the watch hasn't told yet: Pods that were made, as their answers have them, and those that were deleted. One
  // that came and went unseen is forgotten after a while.
  struct Made {
    kube::Object pod;
    MonoTime at;
  };
  std::map<std::string, Made> made_;
  std::set<std::string> removed_;
  std::map<std::string, Json> written_;  // the last status, by uid
};

// The Pod of `deployment`'s template, whose hash is `hash`.
kube::Object PodOf(const kube::Object& deployment, const std::string& hash);

}  // namespace capi::local
