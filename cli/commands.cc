#include "cli/commands.h"

#include <memory>

#include "cli/airgap/commands.h"
#include "cli/clusters/commands.h"
#include "cli/completion.h"
#include "cli/declare/commands.h"
#include "cli/describe/commands.h"
#include "cli/generate/commands.h"
#include "cli/install/commands.h"
#include "cli/local/commands.h"
#include "cli/local_clusters/commands.h"
#include "cli/man.h"
#include "cli/move/commands.h"
#include "cli/providers/commands.h"
#include "cli/remove/commands.h"
#include "cli/upgrade/commands.h"
#include "cli/version.h"

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

}  // namespace

void AddCommands(CommandLine& line) {
  AddInstallCommands(line);
  AddGenerateCommands(line);
  AddProviderCommands(line);
  AddClusterCommands(line);
  AddMoveCommands(line);
  AddDescribeCommands(line);
  AddDeclareCommands(line);
  AddAirGapCommands(line);
  AddRemovalCommands(line);
  AddUpgradeCommands(line);
  AddLocalCommands(line);
  AddLocalClusterCommands(line);
  AddVersion(line);
  AddCompletion(line);
  AddMan(line);
}

}  // namespace capi::cli
