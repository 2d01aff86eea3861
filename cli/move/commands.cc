#include "cli/move/commands.h"

#include <memory>

#include "cli/move/move.h"

namespace capi::cli {

void AddMoveCommands(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "move",
      "Move Clusters, with all that belongs to them, to another management cluster.\n\n"
      "That one needs the same providers, at the same versions or newer ones. A move that was interrupted goes\n"
      "on when it is run again, in either direction.",
      "  # All of a namespace\n"
      "  clusterctl move --namespace my-team --to-kubeconfig target.kubeconfig\n\n"
      "  # Into files, and out of them\n"
      "  clusterctl move --namespace my-team --to-directory backup\n"
      "  clusterctl move --from-directory backup --to-kubeconfig target.kubeconfig\n");
  auto options = std::make_shared<MoveOptions>();
  line.AddClusterFlags(command, options->from);
  command.add_option("--to-kubeconfig", options->to.kubeconfig, "The kubeconfig of the target");
  command.add_option("--to-kubeconfig-context", options->to.context,
                     "The context to use of it; without it the current one");
  command.add_option("-n,--namespace", options->ns, "What to move; without it the current namespace of the source");
  command.add_flag("--dry-run", options->dry_run, "Say what would be moved, and change nothing");
  command.add_option("--to-directory", options->to_directory,
                     "Write all into files of this folder; the source keeps it");
  command.add_option("--from-directory", options->from_directory, "Take all from files of this folder");
  command.add_flag(
      "--include-providers", options->include_providers,
      "Before all else create the operator's Provider objects, with their Secrets, where the target lacks\n"
      "them; the source keeps them");
  command.add_option("--hide-api-warnings", options->hide_warnings,
                     "Warnings of API servers that aren't told: \"default\" (about old versions and finalizers), "
                     "\"all\" or \"none\"");
  line.Finish(command, [&line, options] { return Move(Context{}, line.global(), *options, line.world()); });
}

}  // namespace capi::cli
