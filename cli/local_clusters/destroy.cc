#include "cli/local_clusters/destroy.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "api/types.h"
#include "base/strings.h"
#include "cli/frame/confirm.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/printable.h"
#include "cli/local_clusters/patience.h"
#include "cli/local_clusters/wait.h"
#include "cli/local_clusters/watch.h"

namespace capi::cli::local_clusters {
namespace {

constexpr Millis kPause{500};
constexpr Seconds kToTell{30};  // for all reports together, once the time is over
constexpr size_t kMostTold = 30;
constexpr size_t kMostDrawn = 20;  // more push what was said before out of the terminal
constexpr char kClusterLabel[] = "cluster.x-k8s.io/cluster-name";

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// A command's world while it deletes. Thread-compatible.
struct Deleting {
  const Context& ctx;
  ManagementCluster& cluster;
  LiveLines& lines;
  Notes& notes;
};

// Asks where it has to. `ctx` is one that Ctrl-C ends as ever: nobody looks at a stop while a question stands.
Result<std::vector<ClusterName>> ChooseClusters(const Context& ctx, ManagementCluster& cluster,
                                                const DestroyOptions& options, World& world) {
  const std::string ns = options.ns.empty() ? cluster.ns() : options.ns;
  std::vector<ClusterName> out;
  for (const std::string& name : options.names) out.push_back({ns, name});
  if (!options.all) return out;
  std::vector<std::string> names;
  kube::ObjectList all = TRY(cluster.client().List(ctx, ClusterResource(), options.ns));
  for (const kube::Object& one : all.items) {
    out.push_back({one.ns(), one.name()});
    names.push_back(one.ns() + "/" + one.name());
  }
  if (out.empty() || options.yes) return out;
  TRY(Confirm(fmt::format("Delete {} with all machines?", JoinNames(names, 10)), world));
  return out;
}

// What an earlier run has deleted is no error. A name that is in other namespaces alone was meant for one of them: the
// plane that has it may be taken away next. Who may not list them all isn't told.
Status CheckNotElsewhere(Deleting& in, const ClusterName& name) {
  auto all = in.cluster.client().List(in.ctx, ClusterResource(), "", {.metadata_only = true});
  if (!all.ok()) return Ok();
  std::vector<std::string> elsewhere;
  for (const kube::Object& one : all->items) {
    if (one.name() == name.name && one.ns() != name.ns) elsewhere.push_back(one.ns());
  }
  if (elsewhere.empty()) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("Cluster {}/{} isn't there, but one of that name is in namespace {}: name the namespace "
                           "with -n; nothing was deleted",
                           name.ns, name.name, JoinNames(elsewhere, 5)),
               {}};
}

Status CheckNotPaused(const kube::Object& object) {
  if (!IsPaused(object)) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is paused: nothing of it would be deleted. Set its spec.paused to false, "
                           "and remove the annotation cluster.x-k8s.io/paused, first",
                           Describe(object)),
               {}};
}

// Nothing is begun where one can't be. `guessed`: nobody has named their namespace. `held`: a pause keeps it.
Status CheckClusters(Deleting& in, const std::vector<ClusterName>& clusters, bool guessed, bool held = true) {
  for (const ClusterName& name : clusters) {
    auto live = in.cluster.client().Get(in.ctx, ClusterResource(), name.ns, name.name);
    if (!live.ok() && live.code() != Code::kNotFound) return live.error();
    if (live.ok() && held) TRY(CheckNotPaused(*live));
    if (!live.ok() && guessed) TRY(CheckNotElsewhere(in, name));
  }
  return Ok();
}

// What is to be deleted, and how far that is. A value.
struct Victim {
  ClusterName name;
  std::string uid;
  std::optional<Status> end = {};  // gone, or what no wait mends
  std::string trouble = {};        // why the last look failed, "" where it didn't
};

// Deletes what has that uid still, where that isn't begun yet: an answer that was lost is asked for again.
Status DeleteOnce(Deleting& in, const kube::Resource& resource, const Victim& victim, const Context& bounded) {
  if (victim.uid.empty()) return Invalid(fmt::format("{} {} has no uid", resource.kind, victim.name.name));
  kube::DeleteOptions options;
  options.uid = victim.uid;
  Status deleted = in.cluster.client().Delete(OneCall(bounded), resource, victim.name.ns, victim.name.name, options);
  return deleted.ok() || deleted.error().Transient() || !bounded.Check().ok() ? Ok() : deleted;
}

