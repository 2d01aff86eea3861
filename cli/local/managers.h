// The processes of a plane's managers, as far as the supervisor that runs has started them: what the API server has of
// an earlier run says that they are ready until they are begun again.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "cli/frame/live_lines.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "local/plane/plane_folder.h"
#include "local/plane/state.h"

namespace capi::cli {

// The processes of a Pod of the node, one for each container, and before them those of init containers that aren't
// through: "capi-system/capi-controller-manager-x". Pure.
std::vector<local::ProcessState> ProcessesOf(const kube::Object& pod);

// Not ready, and without a pid, where the process is no child of `supervisor`: all of a run are (behaviour.md G3).
local::ProcessState AsOfRun(local::ProcessState process, pid_t supervisor);

// What is said of the first Deployment that has fewer Pods than it wants, or one of whose processes isn't ready in the
// run of `supervisor`; "" for none.
std::string NotReadyOf(const std::vector<kube::Object>& deployments, const std::vector<kube::Object>& pods,
                       pid_t supervisor);

// One, not ready, for each Deployment that has fewer Pods than it wants, those that go not counted.
std::vector<local::ProcessState> MissingOf(const std::vector<kube::Object>& deployments,
                                           const std::vector<kube::Object>& pods);

// Waits until the operator and the managers of these providers (values of label cluster.x-k8s.io/provider) are ready in
// the run that there is. kDeadlineExceeded says what isn't.
Status AwaitManagers(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder,
                     const std::set<std::string>& labels, LiveLines& lines);

}  // namespace capi::cli
