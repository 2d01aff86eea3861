#include "cli/local_clusters/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/types.h"
#include "base/strings.h"
#include "cli/frame/printable.h"
#include "cli/local_clusters/hooks/hook.h"
#include "cli/local_clusters/hooks/hook_kubeconfig.h"
#include "cli/local_clusters/hooks/hook_objects.h"
#include "cli/local_clusters/parts.h"

namespace capi::cli::local_clusters {
namespace {

constexpr char kFieldManager[] = "clusterctl";
// For what is written when a stage has failed, or was interrupted.
constexpr Seconds kAfterwards{20};
// Of a hook's words that are held back until a line, or the hook, ends.
constexpr size_t kMostHeld = 4u << 20;

std::vector<kube::Object> ObjectsOf(const std::vector<Manifest>& manifests) {
  std::vector<kube::Object> out;
  for (const Manifest& one : manifests) out.push_back(one.object);
  return out;
}

// What is another one once somebody has changed what is wanted. Secrets, ConfigMaps and others have no generation: of
// these every change counts.
std::string VersionOf(const kube::Object& object) {
  const std::int64_t generation = object.generation();
  return generation > 0 ? std::to_string(generation) : "version " + object.resource_version();
}

}  // namespace

Run::Run(Plan plan, ManagementCluster& cluster, World& world)
    : plan_(std::move(plan)),
      hider_(plan_.filled),
      cluster_(cluster),
      world_(world),
      notes_(world.err),
      lines_(world.err, world.err_columns),
      watch_(cluster.client(), lines_, world.err_columns > 0) {
  for (Manifest& one : plan_.manifests) {
    const bool namespaced = IsSecret(one.object) || IsCluster(one.object) || MakesMachines(one.object, false);
    if (namespaced && one.object.ns().empty()) one.object.set_ns(cluster.ns());
    if (IsCluster(one.object)) clusters_.push_back({one.object.ns(), one.object.name()});
  }
  watch_.Without(hider_);
  watch_.OnTrouble([this](const std::string& what, const Error& error) { Waiting(what)(error); });
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
      if (IsOfClusterApi(one.object.group_version().group) && !IsCluster(one.object))
        out.push_back(IdIn(one.object, cluster_.ns()));
    }
  }
  return out;
}

Status Run::CheckTwins() const {
  std::map<kube::ObjectId, std::string> seen;
  for (const Manifest& one : plan_.manifests) {
    const kube::ObjectId id = IdIn(one.object, cluster_.ns());
    auto [first, added] = seen.emplace(id, one.Where());
    if (added) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: {} is in {}, too (what names no namespace is of {})", one.Where(), id.ToString(),
                             first->second, cluster_.ns()),
                 {}};
  }
  return Ok();
}

Error Run::Hidden(Error error) const {
  error.message = hider_.WithoutValues(std::move(error.message));
  return error;
}

Say Run::Waiting(const std::string& what) {
  return [this, what](const Error& error) {
    lines_.Draw({});
    notes_.Say(0, fmt::format("Waiting: {}: {}", what, Hidden(error).message));
  };
}

Status Run::Go(const Context& ctx) {
  TRY(CheckTwins());
  for (Stage stage : kStages) {
    if (stage == Stage::kInfrastructure) Split();
    const Millis timeout = plan_.timeouts[stage];
    notes_.Say(0, fmt::format("Stage {}", InfoOf(stage).name), {{"timeout", api::FormatDuration(timeout)}});
    Status done = Do(ctx.WithTimeout(timeout), stage);
    lines_.Draw({});
    Context after = ctx.WithStop({}).WithTimeout(kAfterwards);
    Status written = began_ ? WriteBack(after) : Ok();
    // The stage has done its work: the next one writes again.
    if (!written.ok())
      notes_.Warn(fmt::format("the manifests were not written back: {}", Hidden(written.error()).message));
    if (!done.ok()) return Hidden(done.error()).With(fmt::format("stage {}", InfoOf(stage).name));
  }
  return Ok();
}

Status Run::Do(const Context& ctx, Stage stage) {
  switch (stage) {
    case Stage::kPreProvision: {
      std::string printed = TRY(CallHook(ctx, stage, ObjectsOf(plan_.manifests)));
      return TakeChanged(printed, cluster_.ns(), plan_.manifests);
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
      TellWords(printed);  // these two change nothing
      return Ok();
    }
  }
  return Ok();
}

bool Run::Resumes(const kube::Object& live) const {
  kube::Object resumed = live;
  for (const Manifest& one : plan_.manifests) {
    if (!IsCluster(one.object) || one.object.ns() != live.ns() || one.object.name() != live.name()) continue;
    const Json* paused = Find(one.object.json(), {"spec", "paused"});
    if (paused != nullptr && *paused == false) Ensure(resumed.json(), {"spec", "paused"}) = false;
  }
  return !IsPaused(resumed);
}

void Run::TellWords(std::string_view words) {
  world_.err << Printable(hider_.WithoutLines(std::string(words))) << std::flush;
}

