#include "cli/local_clusters/destroy.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "api/types.h"
#include "base/strings.h"
#include "cli/frame/confirm.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/printable.h"
#include "cli/local/durations.h"
#include "cli/local_clusters/patience.h"
#include "cli/local_clusters/stages.h"
#include "cli/local_clusters/watch.h"

namespace capi::cli::local_clusters {
namespace {

constexpr Seconds kToTell{30};  // for all reports together, once the time is over
constexpr Seconds kOneKind{5};  // of these: one that hangs leaves some for the others
constexpr size_t kMostTold = 30;

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

// nullopt where it isn't there.
Result<std::optional<kube::Object>> Peek(Deleting& in, const kube::Resource& resource, const ClusterName& name) {
  return IfThere(in.cluster.client().Get(in.ctx, resource, name.ns, name.name));
}

// What is to be deleted, and how far that is. A value.
struct Victim {
  ClusterName name;
  std::string uid;
  std::string cluster = {};        // of a Machine: the Cluster that a move would pause
  std::optional<Status> end = {};  // gone, or what no wait mends
  std::string trouble = {};        // why the last look failed, "" where it didn't
};

// Deletes what has that uid still, where that isn't begun yet: an answer that was lost is asked for again.
Status Begin(Deleting& in, const kube::Resource& resource, const Victim& victim, const kube::Object& live,
             const Context& bounded) {
  if (live.deleting()) return Ok();
  // Somebody moves it since the first look, perhaps.
  TRY(CheckNotPaused(live));
  if (!victim.cluster.empty()) {
    const auto owner =
        TRY(IfThere(in.cluster.client().Get(OneCall(bounded), ClusterResource(), victim.name.ns, victim.cluster)));
    if (owner) TRY(CheckNotPaused(*owner));
  }
  if (victim.uid.empty()) return Invalid(fmt::format("{} {} has no uid", resource.kind, victim.name.name));
  kube::DeleteOptions options;
  options.uid = victim.uid;
  Status begun = in.cluster.client().Delete(OneCall(bounded), resource, victim.name.ns, victim.name.name, options);
  // Gone since that look, or another one by now: the next look says which.
  const bool raced = !begun.ok() && (begun.code() == Code::kNotFound || begun.code() == Code::kConflict);
  return raced ? Ok() : begun;
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
  const bool gone = live.ok() ? live->uid() != victim.uid : live.code() == Code::kNotFound;
  if (gone) {  // or a new one of its name is there
    victim.end = Ok();
    return;
  }
  Status done = live.ok() ? Begin(in, resource, victim, *live, bounded) : Status(live.error());
  if (!done.ok() && !bounded.Check().ok()) return;
  if (!done.ok() && !done.error().Transient()) {
    victim.end = done;
    return;
  }
  const std::string what = fmt::format("{} {}/{}", resource.kind, victim.name.ns, victim.name.name);
  SayTrouble(in, what, victim, done.ok() ? "" : done.error().message);
  line = done.ok() ? fmt::format("Deleting {}: {}", what, HangsBy(*live)) : fmt::format("{}: {}", what, victim.trouble);
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
      if (!line.empty() && lines.size() < kMostLines) lines.push_back(std::move(line));
    }
    if (all || !bounded.Check().ok()) return;
    if (!lines.empty()) in.lines.Draw(lines);
    if (!in.ctx.clock->Sleep(in.ctx.stop, kPause)) return;
  }
}

// What a cluster still has, in words. A value.
struct Left {
  std::vector<std::string> objects;
  std::vector<std::string> unread;  // kinds whose objects can't be told, and why
};

// By its label. What hangs is a provider whose manager is away most often, with the webhook that converts its objects.
Left WhatHangs(const Context& ctx, ManagementCluster& cluster, const ClusterName& name) {
  Left out;
  auto miss = [&](const std::string& what, const Error& error) { out.unread.push_back(what + ": " + error.message); };
  auto own = cluster.client().Get(ctx.WithTimeout(kOneKind), ClusterResource(), name.ns, name.name);
  if (own.ok()) out.objects.push_back(fmt::format("{}: {}", Describe(*own), HangsBy(*own)));
  if (!own.ok() && own.code() != Code::kNotFound) miss("Cluster", own.error());
  auto kinds = KindsOfClusterApi(ctx, cluster.client());
  if (!kinds.ok()) miss("all else", kinds.error());
  if (!kinds.ok()) return out;
  kube::ListOptions options;
  options.label_selector = ByCluster(name.name);
  for (const kube::Resource& kind : *kinds) {
    if (kind.group == ClusterResource().group && kind.kind == ClusterResource().kind) continue;
    auto found = cluster.client().List(ctx.WithTimeout(kOneKind), kind, name.ns, options);
    if (!found.ok()) miss(kube::GroupKind{kind.group, kind.kind}.ToString(), found.error());
    if (!found.ok()) continue;
    for (const kube::Object& object : found->items)
      out.objects.push_back(fmt::format("{}: {}", Describe(object), HangsBy(object)));
  }
  return out;
}

