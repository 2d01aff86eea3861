#include "cli/upgrade/commands.h"

#include <memory>
#include <tuple>

#include "cli/upgrade/apply.h"
#include "cli/upgrade/plan.h"
#include "cli/upgrade/rollback.h"

namespace capi::cli {
namespace {

void AddPlan(CommandLine& line, CLI::App& upgrade) {
  CLI::App& command =
      line.Add(upgrade, "plan",
               "Print which providers could be upgraded, and to which versions, contract by contract.\n\n"
               "It asks the management cluster and where the releases come from, and changes nothing.",
               "  # What could be upgraded\n"
               "  clusterctl upgrade plan\n\n"
               "  # The same for programs\n"
               "  clusterctl upgrade plan -o json\n");
  auto options = std::make_shared<UpgradePlanOptions>();
  line.AddOutputFlag(command, options->output);
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return PrintUpgradePlan(Context{}, line.global(), *options, line.world()); });
}

// Each may be repeated, and holds several with commas between them.
void AddProviderFlags(CLI::App& command, UpgradeApplyOptions& options) {
  using enum api::ProviderType;
  const std::tuple<const char*, api::ProviderType, const char*> kinds[] = {
      {"--core", kCore, "Core provider and version, as [NAMESPACE/]NAME:VERSION (cluster-api:v1.12.0)"},
      {"-b,--bootstrap", kBootstrap, "Bootstrap providers and versions (kubeadm:v1.12.0)"},
      {"-c,--control-plane", kControlPlane, "Control plane providers and versions (kubeadm:v1.12.0)"},
      {"-i,--infrastructure", kInfrastructure, "Infrastructure providers and versions (aws:v2.11.1)"},
      {"--ipam", kIpam, "IPAM providers and versions (in-cluster:v1.0.3)"},
      {"--runtime-extension", kRuntimeExtension, "Runtime extension providers and versions (nutanix:v0.2.0)"},
      {"--addon", kAddon, "Add-on providers and versions (helm:v0.4.0)"},
  };
  for (const auto& [flag, type, about] : kinds) {
    CLI::Option* option = command.add_option(flag, options.providers[type], about);
    option->delimiter(',')->allow_extra_args(false);
  }
}

// Of a repeated flag the last counts, but of these all.
void TakeAll(CLI::App& command) {
  for (const char* flag :
       {"--core", "--bootstrap", "--control-plane", "--infrastructure", "--ipam", "--runtime-extension", "--addon"})
    command.get_option(flag)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddApply(CommandLine& line, CLI::App& upgrade) {
  CLI::App& command = line.Add(
      upgrade, "apply",
      "Upgrade providers that the operator looks after; with --operator=false those that it doesn't.\n\n"
      "With --contract all go to the newest version of that contract; else those that are named go to the versions "
      "that "
      "are\nnamed. All is checked before anything is written. Where the contract changes, the providers are paused "
      "meanwhile.",
      "  # All of them, as `clusterctl upgrade plan` says\n"
      "  clusterctl upgrade apply --contract v1beta2\n\n"
      "  # What that would change\n"
      "  clusterctl upgrade apply --contract v1beta2 --dry-run\n\n"
      "  # Some of them, and wait until they are ready\n"
      "  clusterctl upgrade apply --core cluster-api:v1.12.0 --infrastructure aws:v2.11.1 --wait-providers\n");
  auto options = std::make_shared<UpgradeApplyOptions>();
  command.add_option("--contract", options->contract, "The contract to go to, v1beta2");
  AddProviderFlags(command, *options);
  command.add_flag("--wait-providers", options->wait_providers, "Wait until the providers are ready, too");
  command
      .add_option("--wait-provider-timeout", options->wait_provider_timeout,
                  "Seconds to wait for the next provider to get there")
      ->capture_default_str();
  command.add_flag("--dry-run", options->dry_run, "Print what would change, and write nothing");
  command.add_flag("--operator", options->with_operator,
                   "--operator=false: upgrade providers that were installed without capi-operator, from here");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return ApplyUpgrade(Context{}, line.global(), *options, line.world()); });
  TakeAll(command);
}

void AddRollback(CommandLine& line) {
  CLI::App& command =
      line.Add(line.root(), "rollback",
               "Bring a provider back to the last version that was good.\n\n"
               "The version is the newest in its history that came up, other than the one that is declared now.",
               "  # To the version before\n"
               "  clusterctl rollback aws\n\n"
               "  # To one that is named, without a question\n"
               "  clusterctl rollback infrastructureprovider/aws --to-version v2.0.2 --yes\n");
  auto options = std::make_shared<RollbackOptions>();
  command.add_option("PROVIDER", options->names, "aws, infrastructure-aws or infrastructureprovider/aws");
  command.add_option("-n,--namespace", options->ns, "Its namespace; without it all are looked through");
  command.add_option("--to-version", options->to_version, "The version; without it the last good one");
  command.add_flag("--yes", options->yes, "Don't ask");
  command.add_flag("--dry-run", options->dry_run, "Print what would change, and write nothing");
  command.add_flag("--wait-providers", options->wait_providers, "Wait until the provider is ready, too");
  command.add_option("--wait-provider-timeout", options->wait_provider_timeout, "Seconds to wait")
      ->capture_default_str();
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return Rollback(Context{}, line.global(), *options, line.world()); });
}

}  // namespace

void AddUpgradeCommands(CommandLine& line) {
  CLI::App* upgrade = FindCommand(line.root(), "upgrade");  // another room may have made it for a command of its own
  if (upgrade == nullptr) upgrade = &line.Add(line.root(), "upgrade", "Upgrade what a management cluster has.");
  AddPlan(line, *upgrade);
  AddApply(line, *upgrade);
  AddRollback(line);
}

}  // namespace capi::cli
