#include "cli/clusters/commands.h"

#include <fmt/format.h>

#include <memory>

#include "cli/clusters/get_kubeconfig.h"
#include "cli/clusters/rollout.h"

namespace capi::cli {
namespace {

void AddGet(CommandLine& line) {
  CLI::App& get = line.Add(line.root(), "get", "Print what a management cluster has of a workload cluster.");
  CLI::App& command = line.Add(get, "kubeconfig", "Print the kubeconfig of a workload cluster.",
                               "  # Of a cluster in the current namespace\n"
                               "  clusterctl get kubeconfig my-cluster > my-cluster.kubeconfig\n\n"
                               "  # Of one in another namespace\n"
                               "  clusterctl get kubeconfig my-cluster --namespace my-team\n");
  auto options = std::make_shared<GetKubeconfigOptions>();
  command.add_option("NAME", options->names, "Name of the cluster");
  command.add_option("-n,--namespace", options->ns, "Namespace of the cluster; without it the current one");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return GetKubeconfig(Context{}, line.global(), *options, line.world()); });
}

void AddAlpha(CommandLine& line) {
  CLI::App& alpha =
      line.Add(line.root(), "alpha", fmt::format("Commands whose form may still change.\n\n{}.", kNoTopologyPlan));
  CLI::App& rollout = line.Add(alpha, "rollout", "Replace machines though nothing changed, or hold that back.");
  struct Verb {
    RolloutAction action;
    const char *name, *about;
  };
  using enum RolloutAction;
  const Verb verbs[] = {
      {kRestart, "restart",
       "Replace all machines of a MachineDeployment or KubeadmControlPlane, as after a change of it.\n\n"
       "What is paused is refused, and what is to be restarted at a later time."},
      {kPause, "pause", "Replace no machine of a MachineDeployment or KubeadmControlPlane until it is resumed."},
      {kResume, "resume", "Replace machines again of a MachineDeployment or KubeadmControlPlane that was paused."},
  };
  for (const Verb& verb : verbs) {
    std::string examples = fmt::format(
        "  # A deployment of machines\n"
        "  clusterctl alpha rollout {0} machinedeployment/my-cluster-md-0\n\n"
        "  # A control plane in another namespace\n"
        "  clusterctl alpha rollout {0} kubeadmcontrolplane/my-cluster --namespace my-team\n",
        verb.name);
    CLI::App& command = line.Add(rollout, verb.name, verb.about, examples);
    auto options = std::make_shared<RolloutOptions>();
    command.add_option("RESOURCE", options->resources,
                       "machinedeployment/NAME or kubeadmcontrolplane/NAME, or several");
    command.add_option("-n,--namespace", options->ns, "Their namespace; without it the current one");
    line.AddClusterFlags(command, options->cluster);
    line.Finish(command, [&line, options, action = verb.action] {
      return Rollout(Context{}, line.global(), action, *options, line.world());
    });
  }
}

}  // namespace

void AddClusterCommands(CommandLine& line) {
  AddGet(line);
  AddAlpha(line);
}

}  // namespace capi::cli