void TellSome(const std::vector<std::string>& lines, const std::string& title, World& world) {
  if (lines.empty()) return;
  world.err << title << "\n";
  for (size_t i = 0; i < std::min(lines.size(), kMostTold); ++i) world.err << "  " << PrintableLine(lines[i]) << "\n";
  if (lines.size() > kMostTold) world.err << fmt::format("  and {} more\n", lines.size() - kMostTold);
}

void Tell(const Context& to_tell, const Deleting& in, const ClusterName& name, World& world) {
  in.lines.Draw({});
  const Left left = WhatHangs(to_tell, in.cluster, name);
  TellSome(left.objects, fmt::format("Of Cluster {}/{} these are still there:", name.ns, name.name), world);
  TellSome(left.unread, fmt::format("Of Cluster {}/{} these can't be told:", name.ns, name.name), world);
}

// Those that are there, as they were judged: nothing is begun where one can't be. `guessed`: nobody has named their
// namespace.
Result<std::vector<Victim>> FindVictims(Deleting& in, const std::vector<ClusterName>& clusters, bool guessed,
                                        World& world) {
  std::vector<Victim> out;
  std::vector<ClusterName> gone;
  for (const ClusterName& name : clusters) {
    auto live = TRY(Peek(in, ClusterResource(), name));
    if (live) {
      TRY(CheckNotPaused(*live));
      out.push_back({name, live->uid()});
    } else {
      if (guessed) TRY(CheckNotElsewhere(in, name));
      gone.push_back(name);
    }
  }
  for (const ClusterName& name : gone) world.out << fmt::format("Cluster {}/{} isn't there\n", name.ns, name.name);
  return out;
}

// One that hangs keeps no other from its end: all are begun, and all that are left are told.
Status DeleteClusters(Deleting& in, const std::vector<ClusterName>& clusters, bool guessed, Millis timeout,
                      World& world) {
  std::vector<Victim> victims = TRY(FindVictims(in, clusters, guessed, world));
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
  Millis timeout = TRY(PositiveDuration("--timeout " + options.timeout, options.timeout));
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
  const bool guessed = options.ns.empty() && !options.all;
  TRY(OrInterrupted(ctx, DeleteClusters(in, clusters, guessed, timeout, world)));
  if (clusters.empty()) world.out << "No Clusters are there\n";
  return Ok();
}

Status DestroyBootstrap(const Context& parent, const GlobalOptions& global, const DestroyBootstrapOptions& options,
                        World& world) {
  if (options.names.size() != 1 || options.names[0].empty()) return Invalid("please specify the name of a cluster");
  Millis timeout = TRY(PositiveDuration("--timeout " + options.timeout, options.timeout));
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
  const ClusterName of{name.ns, options.names[0]};
  auto machine = TRY(Peek(in, MachineResource(), name));
  auto owner = TRY(Peek(in, ClusterResource(), of));
  if (!machine) {
    if (!owner && options.ns.empty()) TRY(CheckNotElsewhere(in, of));
    world.out << fmt::format("Machine {}/{} isn't there\n", name.ns, name.name);
    return Ok();
  }
  if (GetString(machine->json(), {"spec", "clusterName"}) != of.name)
    return Invalid(fmt::format("{} is not of Cluster {}", Describe(*machine), of.name));
  TRY(CheckStandsAlone(*machine));
  TRY(CheckNotPaused(*machine));
  if (owner) TRY(CheckNotPaused(*owner));
  std::vector<Victim> victims = {{name, machine->uid(), of.name}};
  DeleteAndWait(in, MachineResource(), victims, ctx.WithTimeout(timeout), [&](const ClusterName& gone) {
    world.out << fmt::format("Machine {}/{} is deleted\n", gone.ns, gone.name);
  });
  lines.Draw({});
  const std::optional<Status>& end = victims[0].end;
  if (end && end->ok()) return Ok();
  const Error error = end ? end->error() : Error{Code::kDeadlineExceeded, "its time is over", {}};
  const std::string& trouble = victims[0].trouble;
  std::string why = end || trouble.empty() ? error.message : trouble;
  if (!end) {
    auto last = cluster.client().Get(ctx.WithStop({}).WithTimeout(kToTell), MachineResource(), name.ns, name.name);
    if (last.ok()) why = HangsBy(*last) + (trouble.empty() ? "" : fmt::format(" ({})", trouble));
  }
  return OrInterrupted(ctx,
                       Error{error.code, fmt::format("Machine {}/{} is not gone: {}", name.ns, name.name, why), {}});
}

}  // namespace capi::cli::local_clusters
