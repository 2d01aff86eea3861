#include "cli/install/commands.h"

#include <memory>

#include "cli/install/init.h"
#include "cli/install/list_images.h"
#include "cli/install/upgrade_operator.h"

namespace capi::cli {
namespace {

void AddCommonFlags(CommandLine& line, CLI::App& command, InitOptions& options) {
  AddProviderFlags(line, command, options.providers, true);
  command
      .add_option("--install-cert-manager", options.cert_manager,
                  "false leaves cert-manager out: neither installed nor waited for")
      ->capture_default_str();
  command.add_option("--operator-image", options.operator_image,
                     "The operator's image in your registry; without it the configuration file's");
  command.add_flag("--operator", options.with_operator,
                   "--operator=false: install the providers from here, and leave no operator in the cluster");
}

// Flags count in front of the word list-images, too.
void AddListImages(CommandLine& line, CLI::App& init, const std::shared_ptr<InitOptions>& options) {
  CLI::App& command = line.Add(init, "list-images",
                               "Print the images that init brings into a cluster, one a line.\n\n"
                               "No cluster is asked; without flags these are the images of the first time.",
                               "  # For the AWS provider\n"
                               "  clusterctl init list-images --infrastructure aws\n");
  AddCommonFlags(line, command, *options);
  line.AddOutputFlag(command, options->output);
  line.Finish(command, [&line, options] { return ListInitImages(Context{}, line.global(), *options, line.world()); });
}

void AddInit(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "init",
      "Make a cluster a management cluster: install cert-manager, the operator and providers.\n\n"
      "At the first time the core provider, and kubeadm for bootstrap and control plane, are installed beside those "
      "that\n"
      "are named. Variables of the providers' releases are taken from the environment, then from the configuration "
      "file.\n"
      "What is there already is left alone; broken off, the same command goes on.",
      "  # The newest release of the AWS provider, with Cluster API's own\n"
      "  clusterctl init --infrastructure aws\n\n"
      "  # Certain versions, and wait until they are ready\n"
      "  clusterctl init --core cluster-api:v1.12.0 --infrastructure aws:v2.11.1,docker:v1.12.0 --wait-providers\n\n"
      "  # With the operator's image in a registry of your own\n"
      "  clusterctl init --infrastructure aws --operator-image registry.example.com/capi-operator:v0.1.0\n");
  auto options = std::make_shared<InitOptions>();
  AddCommonFlags(line, command, *options);
  command.add_option("-n,--target-namespace", options->target_namespace,
                     "Namespace for all providers; without it the one of each release");
  command.add_flag("--wait-providers", options->wait_providers, "Wait until the providers are ready");
  command
      .add_option("--wait-provider-timeout", options->wait_provider_timeout,
                  "For how many seconds to wait for each of them")
      ->capture_default_str();
  command
      .add_option("--validate", options->validate,
                  "false goes on though providers don't fit each other: the operator may refuse them")
      ->capture_default_str();
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return Init(Context{}, line.global(), *options, line.world()); });
  AddListImages(line, command, options);
}

void AddUpgradeOperator(CommandLine& line) {
  CLI::App* found = FindCommand(line.root(), "upgrade");
  CLI::App& upgrade = found != nullptr ? *found : line.Add(line.root(), "upgrade", "Upgrade a management cluster.");
  CLI::App& command =
      line.Add(upgrade, "operator",
               "Upgrade the operator to the version of this clusterctl.\n\n"
               "Its manifests are part of this program. Providers don't restart.",
               "  # From the image in your registry\n"
               "  clusterctl upgrade operator --operator-image registry.example.com/capi-operator:v0.1.0\n");
  auto options = std::make_shared<UpgradeOperatorOptions>();
  command.add_option("--operator-image", options->operator_image,
                     "The operator's image in your registry; without it the configuration file's");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return UpgradeOperator(Context{}, line.global(), *options, line.world()); });
}

}  // namespace

void AddProviderFlags(CommandLine& line, CLI::App& command, ProviderFlags& providers, bool defaults) {
  using enum api::ProviderType;
  struct Kind {
    const char* flag;
    api::ProviderType type;
    const char* about;
    const char* without;  // where none is named
  };
  const Kind kinds[] = {
      {"--core", kCore, "Core provider, as NAME[:VERSION] (cluster-api:v1.12.0)",
       "; by default cluster-api at the first time"},
      {"-b,--bootstrap", kBootstrap, "Bootstrap providers (kubeadm:v1.12.0)",
       "; by default kubeadm at the first time, - for none"},
      {"-c,--control-plane", kControlPlane, "Control plane providers (kubeadm:v1.12.0)",
       "; by default kubeadm at the first time, - for none"},
      {"-i,--infrastructure", kInfrastructure, "Infrastructure providers (aws:v2.11.1)", ""},
      {"--ipam", kIpam, "IPAM providers (in-cluster:v1.0.3)", ""},
      {"--runtime-extension", kRuntimeExtension, "Runtime extension providers (nutanix:v0.2.0)", ""},
      {"--addon", kAddon, "Add-on providers (helm:v0.4.0)", ""},
  };
  for (const Kind& kind : kinds) {
    const std::string about = std::string(kind.about) + (defaults ? kind.without : "");
    line.AddListFlag(command, kind.flag, providers[kind.type], about);
  }
}

void AddInstallCommands(CommandLine& line) {
  AddInit(line);
  AddUpgradeOperator(line);
}

}  // namespace capi::cli
