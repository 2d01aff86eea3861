#include "cli/commands.h"

#include <fmt/format.h>

#include <memory>
#include <tuple>

#include "cli/completion.h"
#include "cli/config_repositories.h"
#include "cli/generate_cluster.h"
#include "cli/generate_provider.h"
#include "cli/generate_yaml.h"
#include "cli/get_kubeconfig.h"
#include "cli/history.h"
#include "cli/rollout.h"
#include "cli/version.h"
#include "cli/why.h"

namespace capi::cli {
namespace {

void AddVersion(CommandLine& line) {
  CLI::App& command = line.Add(line.root(), "version", "Print clusterctl version.");
  auto output = std::make_shared<std::string>();
  command.add_option("-o,--output", *output, "Output format; available options are 'yaml', 'json' and 'short'");
  line.Finish(command, [&line, output]() -> Status {
    line.world().out << TRY(FormatVersion(ThisBuild(), *output));
    return Ok();
  });
}

void AddConfig(CommandLine& line) {
  CLI::App& config = line.Add(line.root(), "config", "Show clusterctl's configuration.");
  CLI::App& command = line.Add(config, "repositories",
                               "Print the providers that clusterctl knows, and where their releases come from.\n\n"
                               "The configuration file adds some, or names other places (key `providers`).",
                               "  # All of them\n"
                               "  clusterctl config repositories\n\n"
                               "  # The same as YAML\n"
                               "  clusterctl config repositories -o yaml\n");
  auto output = std::make_shared<std::string>("text");
  command.add_option("-o,--output", *output, "Output format, text or yaml")->capture_default_str();
  line.Finish(command, [&line, output] { return ConfigRepositories(Context{}, line.global(), *output, line.world()); });
}

void AddGenerateProvider(CommandLine& line, CLI::App& generate) {
  CLI::App& command =
      line.Add(generate, "provider",
               "Print the objects of a provider's release as YAML.\n\n"
               "The release comes from the provider's repository. ${VARIABLES} in it take their values from the "
               "environment, then\nfrom the configuration file; images are replaced as its key `images` says.",
               "  # The newest release of the AWS provider\n"
               "  clusterctl generate provider --infrastructure aws\n\n"
               "  # A version of it, in another namespace than its own\n"
               "  clusterctl generate provider --infrastructure aws:v2.11.1 --target-namespace aws\n\n"
               "  # Which variables and images it has\n"
               "  clusterctl generate provider --infrastructure aws --describe\n\n"
               "  # Its objects with the variables left in\n"
               "  clusterctl generate provider --infrastructure aws --raw\n");
  auto options = std::make_shared<GenerateProviderOptions>();
  using enum api::ProviderType;
  const std::tuple<const char*, api::ProviderType, const char*> kinds[] = {
      {"--core", kCore, "Core provider, as NAME[:VERSION] (cluster-api:v1.12.0)"},
      {"-b,--bootstrap", kBootstrap, "Bootstrap provider (kubeadm:v1.12.0)"},
      {"-c,--control-plane", kControlPlane, "Control plane provider (kubeadm:v1.12.0)"},
      {"-i,--infrastructure", kInfrastructure, "Infrastructure provider (aws:v2.11.1)"},
      {"--ipam", kIpam, "IPAM provider (in-cluster:v1.0.3)"},
      {"--runtime-extension", kRuntimeExtension, "Runtime extension provider (nutanix:v0.2.0)"},
      {"--addon", kAddon, "Add-on provider (helm:v0.4.0)"},
  };
  for (const auto& [flag, type, about] : kinds) command.add_option(flag, options->providers[type], about);
  command.add_option("-n,--target-namespace", options->target_namespace,
                     "Namespace for the objects; without it the release's own");
  command.add_flag("--describe", options->describe,
                   "Print name, URL, version, namespace, variables and images instead of the objects");
  command.add_flag("--raw", options->raw, "Print the objects with their ${VARIABLES} as they are");
  command.add_option("--write-to", options->write_to, "File to write instead of standard output; all of it or nothing");
  line.Finish(command, [&line, options] { return GenerateProvider(Context{}, line.global(), *options, line.world()); });
}

void AddGenerateYaml(CommandLine& line, CLI::App& generate) {
  CLI::App& command =
      line.Add(generate, "yaml",
               "Fill in the ${VARIABLES} of a YAML text, and print it.\n\n"
               "Values come from the environment, then from the configuration file, then from the text's own defaults.",
               "  # A template from standard input\n"
               "  clusterctl generate yaml < template.yaml\n\n"
               "  # One of a repository on GitHub\n"
               "  clusterctl generate yaml --from https://github.com/my-org/my-repo/blob/main/template.yaml\n\n"
               "  # Which variables it has\n"
               "  clusterctl generate yaml --from template.yaml --list-variables\n");
  auto options = std::make_shared<GenerateYamlOptions>();
  command.add_option("--from", options->from, "Path or URL of the text; - is standard input")->capture_default_str();
  command.add_flag("--list-variables", options->list_variables, "Print the names of its variables instead");
  line.Finish(command, [&line, options] { return GenerateYaml(Context{}, line.global(), *options, line.world()); });
}

void AddGenerateCluster(CommandLine& line, CLI::App& generate) {
  CLI::App& command =
      line.Add(generate, "cluster",
               "Print the objects of a workload cluster, made from a template, ready to be applied.\n\n"
               "The template is the one of the management cluster's infrastructure provider, of another one "
               "(--infrastructure),\na file, a URL or standard input (--from), or a ConfigMap (--from-config-map).",
               "  # From the template of the infrastructure provider that is installed\n"
               "  clusterctl generate cluster my-cluster --kubernetes-version v1.34.0\n\n"
               "  # From one of its flavors, with three machines of the control plane and ten others\n"
               "  clusterctl generate cluster my-cluster --flavor topology --kubernetes-version v1.34.0 \\\n"
               "    --control-plane-machine-count 3 --worker-machine-count 10\n\n"
               "  # From a file\n"
               "  clusterctl generate cluster my-cluster --from cluster-template.yaml\n\n"
               "  # Which variables the template has\n"
               "  clusterctl generate cluster my-cluster --infrastructure aws:v2.11.1 --list-variables\n");
  auto options = std::make_shared<GenerateClusterOptions>();
  command.add_option("NAME", options->names, "Name of the cluster");
  command.add_option("-n,--target-namespace", options->target_namespace,
                     "Namespace for the objects; without it the current one");
  command.add_option("--kubernetes-version", options->kubernetes_version,
                     "Version of Kubernetes, v1.34.0; without it the variable KUBERNETES_VERSION");
  command.add_option("--control-plane-machine-count", options->control_plane_machines,
                     "Machines of the control plane; without it the variable CONTROL_PLANE_MACHINE_COUNT, then 1");
  command.add_option("--worker-machine-count", options->worker_machines,
                     "Other machines; without it the variable WORKER_MACHINE_COUNT, then 0");
  command.add_option(
      "-i,--infrastructure", options->infrastructure,
      "Infrastructure provider whose template it is, NAME[:VERSION]; without it the one that is installed");
  command.add_option("-f,--flavor", options->flavor, "Flavor of the provider's template");
  command.add_option("--from", options->from, "Path or URL of the template; - is standard input");
  command.add_option("--from-config-map", options->config_map, "Name of a ConfigMap that has the template");
  command.add_option("--from-config-map-namespace", options->config_map_namespace,
                     "Its namespace; without it the current one");
  command.add_option("--from-config-map-key", options->config_map_key, "Its key")->default_str("template");
  command.add_flag("--list-variables", options->list_variables,
                   "Print the template's variables, with their defaults, instead of the objects");
  command.add_option("--write-to", options->write_to, "File to write instead of standard output; all of it or nothing");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return GenerateCluster(Context{}, line.global(), *options, line.world()); });
}

