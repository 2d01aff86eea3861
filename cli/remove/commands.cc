#include "cli/remove/commands.h"

#include <memory>
#include <tuple>

#include "cli/remove/delete.h"

namespace capi::cli {
namespace {

constexpr std::string_view kAboutDelete =
    "Delete one or more providers from the management cluster.\n\n"
    "A provider that capi-operator looks after is deleted by it; one that clusterctl installed is removed from here.\n"
    "What users made stays, and so do the CRDs and the namespace unless they are asked for. A provider that workload\n"
    "clusters use isn't deleted.";

constexpr std::string_view kExamples =
    "  # Which objects would go\n"
    "  clusterctl delete --infrastructure aws --dry-run\n\n"
    "  # One provider\n"
    "  clusterctl delete --infrastructure aws\n\n"
    "  # With its kinds, of which no object may be left, and its namespace with all that is in it\n"
    "  clusterctl delete --infrastructure aws --include-crd --include-namespace\n\n"
    "  # All providers, and the operator last\n"
    "  clusterctl delete --all\n";

void AddProviderFlags(CommandLine& line, CLI::App& command, DeleteOptions& options) {
  using enum api::ProviderType;
  const std::tuple<const char*, api::ProviderType, const char*> flags[] = {
      {"--core", kCore, "Core provider (cluster-api)"},
      {"-b,--bootstrap", kBootstrap, "Bootstrap providers (kubeadm), separated by commas, or the flag repeated"},
      {"-c,--control-plane", kControlPlane, "Control plane providers (kubeadm)"},
      {"-i,--infrastructure", kInfrastructure, "Infrastructure providers (aws, or aws:v2.11.1: that version alone)"},
      {"--ipam", kIpam, "IPAM providers (in-cluster)"},
      {"--runtime-extension", kRuntimeExtension, "Runtime extension providers (nutanix)"},
      {"--addon", kAddon, "Add-on providers (helm)"},
  };
  for (const auto& [flag, type, about] : flags) line.AddListFlag(command, flag, options.names[type], about);
}

}  // namespace

void AddRemovalCommands(CommandLine& line) {
  CLI::App& command = line.Add(line.root(), "delete", std::string(kAboutDelete), std::string(kExamples));
  auto options = std::make_shared<DeleteOptions>();
  AddProviderFlags(line, command, *options);
  command.add_flag("--all", options->all, "All providers, and after them capi-operator where clusterctl may remove it");
  command.add_option("-n,--namespace", options->ns, "The providers' namespace, where two have the same name");
  command.add_flag("--include-crd", options->crds, "Delete the providers' CRDs too; no object of them may be left");
  command.add_flag("--include-namespace", options->namespaces,
                   "Delete the providers' namespaces too, with all that is in them");
  command.add_flag("--force", options->force,
                   "Delete providers that workload clusters or other providers need; asks first on a terminal");
  command.add_flag("-y,--yes", options->yes, "Don't ask");
  command.add_flag("--dry-run", options->dry_run, "Print what would be deleted, and change nothing");
  command.add_option("--wait-timeout", options->wait_seconds, "Seconds to wait for what the operator deletes")
      ->capture_default_str()
      ->check(CLI::Range(1, 86'400));
  command.add_flag("--operator", options->with_operator,
                   "--operator=false: leave nothing to capi-operator, also where it looked after a provider before it "
                   "was removed itself");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return Delete(Context{}, line.global(), *options, line.world()); });
}

}  // namespace capi::cli