// Objects that are applied beside a Cluster that goes may stay without an owner, and a hook would work for nobody.
Status Run::CheckGoing(const Context& ctx, bool made) {
  for (const ClusterName& name : clusters_) {
    const std::string what = fmt::format("Cluster {}/{}", name.ns, name.name);
    ClusterState state{name.ns, name.name, {}, {}, {}};
    auto live = Patiently<kube::Object>(ctx, Waiting(what), [&](const Context& one) {
      return cluster_.client().Get(one, ClusterResource(), name.ns, name.name);
    });
    state.cluster = TRY_WITH(IfThere(std::move(live)), what);
    if (changed_) state.forgiven = failed_before_;
    std::string why;
    if (made) why = state.cluster ? TerminalOf(state, false) : what + " isn't there";
    if (!made && state.cluster && !Resumes(*state.cluster))
      why = what +
            " is paused, by a move that isn't finished perhaps: nothing was applied. Resume it first, or write "
            "spec.paused: false into its manifest; an annotation cluster.x-k8s.io/paused has to be removed";
    if (!made && state.cluster && state.cluster->deleting()) why = what + " is being deleted";
    if (!why.empty()) return Error{Code::kFailedPrecondition, why, {}};
  }
  return Ok();
}

Status Run::SeeFailures(const Context& ctx) {
  watch_.Also(Watched(true));
  for (const ClusterName& name : clusters_) {
    // Of many requests: each has its own time.
    const Say say = Waiting(fmt::format("Cluster {}/{}", name.ns, name.name));
    ClusterState state = TRY(Patiently<ClusterState>(ctx, say, [&](const Context&) { return watch_.Read(ctx, name); }));
    for (std::string& uid : FailedOf(state)) failed_before_.insert(std::move(uid));
  }
  return Ok();
}

Status Run::Await(const Context& ctx, const Judge& judge, const std::string& what) {
  if (changed_) watch_.Forgive(failed_before_);
  return watch_.Await(ctx, clusters_, judge, what);
}

