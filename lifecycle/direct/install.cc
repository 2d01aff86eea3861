#include "lifecycle/direct/install.h"

#include <fmt/format.h>

#include <chrono>

#include "api/text.h"
#include "kube/apply/apply.h"
#include "kube/meta/health.h"
#include "kube/meta/kind.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/direct/scale.h"

namespace capi::lifecycle {
namespace {

constexpr Millis kPause{100};

Status Apply(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests) {
  kube::ApplyOptions options;
  options.field_manager = kDirectManager;
  std::vector<kube::Change> changes;
  return kube::Applier(client, options).Apply(ctx, manifests, {}, changes);
}

Status AwaitOne(const Context& ctx, kube::Client& client, const kube::ObjectId& id, Millis limit) {
  Context bounded = ctx.WithTimeout(limit);
  kube::Health health;
  while (bounded.Check().ok()) {
    auto live = client.Get(bounded, kube::Builtin(id.kind), id.ns, id.name);
    if (!live.ok() && !live.error().Transient()) return live.error().With(id.ToString());
    health = live.ok() ? kube::HealthOf(*live) : kube::Health{kube::HealthState::kInProgress, live.error().message};
    if (health.ok()) return Ok();
    if (!ctx.clock->Sleep(ctx.stop, kPause)) break;
  }
  TRY(ctx.Check());
  return Error{Code::kDeadlineExceeded,
               fmt::format("{} {} is not ready after {} s: {}", id.kind == "Deployment" ? "deployment" : id.kind,
                           api::GoQuote(id.name), std::chrono::duration_cast<Seconds>(limit).count(), health.message),
               {}};
}

}  // namespace

Status Install(const Context& ctx, kube::Client& client, const DirectRelease& release) {
  TRY(InstallObjects(ctx, client, release));
  return Record(ctx, client, release);
}

Status InstallObjects(const Context& ctx, kube::Client& client, const DirectRelease& release) {
  return Apply(ctx, client, release.manifests);
}

Status Record(const Context& ctx, kube::Client& client, const DirectRelease& release) {
  TRY(EnsureEntryCrd(ctx, client, kDirectManager));
  return Apply(ctx, client, {release.Entry()});
}

Status AwaitAvailable(const Context& ctx, kube::Client& client, const DirectRelease& release, Millis limit) {
  return AwaitAvailable(ctx, client, release.manifests, limit);
}

Status AwaitAvailable(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests,
                      Millis limit) {
  for (const kube::Manifest& manifest : manifests) {
    if (!kube::Is(manifest.id, "apps", "Deployment")) continue;
    TRY(AwaitOne(ctx, client, manifest.id, limit));
  }
  return Ok();
}

Status AwaitAvailable(const Context& ctx, kube::Client& client, const api::ProviderId& id, Millis limit,
                      const std::function<void(const std::string& what)>& warn) {
  const auto deployments = TRY(DeploymentsOf(ctx, client, id));
  // A provider may be without one; or somebody has deleted it.
  if (deployments.empty())
    warn(fmt::format("{} has no Deployment in namespace {}: whether it runs can't be told", id.ToString(), id.ns));
  // With no replicas wanted all of it is healthy.
  if (IsAtZero(deployments)) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("{} is at zero replicas since an upgrade that was broken off: run that again", id.ToString()),
        {}};
  }
  for (const kube::Object& deployment : deployments)
    TRY(AwaitOne(ctx, client, {"apps", "Deployment", deployment.ns(), deployment.name()}, limit));
  return Ok();
}

}  // namespace capi::lifecycle
