#include "cli/local_clusters/commands.h"

#include <fmt/format.h>

#include <memory>

#include "cli/local/place.h"
#include "cli/local_clusters/apply.h"
#include "cli/local_clusters/collect.h"
#include "cli/local_clusters/destroy.h"
#include "cli/local_clusters/manifests.h"
#include "cli/local_clusters/move.h"
#include "cli/local_clusters/wait.h"

namespace capi::cli {
namespace {

using namespace local_clusters;  // NOLINT(google-build-using-namespace): this file is their table

// As CommandLine::Finish; no flag of the command takes an empty value.
void Finish(CommandLine& line, CLI::App& command, CommandLine::Function function) {
  for (CLI::Option* option : command.get_options()) {
    if (!option->get_positional() && option->get_items_expected_min() > 0) option->check(CheckHasValue);
  }
  line.Finish(command, std::move(function));
}

void AddManifests(CommandLine& line, CLI::App& local) {
  CLI::App& command = line.Add(
      local, "manifests",
      "Write the objects of a workload cluster as numbered files, to be edited and then applied.\n\n"
      "No cluster and no cloud is asked. Credentials don't go into the files: ${NAME} stands in their place, and\n"
      "`local apply` takes their values from the environment.",
      "  clusterctl local manifests my-cluster --from cluster-template.yaml --kubernetes-version v1.34.0 -o "
      "manifests\n\n"
      "  # From the template of a provider's release\n"
      "  clusterctl local manifests my-cluster --infrastructure aws:v2.11.1 --kubernetes-version v1.34.0 -o "
      "manifests\n");
  auto options = std::make_shared<ManifestsOptions>();
  GenerateClusterOptions& generate = options->generate;
  command.add_option("NAME", generate.names, "Name of the cluster");
  command.add_option("--from", generate.from, "Path or URL of the template; - is standard input");
  command.add_option("-i,--infrastructure", generate.infrastructure,
                     "Infrastructure provider whose template it is, NAME:VERSION");
  command.add_option("-f,--flavor", generate.flavor, "Flavor of the provider's template");
  command.add_option("-o,--output-directory", options->folder, "Folder for the files; it may not have manifests yet");
  command.add_option("-n,--target-namespace", generate.target_namespace,
                     "Namespace for the objects; without it `default`");
  command.add_option("--kubernetes-version", generate.kubernetes_version,
                     "Version of Kubernetes, v1.34.0; without it the variable KUBERNETES_VERSION");
  command.add_option("--control-plane-machine-count", generate.control_plane_machines,
                     "Machines of the control plane; without it the variable CONTROL_PLANE_MACHINE_COUNT, then 1");
  command.add_option("--worker-machine-count", generate.worker_machines,
                     "Other machines; without it the variable WORKER_MACHINE_COUNT, then 0");
  line.AddListFlag(command, "--credential", options->credentials,
                   "Names of variables that are credentials, beside those whose names say so and those of Secrets");
  line.AddListFlag(command, "--no-credential", options->no_credentials, "Names of variables that are none");
  Finish(line, command, [&line, options] { return Manifests(Context{}, line.global(), *options, line.world()); });
}

void AddApply(CommandLine& line, CLI::App& local) {
  CLI::App& command = line.Add(
      local, "apply",
      "Make a cluster of a folder of manifests, stage by stage.\n\n"
      "The stages are pre-provision, infrastructure (all but machines), infra-ready, ignition (bootstrap Secrets),\n"
      "machines and post-provision. FOLDER/hooks/STAGE is a program that runs in its stage. Each stage ends at once\n"
      "where an object reports that it has failed for good. Run again, it goes on where it was.",
      "  clusterctl local apply manifests --dir plane\n\n"
      "  # With another hook, and more time for the machines\n"
      "  clusterctl local apply manifests --dir plane --hook pre-provision=./make-roles --timeout machines=1h\n");
  auto options = std::make_shared<ApplyOptions>();
  command.add_option("FOLDER", options->folders, "Folder of the manifests");
  command.add_option("--timeout", options->timeouts, "STAGE=DURATION: how long a stage may take; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--hook", options->hooks,
                  "STAGE=PATH: the program of a hook, in the place of the one in FOLDER/hooks; may be repeated")
      ->allow_extra_args(false);
  command.add_flag("!--no-collect", options->collect, "Don't collect logs and objects where it fails");
  AddTargetFlags(line, command, options->target);
  Finish(line, command, [&line, options] { return Apply(Context{}, line.global(), *options, line.world()); });
  // Each of these has values of its own, and none is the last one's.
  for (const char* list : {"--timeout", "--hook"})
    command.get_option(list)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddWait(CommandLine& line, CLI::App& local) {
  CLI::App& command =
      line.Add(local, "wait",
               "Wait until clusters are available, or until another condition is as it should be.\n\n"
               "On a terminal the tree of their objects is shown meanwhile. It ends at once where an object reports\n"
               "that it has failed for good.",
               "  clusterctl local wait my-cluster --dir plane\n"
               "  clusterctl local wait my-cluster --for ControlPlaneAvailable --timeout 1h\n");
  auto options = std::make_shared<WaitOptions>();
  command.add_option("NAME", options->names, "Names of the clusters");
  command.add_option("-n,--namespace", options->ns, "Their namespace; without it the current one");
  command.add_option("--for", options->condition, "CONDITION or CONDITION=STATUS")->capture_default_str();
  command.add_option("--timeout", options->timeout, "How long to wait")->capture_default_str();
  AddTargetFlags(line, command, options->target);
  Finish(line, command, [&line, options] { return Wait(Context{}, line.global(), *options, line.world()); });
}

void AddCollect(CommandLine& line, CLI::App& local) {
  CLI::App& command = line.Add(local, "collect",
                               "Write logs, objects and conditions into one archive, to find out what went wrong.\n\n"
                               "The values of Secrets are left out, and with --manifests those that `local apply` has\n"
                               "filled in, of logs too.",
                               "  clusterctl local collect --dir plane -o collected.tar.gz\n");
  auto options = std::make_shared<CollectFlags>();
  command.add_option("-o,--output-file", options->output, "The archive; without it collected-TIME.tar.gz");
  command.add_option("--manifests", options->manifests,
                     "Folder of manifests: the values of their references, from the environment, are left out");
  AddTargetFlags(line, command, options->target);
  Finish(line, command, [&line, options] { return Collect(Context{}, line.global(), *options, line.world()); });
}

// What was given to `destroy` itself isn't what `destroy bootstrap` works with: a plane or a namespace that is passed
// over would be another one's machine.
Status CheckNoneGiven(const CLI::App& destroy) {
  for (const CLI::Option* option : destroy.get_options()) {
    if (option->count() == 0) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("`local destroy bootstrap` takes no {} of `local destroy`: write its own flags behind the "
                             "word bootstrap; a cluster of that name is named by `-- bootstrap`",
                             option->get_name()),
                 {}};
  }
  return Ok();
}

void AddDestroy(CommandLine& line, CLI::App& local) {
  CLI::App& command =
      line.Add(local, "destroy",
               "Delete clusters with all their machines, wait until they are gone, and say what hangs.\n\n"
               "A cluster that is called `bootstrap` is named by `-- bootstrap`.",
               "  clusterctl local destroy my-cluster --dir plane\n"
               "  clusterctl local destroy bootstrap my-cluster --dir plane\n");
  auto options = std::make_shared<DestroyOptions>();
  command.add_option("NAME", options->names, "Names of the clusters");
  command.add_option("-n,--namespace", options->ns,
                     "Their namespace; without it the current one, with --all every one");
  command.add_flag("--all", options->all, "All clusters");
  command.add_flag("-y,--yes", options->yes, "With --all: don't ask");
  command.add_option("--timeout", options->timeout, "How long they may take")->capture_default_str();
  AddTargetFlags(line, command, options->target);
  Finish(line, command, [&line, options] { return Destroy(Context{}, line.global(), *options, line.world()); });

  CLI::App& bootstrap = line.Add(command, "bootstrap",
                                 "Delete the bootstrap machine of a cluster, and nothing else.\n\n"
                                 "It is the Machine NAME-bootstrap, unless --machine names another one.",
                                 "  clusterctl local destroy bootstrap my-cluster --dir plane\n");
  auto alone = std::make_shared<DestroyBootstrapOptions>();
  bootstrap.add_option("NAME", alone->names, "Name of the cluster");
  bootstrap.add_option("-n,--namespace", alone->ns, "Its namespace; without it the current one");
  bootstrap.add_option("--machine", alone->machine, "Name of the Machine; without it NAME-bootstrap");
  bootstrap.add_option("--timeout", alone->timeout, "How long it may take")->capture_default_str();
  AddTargetFlags(line, bootstrap, alone->target);
  Finish(line, bootstrap, [&line, &command, alone]() -> Status {
    TRY(CheckNoneGiven(command));
    return DestroyBootstrap(Context{}, line.global(), *alone, line.world());
  });
}

void AddMove(CommandLine& line, CLI::App& local) {
  CLI::App& command =
      line.Add(local, "move",
               "Move clusters into the cluster that was made, which looks after itself from then on.\n\n"
               "That one needs the providers first (`clusterctl init`). Its manifests are kept there, too, without\n"
               "Secrets, in the ConfigMap local-manifests.NAME.",
               "  clusterctl get kubeconfig my-cluster --kubeconfig plane/kubeconfig --kubeconfig-context capi-local "
               ">target.kubeconfig\n"
               "  clusterctl init --kubeconfig target.kubeconfig --infrastructure aws\n"
               "  clusterctl local move --dir plane --to-kubeconfig target.kubeconfig --manifests manifests\n");
  auto options = std::make_shared<LocalMoveOptions>();
  command.add_option("--to-kubeconfig", options->to.kubeconfig, "The kubeconfig of the target");
  command.add_option("--to-kubeconfig-context", options->to.context,
                     "The context to use of it; without it the current one");
  command.add_option("-n,--namespace", options->ns, "What to move; without it the current namespace of the source");
  command.add_option("--manifests", options->manifests, "Folder of the manifests to keep there");
  command.add_flag("--include-providers", options->include_providers,
                   "Before all else create the operator's Provider objects where the target lacks them");
  command.add_flag("--dry-run", options->dry_run, "Say what would be moved, and change nothing");
  AddTargetFlags(line, command, options->target);
  Finish(line, command, [&line, options] { return LocalMove(Context{}, line.global(), *options, line.world()); });
}

}  // namespace

void AddLocalClusterCommands(CommandLine& line) {
  CLI::App* found = FindCommand(line.root(), "local");
  CLI::App& local =
      found != nullptr ? *found : line.Add(line.root(), "local", "Workload clusters that are made on this machine.");
  AddManifests(line, local);
  AddApply(line, local);
  AddWait(line, local);
  AddCollect(line, local);
  AddDestroy(line, local);
  AddMove(line, local);
}

}  // namespace capi::cli
