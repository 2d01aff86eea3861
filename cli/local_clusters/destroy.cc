#include "cli/local_clusters/destroy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/types.h"
#include "base/strings.h"
#include "cli/frame/confirm.h"
#include "cli/frame/interrupt.h"
#include "cli/local_clusters/wait.h"
#include "cli/local_clusters/watch.h"

namespace capi::cli::local_clusters {
namespace {

constexpr Millis kPause{500};
constexpr Seconds kToTell{30};  // for a report once the time is over
constexpr size_t kMostTold = 30;
constexpr char kClusterLabel[] = "cluster.x-k8s.io/cluster-name";

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// A command's world while it deletes. Thread-compatible.
struct Deleting {
  const Context& ctx;
  ManagementCluster& cluster;
  LiveLines& lines;
};

Result<std::vector<ClusterName>> ChooseClusters(Deleting& in, const DestroyOptions& options, World& world) {
  const std::string ns = options.ns.empty() ? in.cluster.ns() : options.ns;
  std::vector<ClusterName> out;
  for (const std::string& name : options.names) out.push_back({ns, name});
  if (!options.all) return out;
  std::vector<std::string> names;
  kube::ObjectList all = TRY(in.cluster.client().List(in.ctx, ClusterResource(), options.ns));
  for (const kube::Object& one : all.items) {
    out.push_back({one.ns(), one.name()});
    names.push_back(one.ns() + "/" + one.name());
  }
  if (out.empty() || options.yes) return out;
  TRY(Confirm(fmt::format("Delete {} with all machines?", JoinNames(names, 10)), world));
  return out;
}

// Nothing is begun where one can't be.
Status CheckClusters(Deleting& in, const std::vector<ClusterName>& clusters) {
  for (const ClusterName& name : clusters) {
    auto live = in.cluster.client().Get(in.ctx, ClusterResource(), name.ns, name.name);
    if (!live.ok() && live.code() == Code::kNotFound) continue;  // what an earlier run has done
    if (!live.ok()) return live.error();
    if (!GetBool(live->json(), {"spec", "paused"})) continue;
    return Error{
        Code::kFailedPrecondition,
        fmt::format("Cluster {}/{} is paused: nothing of it would be deleted. Set its spec.paused to false first",
                    name.ns, name.name),
        {}};
  }
  return Ok();
}

// Deletes what has that uid still, and waits until it is gone; what is there is drawn meanwhile.
Status DeleteAndWait(Deleting& in, const kube::Resource& resource, const ClusterName& name, const std::string& uid,
                     const Context& bounded) {
  kube::DeleteOptions options;
  options.uid = uid;
  Status deleted = in.cluster.client().Delete(bounded, resource, name.ns, name.name, options);
  if (!deleted.ok() && deleted.code() == Code::kNotFound) return Ok();
  if (!deleted.ok() && !deleted.error().Transient()) return deleted;
  while (true) {
    auto live = in.cluster.client().Get(bounded, resource, name.ns, name.name);
    if (!live.ok() && live.code() == Code::kNotFound) return Ok();
    if (live.ok() && live->uid() != uid) return Ok();  // a new one of its name
    if (!live.ok() && !live.error().Transient() && bounded.Check().ok()) return live.error();
    if (live.ok()) in.lines.Draw({fmt::format("Deleting {}: {}", Describe(*live), HangsBy(*live))});
    if (!bounded.Check().ok() || !in.ctx.clock->Sleep(in.ctx.stop, kPause)) return bounded.Check();
  }
}

// All that a cluster still has, by its label.
std::vector<std::string> WhatHangs(const Context& ctx, ManagementCluster& cluster, const ClusterName& name) {
  std::vector<std::string> out;
  auto own = cluster.client().Get(ctx, ClusterResource(), name.ns, name.name);
  if (own.ok()) out.push_back(fmt::format("{}: {}", Describe(*own), HangsBy(*own)));
  auto all = cluster.client().mapper().All(ctx);
  if (!all.ok()) return out;
  std::set<kube::GroupKind> seen;
  for (const kube::Resource& resource : *all) {
    const bool list = std::find(resource.verbs.begin(), resource.verbs.end(), "list") != resource.verbs.end();
    if (!list || !resource.group.ends_with("cluster.x-k8s.io")) continue;
    if (!seen.insert({resource.group, resource.kind}).second) continue;
    kube::ListOptions options;
    options.label_selector = fmt::format("{}={}", kClusterLabel, name.name);
    auto found = cluster.client().List(ctx, resource, name.ns, options);
    if (!found.ok()) continue;
    for (const kube::Object& object : found->items) {
      if (resource.kind != "Cluster") out.push_back(fmt::format("{}: {}", Describe(object), HangsBy(object)));
    }
  }
  return out;
}

void Tell(const Deleting& in, const ClusterName& name, World& world) {
  in.lines.Draw({});
  std::vector<std::string> hangs = WhatHangs(in.ctx.WithStop({}).WithTimeout(kToTell), in.cluster, name);
  if (hangs.empty()) return;
  world.err << "These are still there:\n";
  for (size_t i = 0; i < std::min(hangs.size(), kMostTold); ++i) world.err << "  " << hangs[i] << "\n";
  if (hangs.size() > kMostTold) world.err << fmt::format("  and {} more\n", hangs.size() - kMostTold);
}

Status DeleteCluster(Deleting& in, const ClusterName& name, Millis timeout, World& world) {
  auto live = in.cluster.client().Get(in.ctx, ClusterResource(), name.ns, name.name);
  if (!live.ok() && live.code() == Code::kNotFound) {
    world.out << fmt::format("Cluster {}/{} isn't there\n", name.ns, name.name);
    return Ok();
  }
  if (!live.ok()) return live.error();
  Status gone = DeleteAndWait(in, ClusterResource(), name, live->uid(), in.ctx.WithTimeout(timeout));
  if (gone.ok()) {
    in.lines.Draw({});
    world.out << fmt::format("Cluster {}/{} is deleted\n", name.ns, name.name);
    return Ok();
  }
  Tell(in, name, world);
  if (gone.code() != Code::kDeadlineExceeded) return gone;
  return Error{Code::kDeadlineExceeded,
               fmt::format("Cluster {}/{} is not gone after {}: look at what hangs, and run the same command again",
                           name.ns, name.name, api::FormatDuration(timeout)),
               {}};
}

// Whoever made it would make another one.
Status CheckStandsAlone(const kube::Object& machine) {
  const Json* owners = Find(machine.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return Ok();
  for (const Json& owner : *owners) {
    if (!GetBool(owner, {"controller"}) || GetString(owner, {"kind"}) == "Cluster") continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} belongs to {} {}, which would make another one: it is no bootstrap machine",
                             Describe(machine), GetString(owner, {"kind"}), GetString(owner, {"name"})),
                 {}};
  }
  return Ok();
}

}  // namespace