// What machines say counts later: what people mend of them is only applied then.
Status Run::DoInfrastructure(const Context& ctx) {
  TRY(CheckGoing(ctx, false));
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

// A Machine that is there has begun with its Secret: neither is asked for again.
Status Run::DoIgnition(const Context& ctx) {
  std::set<std::string> open, begun;
  std::vector<kube::Object> machines;
  for (const Manifest& one : machines_) {
    const std::vector<std::string> names = BootstrapSecretsOf(one.object);
    const bool has_begun = !names.empty() && TRY(HasBegun(ctx, one.object));
    (has_begun ? begun : open).insert(names.begin(), names.end());
    if (!has_begun) machines.push_back(one.object);
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
    for (const Manifest& one : TRY(Live(ctx, infrastructure_))) objects.push_back(one.object);
    objects.insert(objects.end(), machines.begin(), machines.end());
    std::string printed = TRY(CallHook(ctx, Stage::kIgnition, objects));
    const std::set<kube::ObjectId> taken = TRY(TakeSecrets(printed, open, begun, secrets));
    TRY(LeaveThoseThatAreThere(ctx, taken, secrets));
  }
  return ApplyAll(ctx, secrets);
}

// A hook that finds its work of an earlier run done prints nothing, and the manifest's would take the place of that.
Status Run::LeaveThoseThatAreThere(const Context& ctx, const std::set<kube::ObjectId>& taken,
                                   std::vector<Manifest>& secrets) {
  std::vector<Manifest> left;
  for (Manifest& one : secrets) {
    const bool is_there = !taken.contains(one.object.id()) && !TRY(Live(ctx, {one})).empty();
    if (is_there)
      notes_.Say(0, Describe(one.object) + " stays as the cluster has it: the hook ignition has printed none");
    if (!is_there) left.push_back(std::move(one));
  }
  secrets = std::move(left);
  return Ok();
}

Result<std::string> Run::CallHook(const Context& ctx, Stage stage, const std::vector<kube::Object>& objects) {
  auto hook = plan_.hooks.find(stage);
  if (hook == plan_.hooks.end()) return std::string();
  TRY(CheckGoing(ctx, began_));
  std::vector<std::string> names;
  for (const ClusterName& one : clusters_) names.push_back(one.ns + "/" + one.name);
  // Whole lines: a value may come in two pieces. Of one of many lines short lines are known in the whole alone.
  const bool at_once = std::none_of(plan_.filled.begin(), plan_.filled.end(),
                                    [](const auto& one) { return one.second.find('\n') != std::string::npos; });
  std::string words;
  auto hear = [&](std::string_view text) {
    words += text;
    const size_t lines = words.rfind('\n') + 1;  // npos + 1 is 0
    const bool too_many = words.size() > kMostHeld;
    const size_t now = too_many && lines == 0 ? words.size() : at_once || too_many ? lines : 0;
    if (now > 0) TellWords(std::string_view(words).substr(0, now));
    words.erase(0, now);
  };
  HookRun run{hook->second, ToStream(objects), {}, hear};
  run.environment = {fmt::format("CLUSTERCTL_STAGE={}", InfoOf(stage).name),
                     fmt::format("CLUSTERCTL_CLUSTERS={}", Join(names, " ")),
                     fmt::format("CLUSTERCTL_MANIFESTS={}", plan_.folder)};
  const HookKubeconfig kubeconfig = TRY(HookKubeconfig::Of(plan_.kubeconfig, plan_.is_planes));
  run.environment.push_back("KUBECONFIG=" + kubeconfig.path());
  auto printed = RunHook(ctx, run);
  if (!words.empty()) TellWords(words);
  return printed;
}

Result<kube::Object> Run::ApplyOne(const Context& ctx, const kube::Object& object) {
  const kube::ObjectId id = object.id();
  auto resource = TRY(cluster_.client().mapper().For(ctx, id.group_kind(), object.group_version().version));
  kube::Object whole = object;
  if (resource.namespaced && whole.ns().empty()) whole.set_ns(cluster_.ns());
  return cluster_.client().Apply(ctx, resource, whole, {.field_manager = kFieldManager, .strict = true});
}

// In file-name order.
Status Run::ApplyAll(const Context& ctx, std::vector<Manifest>& manifests) {
  for (Manifest& one : manifests) {
    began_ = true;
    const std::string what = fmt::format("{}: {}", one.Where(), Describe(one.object));
    // Once: after an answer to the write that was lost it would be what was just written.
    auto before = TRY_WITH(LiveOf(ctx, one.object, what), what);
    auto written =
        Patiently<kube::Object>(ctx, Waiting(what), [&](const Context& call) { return ApplyOne(call, one.object); });
    const kube::Object applied = TRY_WITH(written, what);
    if (!before || VersionOf(*before) != VersionOf(applied)) changed_ = true;
    one.object.set_ns(applied.ns());
    if (applied.ns().empty()) Find(one.object.json(), {"metadata"})->erase("namespace");
  }
  return Ok();
}

Result<std::optional<kube::Object>> Run::LiveOf(const Context& ctx, const kube::Object& object,
                                                const std::string& what) {
  auto get = [&](const Context& call) -> Result<kube::Object> {
    auto resource = TRY(cluster_.client().mapper().For(call, object.id().group_kind(), object.group_version().version));
    const std::string ns = resource.namespaced && object.ns().empty() ? cluster_.ns() : object.ns();
    return cluster_.client().Get(call, resource, ns, object.name());
  };
  return IfThere(Patiently<kube::Object>(ctx, Waiting(what), get));
}

Result<std::vector<Manifest>> Run::Live(const Context& ctx, const std::vector<Manifest>& manifests) {
  std::vector<Manifest> out;
  for (const Manifest& one : manifests) {
    const std::string what = Describe(one.object);
    auto live = TRY_WITH(LiveOf(ctx, one.object, what), what);
    if (live) out.push_back({*std::move(live), one.file, one.line});
  }
  return out;
}

Result<bool> Run::HasBegun(const Context& ctx, const kube::Object& object) {
  if (object.kind() != "Machine") return false;
  const std::string what = Describe(object);
  auto live = TRY_WITH(LiveOf(ctx, object, what), what);
  return live.has_value();
}

Status Run::WriteBack(const Context& ctx) {
  std::vector<Manifest> all;
  for (const auto* part : {&infrastructure_, &secrets_, &machines_}) {
    for (Manifest& one : TRY(Live(ctx, *part))) all.push_back(std::move(one));
  }
  // What a hook has made, in an earlier run perhaps.
  for (const std::string& name : BootstrapSecrets(plan_.manifests)) {
    auto same = [&](const Manifest& one) { return IsBootstrapSecret(one.object, {name}); };
    if (std::any_of(secrets_.begin(), secrets_.end(), same)) continue;
    const size_t slash = name.find('/');
    const kube::Object secret(
        Json{{"apiVersion", "v1"},
             {"kind", "Secret"},
             {"metadata", {{"namespace", name.substr(0, slash)}, {"name", name.substr(slash + 1)}}}});
    const Manifest made{secret, FileOfSecret(secret.name())};
    for (Manifest& one : TRY(Live(ctx, {made}))) all.push_back(std::move(one));
  }
  return WriteApplied(plan_.folder, all, hider_);
}

// A machine without its Secret would wait for it to the end of the time; a Machine that is there has begun with it.
Status Run::CheckBootstrap(const Context& ctx) {
  for (const Manifest& one : machines_) {
    const std::vector<std::string> names = BootstrapSecretsOf(one.object);
    if (names.empty() || TRY(HasBegun(ctx, one.object))) continue;
    for (const std::string& name : names) {
      const size_t slash = name.find('/');
      auto secret = Patiently<kube::Object>(ctx, Waiting("Secret " + name), [&](const Context& call) {
        return cluster_.client().Get(call, kube::Builtin("Secret"), name.substr(0, slash), name.substr(slash + 1),
                                     {.metadata_only = true});
      });
      if (TRY(IfThere(std::move(secret)))) continue;
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
