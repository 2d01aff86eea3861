#include "lifecycle/direct/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/meta/label_selector.h"
#include "lifecycle/deletion.h"
#include "lifecycle/labelled.h"
#include "lifecycle/plan/scale.h"

namespace capi::lifecycle {
namespace {

// Not kDirectManager: what that one wrote by updates becomes part of its applies (A1c), and the next of these would
// take the count and the annotation away, since the release has neither.
constexpr std::string_view kScaleManager = "clusterctl-scale";
constexpr int kTries = 5;  // against who writes it at the same time
constexpr Millis kPause{200};
// One that has ended, an evicted one for example, stays until somebody deletes it.
constexpr std::string_view kRunning = "status.phase!=Succeeded,status.phase!=Failed";

const kube::Resource& Deployments() { return kube::Builtin("Deployment"); }

// `patch` makes a merge patch of the live object, null for none.
Status Change(const Context& ctx, kube::Client& client, kube::Object live,
              const std::function<Json(const kube::Object&)>& patch) {
  for (int tries = 1;; ++tries) {
    Json change = patch(live);
    if (change.is_null()) return Ok();
    auto written = client.Patch(ctx, Deployments(), live.ns(), live.name(), kube::PatchType::kMerge, change,
                                {.field_manager = std::string(kScaleManager)});
    if (written.ok() || written.code() == Code::kNotFound) return Ok();
    std::string what = fmt::format("failed to scale Deployment {}/{}", live.ns(), live.name());
    if (written.code() != Code::kConflict || tries == kTries) return written.error().With(what);
    live = TRY_WITH(client.Get(ctx, Deployments(), live.ns(), live.name()), what);
  }
}

bool IsOf(const kube::Object& pod, const kube::Object& deployment) {
  const Json* owners = capi::Find(pod.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return false;
  return std::any_of(owners->begin(), owners->end(), [&](const Json& owner) {
    return GetString(owner, {"kind"}) == "ReplicaSet" &&
           GetString(owner, {"name"}).starts_with(deployment.name() + "-");
  });
}

// What it waits for, in words; "" where it has no pods. The status counts none that is terminating, though that one may
// write until it has ended.
Result<std::string> WaitsFor(const Context& ctx, kube::Client& client, const kube::Object& live) {
  const Json* labels = capi::Find(live.json(), {"spec", "selector"});
  if (labels == nullptr) return std::string();
  auto selector = TRY(kube::LabelSelector::FromJson(*labels));
  auto pods = client.List(ctx, kube::Builtin("Pod"), live.ns(),
                          {.label_selector = selector.ToString(), .field_selector = std::string(kRunning)});
  if (!pods.ok()) return pods.error().With(fmt::format("failed to list Pods in namespace {}", live.ns()));
  for (const kube::Object& pod : pods->items) {
    const std::string node = GetString(pod.json(), {"spec", "nodeName"});
    if (IsOf(pod, live)) return fmt::format("pod {} on node {}", pod.name(), node.empty() ? "(none)" : node);
  }
  bool seen = GetInt(live.json(), {"status", "observedGeneration"}) >= live.generation();
  return seen && GetInt(live.json(), {"status", "replicas"}) == 0
             ? ""
             : std::string("Kubernetes' controller-manager, which hasn't taken its replicas away");
}

Status AwaitZero(const Context& ctx, kube::Client& client, const api::ProviderId& id, Seconds limit) {
  Context bounded = ctx.WithTimeout(limit);
  for (std::string left;;) {
    left.clear();
    for (const kube::Object& live : TRY(DeploymentsOf(ctx, client, id))) {
      const std::string why = TRY(WaitsFor(ctx, client, live));
      if (!why.empty()) left = fmt::format("Deployment {}/{} still waits for {}", live.ns(), live.name(), why);
    }
    if (left.empty()) return Ok();
    TRY(ctx.Check());
    if (!bounded.Check().ok()) {
      return Error{Code::kDeadlineExceeded,
                   fmt::format("{}, {} s after it was scaled to zero; see why that doesn't end", left, limit.count()),
                   {}};
    }
    ctx.clock->Sleep(ctx.stop, kPause);
  }
}

// Whoever had set the count through the scale subresource sets it again, so that it stays theirs.
Status ReturnClaim(const Context& ctx, kube::Client& client, kube::Object& live) {
  auto claim = ClaimToReturn(live, std::nullopt);
  if (!claim) return Ok();
  const std::string what = fmt::format("failed to scale Deployment {}/{}", live.ns(), live.name());
  Json count = {{"spec", {{"replicas", claim->replicas}}}};
  auto returned = client.Patch(ctx, Deployments(), live.ns(), live.name(), kube::PatchType::kMerge, count,
                               {.field_manager = claim->by, .subresource = "scale"});
  // Without the right to do so the count comes back all the same, as our own.
  if (!returned.ok() && returned.code() != Code::kPermissionDenied) return returned.error().With(what);
  live = TRY_WITH(client.Get(ctx, Deployments(), live.ns(), live.name()), what);
  return Ok();
}

Status Start(const Context& ctx, kube::Client& client, kube::Object live) {
  TRY(ReturnClaim(ctx, client, live));
  return Change(ctx, client, std::move(live), [](const kube::Object& now) { return ScaleUpPatch(now, std::nullopt); });
}

}  // namespace

Result<std::vector<kube::Object>> DeploymentsOf(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  auto list = client.List(ctx, Deployments(), id.ns, {.label_selector = SelectorOf(id)});
  if (!list.ok()) return list.error().With(fmt::format("failed to list Deployments in namespace {}", id.ns));
  return std::move(list->items);
}

Status ScaleDown(const Context& ctx, kube::Client& client, const api::ProviderId& id, Seconds limit,
                 std::set<kube::ObjectId>& stopped) {
  for (kube::Object& live : TRY(DeploymentsOf(ctx, client, id))) {
    if (!ScaleDownPatch(live, "").is_null()) stopped.insert(live.id());
    TRY(Change(ctx, client, std::move(live),
               [](const kube::Object& now) { return ScaleDownPatch(now, ScaledBy(now)); }));
  }
  return AwaitZero(ctx, client, id, limit);
}

Status ScaleBack(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                 const std::set<kube::ObjectId>& stopped) {
  for (kube::Object& live : TRY(DeploymentsOf(ctx, client, id))) {
    if (stopped.contains(live.id())) TRY(Start(ctx, client, std::move(live)));
  }
  return Ok();
}

bool IsAtZero(const std::vector<kube::Object>& deployments) {
  return std::any_of(deployments.begin(), deployments.end(), [](const kube::Object& live) {
    return live.has_annotation(api::kAnnotationOriginalReplicas) && Replicas(live) == 0;
  });
}

Result<std::vector<kube::Manifest>> KeepReplicas(const Context& ctx, kube::Client& client,
                                                 const DirectRelease& release) {
  std::set<kube::ObjectId> scaled;
  for (const kube::Object& live : TRY(DeploymentsOf(ctx, client, release.provider.id))) {
    if (live.has_annotation(api::kAnnotationOriginalReplicas) || !ScaledBy(live).empty()) scaled.insert(live.id());
  }
  std::vector<kube::Manifest> out = release.manifests;
  for (kube::Manifest& manifest : out) {
    if (scaled.contains(manifest.id)) manifest = WithoutReplicas(manifest);
  }
  return out;
}

Status ScaleUp(const Context& ctx, kube::Client& client, const DirectRelease& release) {
  const Keep keep = KeepsOthers(release.provider.id);
  std::set<kube::ObjectId> released;
  for (const kube::Manifest& manifest : release.manifests) released.insert(manifest.id);
  for (kube::Object& live : TRY(DeploymentsOf(ctx, client, release.provider.id))) {
    if (!released.contains(live.id()) && keep(live).empty()) continue;
    TRY(Start(ctx, client, std::move(live)));
  }
  return Ok();
}

}  // namespace capi::lifecycle
