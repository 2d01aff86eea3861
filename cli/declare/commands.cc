#include "cli/declare/commands.h"

#include <memory>

#include "cli/declare/adopt.h"
#include "cli/declare/convert.h"
#include "cli/declare/diff/diff.h"
#include "cli/declare/lint.h"

namespace capi::cli {
namespace {

void AddLint(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "lint",
      "Check Provider objects in files, before they reach a cluster.\n\n"
      "Each is checked as the API server and the operator's webhook would, and against its release: the "
      "version is there,\nits contract fits the core provider of the same files, every variable has a value, "
      "every patch an object.\nThe exit code is 1 where there is an error. With -o name each object that something is "
      "found in is a line, like\n\"CoreProvider capi-system/cluster-api\", or the file where it is about no "
      "one object.",
      "  # A file, and all files of a folder\n"
      "  clusterctl lint providers.yaml clusters/management\n\n"
      "  # In CI: without a network, warnings count, and a report for code scanning\n"
      "  clusterctl lint --offline --strict -o sarif clusters/management > lint.sarif\n");
  auto options = std::make_shared<LintOptions>();
  command.add_option("FILE", options->files, "Files and folders; - is standard input");
  command.add_flag("--offline", options->offline, "Leave out releases that aren't on this machine");
  command.add_flag("--strict", options->strict, "Take warnings for errors");
  line.AddOutputFlag(command, options->output, "sarif");
  line.Finish(command, [&line, options] { return Lint(Context{}, line.global(), *options, line.world()); });
  line.SetErrorCode(command, 1,
                    "0, or 1 where there is an error in the files (with --strict, or a warning), or something failed");
}

void AddConvert(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "convert",
      "Write what runs in a management cluster as files for a GitOps repository.\n\n"
      "Each provider becomes a Provider object of capi-operator at the version that is installed: those that "
      "clusterctl\ninstalled, and those that are such objects already. Values of variables stay where they are: "
      "the files name the\nSecrets and their keys.",
      "  # To look at\n"
      "  clusterctl convert\n\n"
      "  # Into a folder that isn't there yet, with a kustomization.yaml\n"
      "  clusterctl convert --output-dir clusters/management/providers\n");
  auto options = std::make_shared<ConvertOptions>();
  command.add_option("--output-dir", options->output_dir,
                     "A folder for the files, empty or not there; without it they are printed");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return Convert(Context{}, line.global(), *options, line.world()); });
}

void AddAdopt(CommandLine& line) {
  CLI::App& command = line.Add(
      line.root(), "adopt",
      "Have capi-operator take over providers that clusterctl installed.\n\n"
      "Each gets a Provider object at the version that is installed. Nothing that runs is changed, and nothing "
      "restarts.\nVariables are read back from what is live; those that stand nowhere come from the environment "
      "or the configuration.",
      "  # What would be made\n"
      "  clusterctl adopt --all --dry-run\n\n"
      "  # The core provider and one more\n"
      "  clusterctl adopt cluster-api aws\n");
  auto options = std::make_shared<AdoptOptions>();
  command.add_option("PROVIDER", options->names, "aws, infrastructure-aws or infrastructureprovider/aws; several");
  command.add_flag("--all", options->all, "All that clusterctl installed");
  command.add_flag("--dry-run", options->dry_run, "Print the objects, and write nothing");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options] { return Adopt(Context{}, line.global(), *options, line.world()); });
}

void AddDiff(CommandLine& line) {
  CLI::App& command =
      line.Add(line.root(), "diff",
               "Print what an apply of another version, or of a Provider file, would change in the cluster.\n\n"
               "As `kubectl diff` prints it: added and pruned objects, too, and the values of Secrets masked. The API "
               "server itself is\nasked (dry run), so that its defaults are no differences. The exit code is 0 for no "
               "difference, 1 for some, and 2\nfor an error.",
               "  # What an upgrade would change\n"
               "  clusterctl diff aws:v2.11.1\n\n"
               "  # What the next commit would change\n"
               "  clusterctl diff -f clusters/management/providers\n\n"
               "  # What somebody changed by hand\n"
               "  clusterctl diff aws\n");
  auto options = std::make_shared<DiffOptions>();
  command.add_option("PROVIDER", options->names,
                     "aws, infrastructure-aws or infrastructureprovider/aws, with :VERSION");
  CLI::Option* files = command.add_option("-f,--filename", options->files,
                                          "Files and folders with Provider objects, repeatable; - is standard input");
  files->allow_extra_args(false);
  command.add_option("-n,--namespace", options->ns,
                     "Its namespace; without it all are looked through, and files that name none mean the current one");
  line.AddClusterFlags(command, options->cluster);
  line.Finish(command, [&line, options]() -> Status {
    line.set_success_code(TRY(Diff(Context{}, line.global(), *options, line.world())) ? 1 : 0);
    return Ok();
  });
  files->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  line.SetErrorCode(command, 2, "0 where nothing differs, 1 where something does, and 2 where something failed");
}

}  // namespace

void AddDeclareCommands(CommandLine& line) {
  AddLint(line);
  AddConvert(line);
  AddAdopt(line);
  AddDiff(line);
}

}  // namespace capi::cli