// Without a terminal nothing else is seen of an outage.
void SayTrouble(Deleting& in, const std::string& what, Victim& victim, const std::string& why) {
  if (!why.empty() && why != victim.trouble) {
    in.lines.Draw({});
    in.notes.Say(0, fmt::format("Waiting: {}: {}", what, why));
  }
  victim.trouble = why;
}

// One look. `line` gets how it is.
void Look(Deleting& in, const kube::Resource& resource, Victim& victim, const Context& bounded, std::string& line) {
  auto live = in.cluster.client().Get(OneCall(bounded), resource, victim.name.ns, victim.name.name);
  if (!live.ok()) {
    if (live.code() == Code::kNotFound) victim.end = Ok();
    if (!victim.end && !live.error().Transient() && bounded.Check().ok()) victim.end = live.error();
    if (victim.end || !bounded.Check().ok()) return;
    const std::string what = fmt::format("{} {}/{}", resource.kind, victim.name.ns, victim.name.name);
    SayTrouble(in, what, victim, live.error().message);
    line = fmt::format("{}: {}", what, victim.trouble);
    return;
  }
  victim.trouble.clear();
  if (live->uid() != victim.uid) {  // a new one of its name
    victim.end = Ok();
    return;
  }
  if (!live->deleting()) {
    Status again = DeleteOnce(in, resource, victim, bounded);
    // Gone since that look, or another one by now: the next look says which.
    const bool raced = !again.ok() && (again.code() == Code::kNotFound || again.code() == Code::kConflict);
    if (!again.ok() && !raced) victim.end = again;
  }
  line = fmt::format("Deleting {}: {}", Describe(*live), HangsBy(*live));
}

