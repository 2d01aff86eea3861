#include "operator/act/scaler.h"

#include "api/reasons.h"
#include "kube/apply/apply.h"
#include "operator/decide/drift.h"
#include "operator/decide/pause.h"

namespace capi::ops {
namespace {

constexpr int kTries = 3;

std::string ScaledBy(kube::Object object) {
  KeepTrace(object);
  return TraceOf(object).scaled_by;
}

}  // namespace

Status Scaler::ScaleOne(const Context& ctx, const Observation& o, const kube::ObjectId& id, bool up,
                        kube::Inventory& inventory) {
  const kube::Resource& resource = kube::Builtin(id.kind);
  Status last = Ok();
  for (int i = 0; i < kTries; ++i) {
    auto live = client_.Get(ctx, resource, id.ns, id.name);
    if (!live.ok() && live.code() == Code::kNotFound) return Ok();
    if (!live.ok()) return live.error().With(id.ToString());
    const std::string ours = kube::FieldsHash(*live, api::kFieldManager);
    if (auto claim = up ? ClaimToReturn(*live, DeclaredReplicas(o, id)) : std::nullopt) {
      Json count = {{"spec", {{"replicas", claim->replicas}}}};
      auto returned = client_.Patch(ctx, resource, id.ns, id.name, kube::PatchType::kMerge, count,
                                    {.field_manager = claim->by, .subresource = "scale"});
      // Without the right to scale in others' names the count comes back all the same, as our own.
      if (!returned.ok()) observer_.tracks().MarkUncertain(id);
      if (!returned.ok() && returned.code() != Code::kPermissionDenied) return returned.error().With(id.ToString());
      live = client_.Get(ctx, resource, id.ns, id.name);
      if (!live.ok()) return live.error().With(id.ToString());
    }
    Json patch = up ? ScaleUpPatch(*live, DeclaredReplicas(o, id)) : ScaleDownPatch(*live, ScaledBy(*live));
    kube::WriteOptions options{.field_manager = std::string(api::kFieldManager)};
    // What is as it must be was written already, by a request whose answer was lost: the watch may not show that yet.
    auto written = patch.is_null()
                       ? std::move(live)
                       : client_.Patch(ctx, resource, id.ns, id.name, kube::PatchType::kMerge, patch, options);
    if (!written.ok() && written.code() == Code::kNotFound) return Ok();
    if (!written.ok()) {
      last = written.error().With(id.ToString());
      observer_.tracks().MarkUncertain(id);
      if (written.code() == Code::kConflict) continue;  // its controller writes its status all the time
      return last;
    }
    observer_.tracks().Expect(id, written->resource_version(), ScaledBy(*written));
    const kube::InventoryEntry* entry = inventory.Find(id);
    if (entry != nullptr && up) {
      // Who patches a field owns it alone: the Install that follows makes the count ours as any other field (D1).
      inventory.Put(id, {entry->version, "", "", entry->stale});
    } else if (entry != nullptr && entry->fields == ours) {
      // The count is no longer a field of our apply: that is our own doing, and no drift. What else was changed
      // meanwhile stays one, and is restored once the pause is over (P2).
      kube::InventoryEntry now = *entry;
      now.fields = kube::FieldsHash(*written, api::kFieldManager);
      inventory.Put(id, now);
    }
    if (!patch.is_null()) ctx.log.Info(up ? "scaled up" : "scaled to zero", {{"object", id.ToString()}});
    return Ok();
  }
  return last;
}

Done Scaler::Run(const Context& ctx, const Observation& o, const Scale& step) {
  Done done;
  done.again = true;  // what else there is to do comes after
  done.unpausing = step.up;
  kube::Inventory inventory = o.inventory;
  for (const kube::ObjectId& id : step.workloads) {
    auto scaled = ScaleOne(ctx, o, id, step.up, inventory);
    if (scaled.ok()) continue;
    done.hold = ServerHold(api::condition::kReady, api::reason::kAPIServerUnavailable, scaled.error());
    if (scaled.code() == Code::kConflict) done.hold->retry = Retry::kBackoff;
  }
  done.inventory = inventory;
  auto fleet = observer_.ObserveFleet(ctx, o.provider.id.Key(), inventory);
  if (fleet.ok()) {
    done.fleet = *fleet;
  } else if (!done.hold) {
    done.hold = ServerHold(api::condition::kReady, api::reason::kAPIServerUnavailable, fleet.error());
  }
  return done;
}

}  // namespace capi::ops
