// Ways on where the server refuses an apply although the object itself is valid (behaviour.md U9).
#pragma once

#include <functional>
#include <vector>

#include "base/context.h"
#include "kube/apply/manifest.h"
#include "kube/client/client.h"

namespace capi::kube {

// Told, before a Deployment is deleted without its pods, of the ReplicaSets that keep them running: the caller removes
// these when the new pods are healthy. An error keeps everything as it is.
using LeftBehind = std::function<Status(const std::vector<ObjectId>& replica_sets)>;

struct ReplaceRequest {
  const Resource& resource;
  const Manifest& manifest;
  const WriteOptions& options;              // those of the apply that was refused; with dry_run nothing is written
  const Error& refused;                     // kInvalidArgument
  const LeftBehind* left_behind = nullptr;  // null: what is created anew goes with all that it owns
};

// Old and new may be invalid only together: leftovers that an apply merges (a webhook's port 0, a list with changed
// keys). Then the object is replaced, others' fields kept, and applied. Or a field can't change: then a workload,
// binding or the like is deleted and created again. Each way is tried in a dry-run first; where none is open, or
// the object isn't there, the answer is `refused`. Otherwise the answer of the apply.
Result<Object> ApplyByReplacing(Client& client, const Context& ctx, const ReplaceRequest& request);

}  // namespace capi::kube
