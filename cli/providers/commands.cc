#include "cli/providers/commands.h"

#include <memory>

#include "cli/providers/config_repositories.h"
#include "cli/providers/history.h"
#include "cli/providers/why.h"

namespace capi::cli {
namespace {

void AddConfig(CommandLine& line) {
  CLI::App& config = line.Add(line.root(), "config", "Show clusterctl's configuration.");
  CLI::App& command = line.Add(config, "repositories",
                               "Print the providers that clusterctl knows, and where their releases come from.\n\n"
                               "The configuration file adds some, or names other places (key `providers`).",
                               "  # All of them\n"
                               "  clusterctl config repositories\n\n"
                               "  # The same as YAML\n"
                               "  clusterctl config repositories -o yaml\n");
  auto output = std::make_shared<std::string>("text");  // the default that Cluster API's has, and says
  line.AddOutputFlag(command, *output);
  line.Finish(command, [&line, output] { return ConfigRepositories(Context{}, line.global(), *output, line.world()); });
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
  line.AddOutputFlag(command, options->output);
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
  line.AddOutputFlag(command, options->output);
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return History(Context{}, line.global(), *options, line.world()); });
}

}  // namespace

void AddProviderCommands(CommandLine& line) {
  AddConfig(line);
  AddHistory(line);
  AddWhy(line);
}

}  // namespace capi::cli
