#include "cli/describe/commands.h"

#include <memory>

#include "cli/describe/describe_cluster.h"
#include "cli/describe/describe_providers.h"

namespace capi::cli {
namespace {

void AddColour(CLI::App& command, std::optional<bool>& colour) {
  command.add_flag_function(
      "-c,--color", [&colour](std::int64_t value) { colour = value > 0; },
      "Use colours, or don't (--color=false); without the flag they are used on a terminal. NO_COLOR in the "
      "environment "
      "takes precedence");
}

void AddClusterTreeFlags(CLI::App& command, DescribeClusterOptions& options) {
  command.add_option("--show-conditions", options.show_conditions,
                     "Show the conditions of these: all, KIND or KIND/NAME, with commas between; + behind one leaves "
                     "out those that are as they should be");
  command.add_flag("--show-machinesets", options.machine_sets, "Show MachineSets");
  command.add_flag("--show-resourcesets", options.resource_sets,
                   "Show the ClusterResourceSets that were applied to it");
  command.add_flag("--show-templates", options.templates, "Show the templates that machines are made from");
  command.add_flag("--echo", options.echo,
                   "Show the infrastructure and bootstrap configuration of machines also where they are ready, or say "
                   "what their machine says");
  command.add_flag("--grouping", options.grouping,
                   "Show machines that are in the same state as one line (--grouping=false: each)");
  command.add_flag("--disable-grouping", options.disable_grouping, "The same as --grouping=false; deprecated");
  command.add_flag_function(
      "--v1beta2", [&options](std::int64_t value) { options.v1beta2 = value > 0; },
      "Show conditions as they are today; --v1beta2=false shows those of the contract v1beta1. Deprecated");
}

void AddCluster(CommandLine& line, CLI::App& describe) {
  CLI::App& command = line.Add(describe, "cluster",
                               "Print the objects of a workload cluster as a tree, with what each says of itself.\n\n"
                               "It shows at a glance whether something is wrong, and where.",
                               "  # A cluster of the current namespace\n"
                               "  clusterctl describe cluster my-cluster\n\n"
                               "  # With the conditions of its control plane\n"
                               "  clusterctl describe cluster my-cluster --show-conditions KubeadmControlPlane\n\n"
                               "  # With those conditions of any object that aren't as they should be\n"
                               "  clusterctl describe cluster my-cluster --show-conditions all+\n\n"
                               "  # With a line for each machine\n"
                               "  clusterctl describe cluster my-cluster --grouping=false\n");
  auto options = std::make_shared<DescribeClusterOptions>();
  command.add_option("NAME", options->names, "Name of the cluster");
  command.add_option("-n,--namespace", options->ns, "Namespace of the cluster; without it the current one");
  line.AddOutputFlag(command, options->output);
  AddClusterTreeFlags(command, *options);
  AddColour(command, options->colour);
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return DescribeCluster(Context{}, line.global(), *options, line.world()); });
}

void AddProviders(CommandLine& line, CLI::App& describe) {
  CLI::App& command =
      line.Add(describe, "providers",
               "Print the operator and the providers of a management cluster as a tree.\n\n"
               "It says of each which version it has, how it and its workloads are, who waits for whom, what holds it "
               "back and what to do about it. Providers that clusterctl installed are shown too.",
               "  # All of them\n"
               "  clusterctl describe providers\n\n"
               "  # With the versions that are asked for, and since when each is as it is\n"
               "  clusterctl describe providers -o wide\n\n"
               "  # Again at each change\n"
               "  clusterctl describe providers --watch\n");
  auto options = std::make_shared<DescribeProvidersOptions>();
  command.add_option("-n,--namespace", options->ns, "Their namespace; without it all are looked through");
  command.add_flag("-w,--watch", options->watch,
                   "Go on: show them again at each change, on a terminal in the same place, until Ctrl-C");
  line.AddOutputFlag(command, options->output);
  AddColour(command, options->colour);
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command,
              [&line, options] { return DescribeProviders(Context{}, line.global(), *options, line.world()); });
}

}  // namespace

void AddDescribeCommands(CommandLine& line) {
  CLI::App& describe = line.Add(line.root(), "describe", "Print clusters or providers as a tree.");
  AddCluster(line, describe);
  AddProviders(line, describe);
}

}  // namespace capi::cli
