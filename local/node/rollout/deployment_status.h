// A Deployment's status, as its controller writes it on a cluster (behaviour.md G4). Pure.
#pragma once

#include "local/node/rollout/rollout.h"

namespace capi::local {

// The whole status of `deployment`, whose last one tells since when its conditions are as they are. `failure`: why no
// Pod of it can be made, "" where they can. Conditions of anybody else aren't kept: nobody else writes any on a local
// plane. `again` as in StateOf: when the deadline of a rollout is over.
Json DeploymentStatus(const kube::Object& deployment, const std::vector<PodState>& pods, const std::string& failure,
                      WallTime now, WallTime& again);

// Nothing in `a` and `b` differs but times of conditions.
bool SameStatus(const Json& a, const Json& b);

}  // namespace capi::local
