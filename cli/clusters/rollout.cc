#include "cli/clusters/rollout.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/strings.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"

namespace capi::cli {
namespace {

constexpr char kPausedAnnotation[] = "cluster.x-k8s.io/paused";
// Controllers write the objects too, so that another write may come between a look and a change.
constexpr int kMostTries = 10;

struct KindInfo {
  RolloutKind kind;
  std::vector<std::string> words;  // as kubectl takes them
  kube::Resource resource;
};

const std::vector<KindInfo>& Kinds() {
  static const auto& kinds = *new std::vector<KindInfo>{
      {RolloutKind::kMachineDeployment,
       {"machinedeployment", "machinedeployments", "md"},
       {.group = "cluster.x-k8s.io",
        .version = std::string(kContract),
        .plural = "machinedeployments",
        .kind = "MachineDeployment"}},
      {RolloutKind::kKubeadmControlPlane,
       {"kubeadmcontrolplane", "kubeadmcontrolplanes", "kcp"},
       {.group = "controlplane.cluster.x-k8s.io",
        .version = std::string(kContract),
        .plural = "kubeadmcontrolplanes",
        .kind = "KubeadmControlPlane"}},
  };
  return kinds;
}

const kube::Resource& ResourceOf(RolloutKind kind) {
  auto found = std::find_if(Kinds().begin(), Kinds().end(), [&](const KindInfo& info) { return info.kind == kind; });
  return found->resource;
}

std::string Describe(const RolloutTarget& target) {
  return fmt::format("{}/{}", ToLower(ResourceOf(target.kind).kind), target.name);
}

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }

Result<RolloutTarget> ParseTarget(const std::string& text) {
  std::string lower = ToLower(text);
  size_t slash = lower.find('/');
  std::string kind = lower.substr(0, slash), name = lower.substr(slash + 1);
  if (kind.empty() || name.empty() || name.find('/') != std::string::npos) {
    return Invalid(fmt::format("arguments in resource/name form must have a single resource and name, not {}",
                               api::GoQuote(text)));
  }
  for (const KindInfo& info : Kinds()) {
    if (std::find(info.words.begin(), info.words.end(), kind) == info.words.end()) continue;
    if (!IsDns1123Subdomain(name))
      return Invalid(fmt::format("{}: {} is no name of an object", api::GoQuote(text), api::GoQuote(name)));
    return RolloutTarget{info.kind, name};
  }
  return Invalid(fmt::format("Invalid resource type {}, valid values are [machinedeployment kubeadmcontrolplane]",
                             api::GoQuote(kind)));
}

bool IsPaused(RolloutKind kind, const kube::Object& object) {
  if (kind == RolloutKind::kMachineDeployment) return GetBool(object.json(), {"spec", "paused"});
  return Find(object.json(), {"metadata", "annotations", kPausedAnnotation}) != nullptr;
}

Result<Json> RestartPatch(const RolloutTarget& target, const kube::Object& object, WallTime now) {
  const std::string& kind = ResourceOf(target.kind).kind;
  std::string after = GetString(object.json(), {"spec", "rollout", "after"});
  if (auto time = ParseTime(after); time.ok() && *time > now) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("can't update {} (remove 'spec.rollout.after' first): {}: it is to be restarted at {}",
                             kind, Describe(target), after),
                 {}};
  }
  return Json{{"spec", {{"rollout", {{"after", FormatTime(now)}}}}}};
}

Json PausePatch(RolloutKind kind, bool paused) {
  if (kind == RolloutKind::kMachineDeployment) return Json{{"spec", {{"paused", paused}}}};
  return Json{{"metadata", {{"annotations", {{kPausedAnnotation, paused ? Json("true") : Json()}}}}}};
}

struct Targets {
  kube::Client& client;
  std::string ns;
};

