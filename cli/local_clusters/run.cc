#include "cli/local_clusters/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/types.h"
#include "base/strings.h"
#include "cli/frame/printable.h"
#include "cli/local_clusters/hook.h"
#include "cli/local_clusters/hook_objects.h"
#include "cli/local_clusters/parts.h"

namespace capi::cli::local_clusters {
namespace {

constexpr char kFieldManager[] = "clusterctl";
constexpr Millis kAgain = Seconds(1);
// For what is written when a stage has failed, or was interrupted.
constexpr Seconds kAfterwards{20};

std::vector<kube::Object> ObjectsOf(const std::vector<Manifest>& manifests) {
  std::vector<kube::Object> out;
  for (const Manifest& one : manifests) out.push_back(one.object);
  return out;
}

void Append(std::vector<kube::Object>& to, const std::vector<Manifest>& from) {
  for (const Manifest& one : from) to.push_back(one.object);
}

// What an outage holds back, a webhook that doesn't answer yet, is tried again.
template <typename T, typename Call>
Result<T> Patiently(const Context& ctx, Call call) {
  while (true) {
    Result<T> got = call();
    if (got.ok() || !got.error().Transient() || !ctx.Check().ok()) return got;
    if (!ctx.clock->Sleep(ctx.stop, kAgain)) return got;
  }
}

std::int64_t GenerationOf(const kube::Object& object) { return GetInt(object.json(), {"metadata", "generation"}); }

}  // namespace

Run::Run(Plan plan, ManagementCluster& cluster, World& world)
    : plan_(std::move(plan)),
      cluster_(cluster),
      world_(world),
      notes_(world.err),
      lines_(world.err, world.err_columns),
      watch_(cluster.client(), lines_, world.err_columns > 0) {
  for (Manifest& one : plan_.manifests) {
    const bool is_secret = one.object.kind() == "Secret" && one.object.group_version().group.empty();
    const bool namespaced = is_secret || IsCluster(one.object) || MakesMachines(one.object, false);
    if (namespaced && one.object.ns().empty()) one.object.set_ns(cluster.ns());
    if (IsCluster(one.object)) clusters_.push_back({one.object.ns(), one.object.name()});
  }
}

void Run::Split() {
  infrastructure_.clear(), secrets_.clear(), machines_.clear();
  const std::set<std::string> bootstrap = BootstrapSecrets(plan_.manifests);
  auto is_class = [](const Manifest& one) { return IsClusterClass(one.object); };
  const bool has_class = std::any_of(plan_.manifests.begin(), plan_.manifests.end(), is_class);
  for (const Manifest& one : plan_.manifests) {
    if (MakesMachines(one.object, has_class)) {
      machines_.push_back(one);
    } else if (IsBootstrapSecret(one.object, bootstrap)) {
      secrets_.push_back(one);
    } else {
      infrastructure_.push_back(one);
    }
  }
}

std::vector<kube::ObjectId> Run::Watched(bool machines) const {
  std::vector<kube::ObjectId> out;
  for (const auto* part : {&infrastructure_, &machines_}) {
    if (part == &machines_ && !machines) break;
    for (const Manifest& one : *part) {
      const std::string group = one.object.group_version().group;
      if (group.ends_with("cluster.x-k8s.io") && !IsCluster(one.object) && !one.object.ns().empty())
        out.push_back(one.object.id());
    }
  }
  return out;
}

Status Run::Go(const Context& ctx) {
  for (Stage stage : kStages) {
    if (stage == Stage::kInfrastructure) Split();
    const Millis timeout = plan_.timeouts[stage];
    notes_.Say(0, fmt::format("Stage {}", InfoOf(stage).name), {{"timeout", api::FormatDuration(timeout)}});
    Status done = Do(ctx.WithTimeout(timeout), stage);
    lines_.Draw({});
    Context after = ctx.WithStop({}).WithTimeout(kAfterwards);
    Status written = began_ ? WriteBack(after) : Ok();
    // The stage has done its work: the next one writes again.
    if (!written.ok()) notes_.Warn(fmt::format("the manifests were not written back: {}", written.error().message));
    if (!done.ok()) return done.error().With(fmt::format("stage {}", InfoOf(stage).name));
  }
  return Ok();
}

Status Run::Do(const Context& ctx, Stage stage) {
  switch (stage) {
    case Stage::kPreProvision: {
      std::string printed = TRY(CallHook(ctx, stage, ObjectsOf(plan_.manifests)));
      return TakeChanged(printed, plan_.manifests);
    }
    case Stage::kInfrastructure: return DoInfrastructure(ctx);
    case Stage::kIgnition: return DoIgnition(ctx);
    case Stage::kMachines: return DoMachines(ctx);
    case Stage::kInfraReady:
    case Stage::kPostProvision: {
      if (!plan_.hooks.contains(stage)) return Ok();
      std::vector<Manifest> live = TRY(Live(ctx, infrastructure_));
      if (stage == Stage::kPostProvision) {
        for (Manifest& one : TRY(Live(ctx, machines_))) live.push_back(std::move(one));
      }
      std::string printed = TRY(CallHook(ctx, stage, ObjectsOf(live)));
      world_.err << Printable(printed);  // these two change nothing: it is words
      return Ok();
    }
  }
  return Ok();
}

Status Run::SeeFailures(const Context& ctx) {
  watch_.Also(Watched(true));
  for (const ClusterName& name : clusters_) {
    ClusterState state = TRY(Patiently<ClusterState>(ctx, [&] { return watch_.Read(ctx, name); }));
    for (std::string& uid : FailedOf(state)) failed_before_.insert(std::move(uid));
  }
  return Ok();
}

Status Run::Await(const Context& ctx, const Judge& judge, const std::string& what) {
  auto judged = [&](const ClusterState& state) {
    ClusterState with = state;
    if (changed_) with.forgiven = failed_before_;
    return judge(with);
  };
  return watch_.Await(ctx, clusters_, judged, what);
}

// What machines say counts later: what people mend of them is only applied then.
Status Run::DoInfrastructure(const Context& ctx) {
  TRY(SeeFailures(ctx));
  TRY(ApplyAll(ctx, infrastructure_));
  watch_.Also(Watched(false));
  return Await(ctx, JudgeInfrastructure, "infrastructure");
}

Status Run::DoMachines(const Context& ctx) {
  TRY(CheckBootstrap(ctx));
  TRY(ApplyAll(ctx, machines_));
  watch_.Also(Watched(true));
  return Await(ctx, JudgeMachines, "machines");
}

// A machine that is there has begun with its Secret: neither is asked for again.
Status Run::DoIgnition(const Context& ctx) {
  std::set<std::string> open, begun;
  std::vector<kube::Object> machines;
  for (const Manifest& one : machines_) {
    const std::vector<std::string> names = BootstrapSecretsOf(one.object);
    const bool there = !names.empty() && TRY(IsThere(ctx, one.object));
    (there ? begun : open).insert(names.begin(), names.end());
    if (!there) machines.push_back(one.object);
  }
  const bool has_hook = plan_.hooks.contains(Stage::kIgnition);
  if (open.empty()) {
    if (has_hook) notes_.Say(0, "No machine waits for a bootstrap Secret of its own: the hook ignition isn't called");
    return Ok();
  }
  std::vector<Manifest> secrets;
  for (const Manifest& one : secrets_) {
    if (IsBootstrapSecret(one.object, open)) secrets.push_back(one);
  }
  if (has_hook) {
    std::vector<kube::Object> objects = ObjectsOf(secrets);
    Append(objects, TRY(Live(ctx, infrastructure_)));
    objects.insert(objects.end(), machines.begin(), machines.end());
    std::string printed = TRY(CallHook(ctx, Stage::kIgnition, objects));
    TRY(TakeSecrets(printed, open, begun, secrets));
  }
  return ApplyAll(ctx, secrets);
}

Result<std::string> Run::CallHook(const Context& ctx, Stage stage, const std::vector<kube::Object>& objects) {
  auto hook = plan_.hooks.find(stage);
  if (hook == plan_.hooks.end()) return std::string();
  std::vector<std::string> names;
  for (const ClusterName& one : clusters_) names.push_back(one.ns + "/" + one.name);
  HookRun run{hook->second, ToStream(objects), {}, [this](std::string_view text) {
                world_.err << Printable(text) << std::flush;
              }};
  run.environment = {fmt::format("CLUSTERCTL_STAGE={}", InfoOf(stage).name),
                     fmt::format("CLUSTERCTL_CLUSTERS={}", Join(names, " ")),
                     fmt::format("CLUSTERCTL_MANIFESTS={}", plan_.folder)};
  run.environment.push_back("KUBECONFIG=" + plan_.kubeconfig);
  return RunHook(ctx, run);
}

Result<kube::Object> Run::ApplyOne(const Context& ctx, const kube::Object& object) {
  const kube::ObjectId id = object.id();
  auto resource = TRY(cluster_.client().mapper().For(ctx, id.group_kind(), object.group_version().version));
  kube::Object whole = object;
  if (resource.namespaced && whole.ns().empty()) whole.set_ns(cluster_.ns());
  auto before = cluster_.client().Get(ctx, resource, whole.ns(), whole.name(), {.metadata_only = true});
  if (!before.ok() && before.code() != Code::kNotFound) return before.error();
  kube::Object applied =
      TRY(cluster_.client().Apply(ctx, resource, whole, {.field_manager = kFieldManager, .strict = true}));
  if (!before.ok() || GenerationOf(*before) != GenerationOf(applied)) changed_ = true;
  return applied;
}

// In file-name order.
Status Run::ApplyAll(const Context& ctx, std::vector<Manifest>& manifests) {
  for (Manifest& one : manifests) {
    began_ = true;
    const kube::Object applied = TRY_WITH(Patiently<kube::Object>(ctx, [&] { return ApplyOne(ctx, one.object); }),
                                          fmt::format("{}: {}", one.Where(), Describe(one.object)));
    one.object.set_ns(applied.ns());
    if (applied.ns().empty()) Find(one.object.json(), {"metadata"})->erase("namespace");
  }
  return Ok();
}

Result<kube::Object> Run::LiveOf(const Context& ctx, const kube::Object& object) {
  auto resource = TRY(cluster_.client().mapper().For(ctx, object.id().group_kind(), object.group_version().version));
  const std::string ns = resource.namespaced && object.ns().empty() ? cluster_.ns() : object.ns();
  return cluster_.client().Get(ctx, resource, ns, object.name());
}

Result<std::vector<Manifest>> Run::Live(const Context& ctx, const std::vector<Manifest>& manifests) {
  std::vector<Manifest> out;
  for (const Manifest& one : manifests) {
    auto live = Patiently<kube::Object>(ctx, [&] { return LiveOf(ctx, one.object); });
    if (!live.ok() && live.code() == Code::kNotFound) continue;
    if (!live.ok()) return live.error().With(Describe(one.object));
    out.push_back({*std::move(live), one.file, one.line});
  }
  return out;
}

Result<bool> Run::IsThere(const Context& ctx, const kube::Object& object) {
  Manifest one{object, "", 1};
  return !TRY(Live(ctx, {one})).empty();
}

Status Run::WriteBack(const Context& ctx) {
  std::vector<Manifest> all;
  for (const auto* part : {&infrastructure_, &secrets_, &machines_}) {
    for (Manifest& one : TRY(Live(ctx, *part))) all.push_back(std::move(one));
  }
  return WriteApplied(plan_.folder, all, plan_.filled);
}

// A machine without its Secret would wait for it to the end of the time; one that is there has begun with it.
Status Run::CheckBootstrap(const Context& ctx) {
  for (const Manifest& one : machines_) {
    const std::vector<std::string> names = BootstrapSecretsOf(one.object);
    if (names.empty() || TRY(IsThere(ctx, one.object))) continue;
    for (const std::string& name : names) {
      const size_t slash = name.find('/');
      auto secret = Patiently<kube::Object>(ctx, [&] {
        return cluster_.client().Get(ctx, kube::Builtin("Secret"), name.substr(0, slash), name.substr(slash + 1),
                                     {.metadata_only = true});
      });
      if (secret.ok()) continue;
      if (secret.code() != Code::kNotFound) return secret.error();
      return Error{Code::kFailedPrecondition,
                   fmt::format("{}: {} names the bootstrap Secret {}, which is neither in the cluster nor in the "
                               "manifests, and no hook ignition has made it",
                               one.Where(), Describe(one.object), name),
                   {}};
    }
  }
  return Ok();
}

}  // namespace capi::cli::local_clusters
