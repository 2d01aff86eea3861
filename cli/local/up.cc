#include "cli/local/up.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "api/schema/crds.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/frame/config.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/live_lines.h"
#include "cli/frame/management_cluster.h"
#include "cli/local/durations.h"
#include "cli/local/operator_program.h"
#include "cli/local/place.h"
#include "cli/local/plane_watch.h"
#include "cli/local/providers.h"
#include "cli/local/start.h"
#include "local/plane/authority.h"
#include "local/plane/kubeconfig.h"
#include "local/plane/plane_lock.h"
#include "local/plane/programs.h"
#include "local/plane/settings.h"
#include "local/plane/state.h"
#include "local/programs/executable.h"
#include "local/programs/programs.h"

namespace capi::cli {
namespace {

// One that another `up` starts anew is away for less, as PlaneWatch has it.
constexpr Seconds kAway{3};
constexpr Seconds kAnswerLimit{3};  // of what `up` can do without

std::string TypeNames() {
  std::vector<std::string> names;
  for (const api::ProviderKind& kind : api::kProviderKinds) names.emplace_back(kind.type_name);
  return Join(names, ", ");
}

// "runtime-extension" is "runtimeextension", and "controlplane" "control-plane".
std::string WithoutDashes(std::string_view text) { return ReplaceAll(ToLower(text), "-", ""); }

Result<api::ProviderType> ParseType(const std::string& text, const std::string& whole) {
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    if (WithoutDashes(kind.type_name) == WithoutDashes(text)) return kind.type;
  }
  return Error{
      Code::kInvalidArgument,
      fmt::format("--provider \"{}\": write TYPE/NAME[:VERSION], with one of the types {}", whole, TypeNames()),
      {}};
}

Result<local::Settings> AskedSettings(const LocalUpOptions& options, const Getenv& getenv) {
  local::Settings out;
  out.builds = options.builds;
  out.environment = options.environment;
  out.programs = options.programs;
  if (!out.programs.empty() && out.programs != local::kUsualPlaces)
    out.programs = TRY_WITH(local::AbsolutePath(out.programs), "--programs");
  for (const std::string& entry : options.binaries) {
    const size_t equals = entry.find('=');
    if (equals == 0 || equals == entry.npos)
      return Error{Code::kInvalidArgument, fmt::format("--binary \"{}\": write IMAGE=PATH", entry), {}};
    std::string path = entry.substr(equals + 1);
    if (!path.empty()) path = TRY_WITH(local::AbsolutePath(path), "--binary");
    out.binaries.push_back(entry.substr(0, equals + 1) + path);
  }
  for (const std::string& name : options.environment) {
    if (name.empty() || name.find('=') != name.npos)
      return Error{Code::kInvalidArgument, "--env takes the name of a variable that is set, without a value", {}};
    if (!getenv(name)) return Error{Code::kInvalidArgument, fmt::format("--env {}: it isn't set", name), {}};
  }
  return out;
}

// Those of this run. Others that an earlier one has named are checked where they are needed.
Status CheckAsked(const local::Settings& asked) {
  local::ProgramsOptions images;
  for (const auto& [from, to] : {std::pair(&asked.binaries, &images.binaries), {&asked.builds, &images.builds}}) {
    std::copy_if(from->begin(), from->end(), std::back_inserter(*to),
                 [](const std::string& entry) { return !local::IsTakenBack(entry); });
  }
  TRY(local::OpenPrograms(std::move(images)));
  return Ok();
}

// What this run does, checked before anything is written or started. A value.
struct UpPlan {
  AskedProviders providers;
  local::Settings asked;
  std::string folder;
};

Result<UpPlan> Prepare(const Config& config, const LocalUpOptions& options, World& world) {
  UpPlan out;
  const Millis timeout = TRY(PositiveDuration("--timeout " + options.timeout, options.timeout));
  out.providers.timeout = static_cast<int>(std::chrono::ceil<Seconds>(timeout).count());
  out.folder = TRY(PlaneFolderPath(options.folder, world.getenv));
  out.providers.flags = TRY(ParseProviderFlags(options.providers));
  out.asked = TRY(AskedSettings(options, world.getenv));
  TRY(CheckAsked(out.asked));
  out.providers.declared = TRY(ReadDeclared(options.files, config, world.in));
  return out;
}

// Of programs that have gone since another run named them: their Pods say so, and nobody else has to.
void WarnOfGone(const local::PlaneFolder& folder, const local::Settings& settings, Notes& notes) {
  for (const std::string& entry : settings.binaries) {
    const size_t equals = entry.find('=');
    const Status runs = local::CheckRuns(entry.substr(equals + 1));
    if (runs.ok()) continue;
    notes.Warn(fmt::format(
        "--binary {0}: {1} (named by an earlier `up`, and kept in {2}): its managers don't start; `--binary {0}=` "
        "takes it back",
        entry.substr(0, equals), runs.error().message, folder.Settings()));
  }
}

Status CheckPrograms(const local::PlaneFolder& folder, const local::Settings& settings, const Getenv& getenv,
                     Notes& notes) {
  const local::PlanePrograms found = TRY(local::FindPlanePrograms(settings.programs, local::OwnFolder(), getenv));
  if (found.controller_manager.empty()) {
    notes.Warn(
        "kube-controller-manager not found beside etcd and kube-apiserver: what an object owns stays when it is "
        "deleted, and namespaces that are deleted stay for ever");
  }
  TRY(CheckOperatorProgram(settings.binaries, local::OwnFolder(), getenv));
  WarnOfGone(folder, settings, notes);
  return Ok();
}

// Before anything is made for a plane that can't start; of one that is there EnsureSupervisor looks.
Status CheckNew(const UpPlan& plan, const Getenv& getenv) {
  const auto there = local::PlaneFolder::Open(plan.folder);
  if (there.ok() || there.code() != Code::kNotFound) return Ok();
  const local::Settings settings = local::Merged({}, plan.asked);
  TRY(local::FindPlanePrograms(settings.programs, local::OwnFolder(), getenv));
  return CheckOperatorProgram(settings.binaries, local::OwnFolder(), getenv);
}

// kUnavailable: another one can be made now.
Error GoOnDeleting(const Context& ctx, const local::PlaneFolder& folder, const Getenv& getenv, Notes& notes) {
  // Nobody who runs one is asked to end: another command may have deleted this one, and made the one that runs.
  const auto lock = LockPlane(ctx, folder);
  if (!lock.ok()) return lock.error();
  const Error deleted{Code::kUnavailable, fmt::format("the plane in {} is deleted", folder.path()), {}};
  if (!folder.IsHalfDeleted()) return deleted;
  notes.Say(0, "Deleting what an interrupted `down --delete` has left", {{"folder", folder.path()}});
  EndWhatIsLeft(folder, getenv);
  const auto gone = folder.Remove();
  return gone.ok() ? deleted : gone.error();
}

std::string WhatIsNamed(const local::PlaneFolder& folder) {
  const bool some = access(folder.Settings().c_str(), F_OK) == 0;
  return some ? fmt::format("see in {} what earlier runs have named", folder.Settings())
              : "no earlier run has named it";
}

// One that has begun its processes; before that it has yet to write it.
bool LacksItsKubeconfig(const local::PlaneFolder& folder, pid_t supervisor) {
  if (access(folder.OwnKubeconfig().c_str(), R_OK) == 0) return false;
  const auto state = local::ReadState(folder.State());
  return state.ok() && state->supervisor == supervisor && !state->processes.empty();
}

Result<pid_t> EnsureSupervisor(const Context& ctx, const local::PlaneFolder& folder, const local::Settings& asked,
                               World& world, Notes& notes) {
  if (folder.IsHalfDeleted()) return GoOnDeleting(ctx, folder, world.getenv, notes);
  TRY(CheckVersion(folder));
  const local::Settings there = TRY(local::ReadSettings(folder.Settings()));
  const local::Settings settings = local::Merged(there, asked);
  for (const std::string& flag : local::TakenBackInVain(there, asked))
    notes.Warn(fmt::format("{} takes nothing back: {}", flag, WhatIsNamed(folder)));
  auto holder = TRY(local::SupervisorOf(folder.Lock()));
  std::string why = holder ? WhyOutdated(*holder, settings, world.getenv) : "";
  if (settings != there) why = "other settings";
  // Of a clusterctl that made none, or somebody has removed it.
  if (holder && why.empty() && LacksItsKubeconfig(folder, *holder)) why = "a kubeconfig of its own";
  if (holder && why.empty()) {
    notes.Say(0, "The plane runs already", {{"folder", folder.path()}});
    return 0;
  }
  TRY(CheckPrograms(folder, settings, world.getenv, notes));
  TRY(CheckVariables(settings, world.getenv));
  notes.Say(0, holder ? "Starting the plane anew with " + why : "Starting the plane", {{"folder", folder.path()}});
  {
    // Nobody deletes it meanwhile, or writes other settings, as another `up` may have since they were read.
    const local::PlaneLock lock = holder ? TRY(StopPlane(ctx, folder, world.getenv)).lock : TRY(LockPlane(ctx, folder));
    const local::Settings now = TRY(local::ReadSettings(folder.Settings()));
    TRY(local::WriteSettings(folder.Settings(), local::Merged(now, asked)));
    TRY(folder.MakeFolders());
  }
  WarnOfRoot(geteuid(), notes);
  return StartSupervisor(folder);
}

// What this run has started. A value.
struct Started {
  local::PlaneFolder folder;
  pid_t supervisor = 0;
};

// Until it is ready. Where the one that ran ends meanwhile (somebody's `down`), or is deleted, another is started.
Result<local::PlaneFolder> StartPlane(const Context& ctx, const UpPlan& plan, World& world,
                                      std::optional<Started>& started) {
  constexpr int kTries = 3;
  Notes notes(world.err);
  for (int tries = 1;; ++tries) {
    TRY(CheckNew(plan, world.getenv));
    const auto made = local::PlaneFolder::Make(plan.folder);
    if (!made.ok() && made.code() == Code::kUnavailable && tries < kTries) continue;
    if (!made.ok()) return made.error();
    const local::PlaneFolder& folder = *made;
    const auto child = EnsureSupervisor(ctx, folder, plan.asked, world, notes);
    if (!child.ok() && child.code() == Code::kUnavailable && tries < kTries) continue;
    if (!child.ok()) return child.error();
    if (*child > 0) started = Started{folder, *child};
    LiveLines lines(world.err, world.err_columns);
    auto state = AwaitPlane(ctx, folder, *child, lines);
    if (state.ok()) return folder;
    if (state.code() != Code::kUnavailable || tries == kTries) return state.error();
  }
}

// All that the plane is to have, until it lasts: what of the control plane has ended again since, and the managers of
// this run.
Status Fill(const Context& ctx, const GlobalOptions& global, const local::PlaneFolder& folder,
            const AskedProviders& asked, World& world) {
  TRY(BringProviders(ctx, global, folder, asked, world));
  {
    LiveLines lines(world.err, world.err_columns);
    TRY(AwaitPlane(ctx.WithTimeout(Seconds(asked.timeout)), folder, 0, lines, kAway));
  }
  return AwaitProviders(ctx, folder, asked, world);
}

// Of two at once the other one may have been faster, and then it isn't this run's to end.
Status EndStarted(const Context& ctx, const Started& started, World& world) {
  // It may wait for the lock still. While it is a child that nobody has waited for, the number is its own.
  if (waitpid(started.supervisor, nullptr, WNOHANG) == 0) kill(started.supervisor, SIGTERM);
  const auto runs = TRY(local::SupervisorOf(started.folder.Lock()));
  if (runs && *runs != started.supervisor) return Ok();
  const auto stopped = StopPlane(ctx, started.folder, world.getenv);
  const bool deleted = !stopped.ok() && !started.folder.CheckIsThere().ok();
  return stopped.ok() || deleted ? Ok() : Status(stopped.error());
}

// What can't be asked isn't told: `status` tells it, too. It has a time of its own: what came before may have taken its
// `--timeout` several times.
std::string ThePage(const Context& ctx, const local::PlaneFolder& folder, const Getenv& getenv) {
  auto cluster = ManagementCluster::Open({.kubeconfig = folder.OwnKubeconfig()}, getenv);
  if (!cluster.ok()) return "";
  const auto pods =
      cluster->client().List(ctx.WithTimeout(kAnswerLimit), kube::Builtin("Pod"), std::string(api::kOperatorNamespace));
  const auto supervisor = local::SupervisorOf(folder.Lock());
  const bool runs = pods.ok() && supervisor.ok() && *supervisor;
  const std::string page = runs ? PageAddress(pods->items, **supervisor) : "";
  return page.empty() ? "" : fmt::format("The status page is at {}\n", page);
}

Status Run(const Context& ctx, const GlobalOptions& global, const LocalUpOptions& options, World& world,
           std::optional<Started>& started) {
  Notes notes(world.err);
  const Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  const UpPlan plan = TRY(Prepare(config, options, world));
  const Context bounded = ctx.WithTimeout(Seconds(plan.providers.timeout));
  const local::PlaneFolder folder = TRY(StartPlane(bounded, plan, world, started));
  PlaneWatch watch(ctx, folder);
  TRY(watch.Explain(Fill(watch.context(), global, folder, plan.providers, world)));
  const std::string flag = DirFlag(folder, world.getenv);
  world.out << "The plane is up:\n\n"
            << WayIn(folder, notes) << ThePage(ctx, folder, world.getenv)
            << fmt::format("`clusterctl local status{0}` shows its processes, `clusterctl local down{0}` ends them.\n",
                           flag);
  return Ok();
}

}  // namespace

