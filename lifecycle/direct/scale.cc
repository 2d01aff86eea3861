#include "lifecycle/direct/scale.h"

#include <fmt/format.h>

#include "lifecycle/direct/release.h"
#include "lifecycle/plan/scale.h"

namespace capi::lifecycle {
namespace {

constexpr int kTries = 5;  // against who writes it at the same time
constexpr Millis kPause{200};
constexpr Seconds kLimit{60};

const kube::Resource& Deployments() { return kube::Builtin("Deployment"); }

Result<std::vector<kube::Object>> Find(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  std::string selector =
      fmt::format("{}=,{}={}", api::kLabelClusterctl, api::kLabelProvider, api::ManifestLabel(id.type, id.name));
  auto list = client.List(ctx, Deployments(), id.ns, {.label_selector = selector});
  if (!list.ok()) return list.error().With(fmt::format("failed to list Deployments in namespace {}", id.ns));
  return std::move(list->items);
}

// `patch` makes a merge patch of the live object, null for none.
Status Change(const Context& ctx, kube::Client& client, kube::Object live,
              const std::function<Json(const kube::Object&)>& patch) {
  for (int tries = 1;; ++tries) {
    Json change = patch(live);
    if (change.is_null()) return Ok();
    auto written = client.Patch(ctx, Deployments(), live.ns(), live.name(), kube::PatchType::kMerge, change,
                                {.field_manager = std::string(kDirectManager)});
    if (written.ok()) return Ok();
    std::string what = fmt::format("failed to scale Deployment {}/{}", live.ns(), live.name());
    if (written.code() != Code::kConflict || tries == kTries) return written.error().With(what);
    live = TRY_WITH(client.Get(ctx, Deployments(), live.ns(), live.name()), what);
  }
}

// Its pods, as the status of what was written last says; nullopt while that isn't said.
std::int64_t PodsLeft(const kube::Object& live) {
  bool seen = GetInt(live.json(), {"status", "observedGeneration"}) >= live.generation();
  return seen ? GetInt(live.json(), {"status", "replicas"}) : -1;
}

Status AwaitZero(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  Context bounded = ctx.WithTimeout(kLimit);
  for (std::string left;;) {
    left.clear();
    for (const kube::Object& live : TRY(Find(ctx, client, id))) {
      if (PodsLeft(live) != 0) left = fmt::format("{}/{}", live.ns(), live.name());
    }
    if (left.empty()) return Ok();
    TRY(ctx.Check());
    if (!bounded.Check().ok()) {
      return Error{
          Code::kDeadlineExceeded,
          fmt::format("Deployment {} still has pods {} s after it was scaled to zero; run the same command again, "
                      "it goes on from there",
                      left, kLimit.count()),
          {}};
    }
    ctx.clock->Sleep(ctx.stop, kPause);
  }
}

}  // namespace

Status ScaleDown(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  for (kube::Object& live : TRY(Find(ctx, client, id))) {
    TRY(Change(ctx, client, std::move(live), [](const kube::Object& now) { return ScaleDownPatch(now); }));
  }
  return AwaitZero(ctx, client, id);
}

Status ScaleUp(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  for (kube::Object& live : TRY(Find(ctx, client, id))) {
    TRY(Change(ctx, client, std::move(live), [](const kube::Object& now) { return ScaleUpPatch(now, std::nullopt); }));
  }
  return Ok();
}

}  // namespace capi::lifecycle