// Begins with all of them at once, then waits until each is gone; what is there is drawn meanwhile. `gone` hears of
// each as it goes. What isn't gone at the end of the time has no `end`, or an error.
void DeleteAndWait(Deleting& in, const kube::Resource& resource, std::vector<Victim>& victims, const Context& bounded,
                   const std::function<void(const ClusterName&)>& gone) {
  while (true) {
    bool all = true;
    std::vector<std::string> lines;
    for (Victim& victim : victims) {
      if (victim.end) continue;
      std::string line;
      Look(in, resource, victim, bounded, line);
      if (victim.end && victim.end->ok()) {
        in.lines.Draw({});
        gone(victim.name);
      }
      all = all && victim.end.has_value();
      if (!line.empty() && lines.size() < kMostDrawn) lines.push_back(std::move(line));
    }
    if (all || !bounded.Check().ok()) return;
    if (!lines.empty()) in.lines.Draw(lines);
    if (!in.ctx.clock->Sleep(in.ctx.stop, kPause)) return;
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

void Tell(const Context& to_tell, const Deleting& in, const ClusterName& name, World& world) {
  in.lines.Draw({});
  std::vector<std::string> hangs = WhatHangs(to_tell, in.cluster, name);
  if (hangs.empty()) return;
  world.err << fmt::format("Of Cluster {}/{} these are still there:\n", name.ns, name.name);
  for (size_t i = 0; i < std::min(hangs.size(), kMostTold); ++i) world.err << "  " << PrintableLine(hangs[i]) << "\n";
  if (hangs.size() > kMostTold) world.err << fmt::format("  and {} more\n", hangs.size() - kMostTold);
}

// Those that are there, with their uids.
Result<std::vector<Victim>> FindVictims(Deleting& in, const std::vector<ClusterName>& clusters, World& world) {
  std::vector<Victim> out;
  for (const ClusterName& name : clusters) {
    auto live = in.cluster.client().Get(in.ctx, ClusterResource(), name.ns, name.name);
    if (!live.ok() && live.code() == Code::kNotFound) {
      world.out << fmt::format("Cluster {}/{} isn't there\n", name.ns, name.name);
      continue;
    }
    if (!live.ok()) return live.error();
    out.push_back({name, live->uid()});
  }
  return out;
}

// One that hangs keeps no other from its end: all are begun, and all that are left are told.
Status DeleteClusters(Deleting& in, const std::vector<ClusterName>& clusters, Millis timeout, World& world) {
  std::vector<Victim> victims = TRY(FindVictims(in, clusters, world));
  DeleteAndWait(in, ClusterResource(), victims, in.ctx.WithTimeout(timeout), [&](const ClusterName& name) {
    world.out << fmt::format("Cluster {}/{} is deleted\n", name.ns, name.name);
  });
  std::vector<std::string> late, failed;
  Code code = Code::kDeadlineExceeded;
  const Context to_tell = in.ctx.WithStop({}).WithTimeout(kToTell);
  for (const Victim& victim : victims) {
    if (victim.end && victim.end->ok()) continue;
    Tell(to_tell, in, victim.name, world);
    const std::string name = fmt::format("{}/{}", victim.name.ns, victim.name.name);
    if (!victim.end) {
      late.push_back(victim.trouble.empty() ? name : fmt::format("{} ({})", name, victim.trouble));
    } else {
      code = victim.end->code();
      failed.push_back(fmt::format("Cluster {}: {}", name, victim.end->error().message));
    }
  }
  if (late.empty() && failed.empty()) return Ok();
  TRY(in.ctx.Check());
  if (!late.empty())
    failed.push_back(fmt::format("Cluster {} {} not gone after {}: look at what hangs, and run the same command again",
                                 JoinNames(late, 10), late.size() == 1 ? "is" : "are", api::FormatDuration(timeout)));
  return Error{code, Join(failed, "; "), {}};
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
  // A shell's variable that isn't set.
  for (const std::string& name : options.names) {
    if (name.empty()) return Invalid("the name of a cluster is empty");
  }
  if (options.yes && !options.all) return Invalid("--yes goes with --all alone: who names clusters isn't asked");
  Millis timeout = TRY(ParseTimeout(options.timeout));
  Notes notes(world.err);
  // Nothing of it is needed; one that was asked for has to be right.
  TRY(LoadConfig(parent, global, world.getenv, notes));
  Target target = TRY(TargetOf(options.target, world.getenv));
  // Once: while a question stands, the file may become another cluster's.
  ManagementCluster cluster = TRY(OpenTarget(parent, target.cluster, world));
  std::vector<ClusterName> clusters = TRY(ChooseClusters(parent, cluster, options, world));
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  LiveLines lines(world.err, world.err_columns);
  Deleting in{ctx, cluster, lines, notes};
  TRY(OrInterrupted(ctx, CheckClusters(in, clusters, options.ns.empty() && !options.all)));
  TRY(OrInterrupted(ctx, DeleteClusters(in, clusters, timeout, world)));
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
  Deleting in{ctx, cluster, lines, notes};
  const ClusterName name{options.ns.empty() ? cluster.ns() : options.ns,
                         options.machine.empty() ? options.names[0] + "-bootstrap" : options.machine};
  auto machine = cluster.client().Get(ctx, MachineResource(), name.ns, name.name);
  if (!machine.ok() && machine.code() == Code::kNotFound) {
    TRY(CheckClusters(in, {{name.ns, options.names[0]}}, options.ns.empty(), false));
    world.out << fmt::format("Machine {}/{} isn't there\n", name.ns, name.name);
    return Ok();
  }
  if (!machine.ok()) return machine.error();
  if (GetString(machine->json(), {"spec", "clusterName"}) != options.names[0])
    return Invalid(fmt::format("{} is not of Cluster {}", Describe(*machine), options.names[0]));
  TRY(CheckStandsAlone(*machine));
  TRY(CheckNotPaused(*machine));
  TRY(CheckClusters(in, {{name.ns, options.names[0]}}, false));
  std::vector<Victim> victims = {{name, machine->uid(), {}, ""}};
  DeleteAndWait(in, MachineResource(), victims, ctx.WithTimeout(timeout), [&](const ClusterName& gone) {
    world.out << fmt::format("Machine {}/{} is deleted\n", gone.ns, gone.name);
  });
  lines.Draw({});
  const std::optional<Status>& end = victims[0].end;
  if (end && end->ok()) return Ok();
  const Error error = end ? end->error() : Error{Code::kDeadlineExceeded, "its time is over", {}};
  auto last = cluster.client().Get(ctx.WithStop({}).WithTimeout(kToTell), MachineResource(), name.ns, name.name);
  const std::string why = last.ok() ? HangsBy(*last) : victims[0].trouble.empty() ? error.message : victims[0].trouble;
  return OrInterrupted(ctx,
                       Error{error.code, fmt::format("Machine {}/{} is not gone: {}", name.ns, name.name, why), {}});
}

}  // namespace capi::cli::local_clusters
