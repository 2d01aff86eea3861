#include "cli/generate/commands.h"

#include <memory>
#include <tuple>

#include "cli/generate/generate_cluster.h"
#include "cli/generate/generate_provider.h"
#include "cli/generate/generate_yaml.h"

namespace capi::cli {
namespace {

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

}  // namespace

void AddGenerateCommands(CommandLine& line) {
  CLI::App& generate = line.Add(line.root(), "generate", "Print YAML for providers and workload clusters.");
  AddGenerateCluster(line, generate);
  AddGenerateProvider(line, generate);
  AddGenerateYaml(line, generate);
}

}  // namespace capi::cli