void AddGenerate(CommandLine& line) {
  CLI::App& generate = line.Add(line.root(), "generate", "Print YAML for providers and workload clusters.");
  AddGenerateCluster(line, generate);
  AddGenerateProvider(line, generate);
  AddGenerateYaml(line, generate);
}

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
  CLI::App& alpha = line.Add(line.root(), "alpha",
                             "Commands whose form may still change.\n\n"
                             "Of those of Cluster API's clusterctl, `alpha topology plan` isn't offered.");
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

void AddWhy(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "why",
      "Say what holds a provider back, and what to do about it.\n\n"
      "The provider is one that capi-operator looks after, in any namespace. Where several have the name, each "
      "is told.",
      "  # By its name\n"
      "  clusterctl why aws\n\n"
      "  # One of two that have the name\n"
      "  clusterctl why bootstrapprovider/kubeadm\n");
  auto options = std::make_shared<WhyOptions>();
  command.add_option("PROVIDER", options->names, "aws, infrastructure-aws or infrastructureprovider/aws");
  command.add_option("-n,--namespace", options->ns, "Its namespace; without it all are looked through");
  command.add_option("-o,--output", options->output, "Output format, text, json or yaml")->capture_default_str();
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return Why(Context{}, line.global(), *options, line.world()); });
}

void AddHistory(CommandLine& line) {
  CLI::App& command =
      line.Add(line.root(), "history",
               "Print which releases of a provider were applied, the newest first, and what became of each.",
               "  # The last ten changes\n"
               "  clusterctl history aws\n");
  auto options = std::make_shared<HistoryOptions>();
  command.add_option("PROVIDER", options->names, "aws, infrastructure-aws or infrastructureprovider/aws");
  command.add_option("-n,--namespace", options->ns, "Its namespace; without it all are looked through");
  command.add_option("-o,--output", options->output, "Output format, text, json or yaml")->capture_default_str();
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return History(Context{}, line.global(), *options, line.world()); });
}

}  // namespace

void AddCommands(CommandLine& line) {
  AddAlpha(line);
  AddConfig(line);
  AddGenerate(line);
  AddGet(line);
  AddHistory(line);
  AddVersion(line);
  AddWhy(line);
  AddCompletion(line);
}

}  // namespace capi::cli
