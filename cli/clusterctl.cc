#include "cli/clusterctl.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <ostream>
#include <string>

#include "cli/version.h"

namespace capi::cli {
namespace {

// What a command prints on success.
using Command = std::function<Result<std::string>()>;

void AddVersion(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("version", "Print clusterctl version.");
  auto output = std::make_shared<std::string>();
  command->add_option("-o,--output", *output, "Output format; available options are 'yaml', 'json' and 'short'");
  command->callback([&chosen, output] { chosen = [output] { return FormatVersion(ThisBuild(), *output); }; });
}

}  // namespace

int RunClusterctl(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("clusterctl controls the lifecycle of Cluster API providers.", "clusterctl");
  app.require_subcommand(1);
  Command chosen;
  AddVersion(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, out, err);  // --help
    err << "Error: " << error.what() << "\n";
    return 1;
  }
  Result<std::string> printed = chosen();
  if (!printed.ok()) {
    err << "Error: " << printed.error().message << "\n";
    return 1;
  }
  out << *printed << std::flush;
  return 0;
}

}  // namespace capi::cli
