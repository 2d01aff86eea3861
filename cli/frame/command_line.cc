#include "cli/frame/command_line.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace capi::cli {
namespace {

constexpr std::string_view kAbout =
    "clusterctl makes a cluster a management cluster of Cluster API, upgrades and removes its providers, moves "
    "workload\n"
    "clusters, and prints what releases and templates hold.";

void TakeLast(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    bool list = option->get_delimiter() != '\0';
    if (!option->get_positional() && !list) option->take_last();
  }
}

}  // namespace

CommandLine::CommandLine(World& world) : world_(world), root_(std::string(kAbout), "clusterctl") {
  root_.allow_extras();  // they get clusterctl's words (clusterctl.cc)
  root_.add_option("--config", global_.config,
                   "Path or URL (http, https) of the configuration file; without it "
                   "$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml, where there is one");
  root_.add_option("-v,--v", global_.verbosity,
                   "How much to say on standard error, 0 to 5; takes precedence over CLUSTERCTL_LOG_LEVEL");
  TakeLast(root_);
}

CLI::App& CommandLine::Add(CLI::App& parent, const std::string& name, const std::string& about,
                           const std::string& examples) {
  CLI::App* command = parent.add_subcommand(name, about);
  // With a limit no word behind a command is taken for another one above it: a cluster may be called `version`.
  parent.require_subcommand(0, 1);
  command->fallthrough();  // global flags may stand anywhere
  command->allow_extras();
  if (!examples.empty()) command->footer("\nExamples:\n" + examples);
  return *command;
}

void CommandLine::AddClusterFlags(CLI::App& command, ClusterOptions& cluster) {
  command.add_option("--kubeconfig", cluster.kubeconfig,
                     "The kubeconfig of the management cluster; without it $KUBECONFIG, then ~/.kube/config");
  command.add_option("--kubeconfig-context", cluster.context, "The context to use of it; without it the current one");
}

void CommandLine::Finish(CLI::App& command, Function function) {
  TakeLast(command);
  // Of a command that has others below it, the one that was named last; its own function is called after theirs.
  command.callback([this, &command, function = std::move(function)] {
    if (command.get_subcommands().empty()) chosen_ = function;
  });
}

void CommandLine::AddOutputFlag(CLI::App& command, std::string& output, const std::string& more) {
  command
      .add_option(
          "-o,--output", output,
          fmt::format("Output format: table (or text), wide, name, json{} or yaml", more.empty() ? "" : ", " + more))
      ->capture_default_str();
}

void CommandLine::AddListFlag(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                              const std::string& about) {
  command.add_option(names, values, about)->allow_extra_args(false)->delimiter(',');
}

int CommandLine::ErrorCode(const CLI::App& command) const {
  auto found = exit_codes_.find(&command);
  return found == exit_codes_.end() ? 1 : found->second.first;
}

std::string CommandLine::ExitCodes(const CLI::App& command) const {
  auto found = exit_codes_.find(&command);
  return found == exit_codes_.end() ? "0, or 1 where something failed" : found->second.second;
}

CLI::App* FindCommand(CLI::App& parent, const std::string& name) {
  auto found = parent.get_subcommands([&](CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::string NameOf(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? "clusterctl" : NameOf(*parent) + " " + command.get_name();
}

}  // namespace capi::cli