Result<kube::Object> Get(const Context& ctx, const Targets& in, const RolloutTarget& target) {
  auto object = in.client.Get(ctx, ResourceOf(target.kind), in.ns, target.name);
  if (object.ok()) return object;
  return object.error().With(fmt::format("failed to fetch {} in namespace {}", Describe(target), api::GoQuote(in.ns)));
}

// The change holds for the object that was looked at; where another came first, it is looked at again.
Status Change(const Context& ctx, const Targets& in, RolloutAction action, const RolloutTarget& target) {
  for (int tries = 1;; ++tries) {
    kube::Object object = TRY(Get(ctx, in, target));
    Json patch = TRY(RolloutPatch(action, target, object, ctx.clock->Now()));
    patch["metadata"]["resourceVersion"] = object.resource_version();
    auto changed = in.client.Patch(ctx, ResourceOf(target.kind), in.ns, target.name, kube::PatchType::kMerge, patch,
                                   {.field_manager = "clusterctl", .strict = true});
    if (changed.ok()) return Ok();
    if (changed.code() != Code::kConflict || tries == kMostTries)
      return changed.error().With(fmt::format("failed to change {}", Describe(target)));
  }
}

const char* Done(RolloutAction action) {
  switch (action) {
    case RolloutAction::kRestart: return "restarted";
    case RolloutAction::kPause: return "paused";
    case RolloutAction::kResume: return "resumed";
  }
  return "";
}

}  // namespace

std::vector<kube::Resource> RolloutResources() {
  std::vector<kube::Resource> out;
  for (const KindInfo& info : Kinds()) out.push_back(info.resource);
  return out;
}

Result<std::vector<RolloutTarget>> ParseRolloutTargets(const std::vector<std::string>& resources) {
  if (resources.empty()) return Invalid("required resource not specified");
  auto whole = [](const std::string& text) { return text.find('/') != std::string::npos; };
  if (!std::all_of(resources.begin(), resources.end(), whole))
    return Invalid("arguments must be in resource/name format (e.g. machinedeployment/md-1)");
  std::vector<RolloutTarget> out;
  for (const std::string& text : resources) {
    RolloutTarget target = TRY(ParseTarget(text));
    if (std::find(out.begin(), out.end(), target) == out.end()) out.push_back(std::move(target));
  }
  return out;
}

Result<Json> RolloutPatch(RolloutAction action, const RolloutTarget& target, const kube::Object& object, WallTime now) {
  auto refuse = [&](std::string_view why) {
    return Error{Code::kFailedPrecondition, fmt::format("{}: {}", why, Describe(target)), {}};
  };
  const std::string& kind = ResourceOf(target.kind).kind;
  bool paused = IsPaused(target.kind, object);
  if (action == RolloutAction::kRestart) {
    if (paused) return refuse(fmt::format("can't restart paused {} (run rollout resume first)", kind));
    return RestartPatch(target, object, now);
  }
  bool pause = action == RolloutAction::kPause;
  if (pause && paused) return refuse(fmt::format("{} is already paused", kind));
  if (!pause && !paused) return refuse(fmt::format("{} is not currently paused", kind));
  return PausePatch(target.kind, pause);
}

Status Rollout(const Context& ctx, const GlobalOptions& global, RolloutAction action, const RolloutOptions& options,
               World& world) {
  auto targets = TRY(ParseRolloutTargets(options.resources));
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  TRY(cluster.CheckContract(ctx, AlsoAllowed::kNothing));
  Targets in{cluster.client(), options.ns.empty() ? cluster.ns() : options.ns};
  for (const RolloutTarget& target : targets) {
    kube::Object object = TRY(Get(ctx, in, target));
    TRY(RolloutPatch(action, target, object, ctx.clock->Now()));
  }
  for (const RolloutTarget& target : targets) {
    TRY(Change(ctx, in, action, target));
    world.out << fmt::format("{} {}\n", Describe(target), Done(action));
  }
  return Ok();
}

}  // namespace capi::cli