std::string HangsBy(const kube::Object& object) {
  if (!object.deleting()) return "not being deleted yet";
  std::vector<std::string> words;
  const Json* finalizers = Find(object.json(), {"metadata", "finalizers"});
  if (finalizers != nullptr && finalizers->is_array()) {
    for (const Json& one : *finalizers) {
      if (one.is_string()) words.push_back(one.get<std::string>());
    }
  }
  std::string out = "finalizers " + (words.empty() ? "none" : Join(words, ", "));
  for (const char* type : {"Deleting", "Ready"}) {
    std::string why = ConditionWords(object, type);
    if (!why.empty()) return fmt::format("{}; {} {}", out, type, why);
  }
  return out;
}

Status Destroy(const Context& parent, const GlobalOptions& global, const DestroyOptions& options, World& world) {
  if (options.names.empty() == !options.all) return Invalid("name the clusters to delete, or all of them with --all");
  Millis timeout = TRY(ParseTimeout(options.timeout));
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  Target target = TRY(TargetOf(options.target, world.getenv));
  ManagementCluster cluster = TRY(OpenTarget(ctx, target.cluster, world));
  LiveLines lines(world.err, world.err_columns);
  Deleting in{ctx, cluster, lines};
  std::vector<ClusterName> clusters = TRY(ChooseClusters(in, options, world));
  TRY(CheckClusters(in, clusters));
  for (const ClusterName& name : clusters) TRY(OrInterrupted(ctx, DeleteCluster(in, name, timeout, world)));
  if (clusters.empty()) world.out << "No Clusters are there\n";
  return Ok();
}

Status DestroyBootstrap(const Context& parent, const GlobalOptions& global, const DestroyBootstrapOptions& options,
                        World& world) {
  if (options.names.size() != 1 || options.names[0].empty()) return Invalid("please specify the name of a cluster");
  Millis timeout = TRY(ParseTimeout(options.timeout));
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  Target target = TRY(TargetOf(options.target, world.getenv));
  ManagementCluster cluster = TRY(OpenTarget(ctx, target.cluster, world));
  LiveLines lines(world.err, world.err_columns);
  Deleting in{ctx, cluster, lines};
  const ClusterName name{options.ns.empty() ? cluster.ns() : options.ns,
                         options.machine.empty() ? options.names[0] + "-bootstrap" : options.machine};
  auto machine = cluster.client().Get(ctx, MachineResource(), name.ns, name.name);
  if (!machine.ok() && machine.code() == Code::kNotFound) {
    world.out << fmt::format("Machine {}/{} isn't there\n", name.ns, name.name);
    return Ok();
  }
  if (!machine.ok()) return machine.error();
  if (GetString(machine->json(), {"spec", "clusterName"}) != options.names[0])
    return Invalid(fmt::format("{} is not of Cluster {}", Describe(*machine), options.names[0]));
  TRY(CheckStandsAlone(*machine));
  Status gone = DeleteAndWait(in, MachineResource(), name, machine->uid(), ctx.WithTimeout(timeout));
  lines.Draw({});
  if (gone.ok()) {
    world.out << fmt::format("Machine {}/{} is deleted\n", name.ns, name.name);
    return Ok();
  }
  auto last = cluster.client().Get(ctx.WithStop({}).WithTimeout(kToTell), MachineResource(), name.ns, name.name);
  const std::string why = last.ok() ? HangsBy(*last) : gone.error().message;
  return OrInterrupted(ctx,
                       Error{gone.code(), fmt::format("Machine {}/{} is not gone: {}", name.ns, name.name, why), {}});
}

}  // namespace capi::cli::local_clusters