std::string WayIn(const local::PlaneFolder& folder, Notes& notes) {
  // Somebody may have moved it away, or written over it, since the plane's start.
  const auto own = ReadFile(folder.OwnKubeconfig());
  const Status put = own.ok() ? local::PutIntoKubeconfig(folder.Kubeconfig(), *own) : Status(own.error());
  if (!put.ok()) {
    notes.Warn(fmt::format("{} doesn't lead to the plane: {}. Move it away, and run `clusterctl local up` again",
                           folder.Kubeconfig(), put.error().message));
  }
  std::string out = fmt::format("  export KUBECONFIG={}\n", local::ShellQuote(folder.Kubeconfig()));
  if (put.ok() && local::WhereLeads(folder.Kubeconfig(), folder.OwnKubeconfig()) == local::Leads::kByItsContext)
    out += fmt::format("  kubectl config use-context {}\n", local::kContext);
  return out + "\n";
}

Result<ProviderFlags> ParseProviderFlags(const std::vector<std::string>& texts) {
  ProviderFlags out;
  for (const std::string& text : texts) {
    const size_t slash = text.find('/');
    const api::ProviderType type = TRY(ParseType(text.substr(0, slash), text));
    const std::string name = slash == text.npos ? "" : text.substr(slash + 1);
    if (name.empty()) return ParseType("", text).error();
    out[type].push_back(name);
  }
  return out;
}

Status CheckVariables(const local::Settings& settings, const Getenv& getenv) {
  for (const std::string& name : settings.environment) {
    if (getenv(name)) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("{} isn't set, which --env of an earlier run named: the managers would run without it. "
                             "Export it, with no value where they need it no longer",
                             name),
                 {}};
  }
  return Ok();
}

void WarnOfRoot(uid_t user, Notes& notes) {
  if (user == 0)
    notes.Warn("the managers run as root, whatever user their images name: another user can run a plane as well");
}

Status LocalUp(const Context& parent, const GlobalOptions& global, const LocalUpOptions& options, World& world) {
  Interrupt interrupt;
  const Context ctx = parent.WithStop(interrupt.token());
  std::optional<Started> started;
  Status done = Run(ctx, global, options, world, started);
  // Who gives up waiting wants nothing to go on behind his back; what failed is there to be looked at.
  if (!done.ok() && ctx.stop.stop_requested() && started) TRY(EndStarted(parent, *started, world));
  return OrInterrupted(ctx, std::move(done));
}

}  // namespace capi::cli
