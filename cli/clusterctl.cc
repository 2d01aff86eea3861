#include "cli/clusterctl.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/http/url.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/printable.h"
#include "cli/plugins.h"
#include "cli/suggestions.h"

namespace capi::cli {
namespace {

// The command that was named, as far as it was.
const CLI::App& Deepest(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

// What to look at where the management cluster that a command is about doesn't answer; "" where something else failed.
std::string WhenAway(const CLI::App& command, const Error& error, const Getenv& getenv) {
  for (const std::string flag : {"--kubeconfig", "--to-kubeconfig"}) {
    const CLI::Option* kubeconfig = command.get_option_no_throw(flag);
    const CLI::Option* context = command.get_option_no_throw(flag + "-context");
    if (kubeconfig == nullptr || context == nullptr) continue;
    auto last = [](const CLI::Option& option) { return option.empty() ? "" : option.results().back(); };
    auto cluster = ManagementCluster::Open({last(*kubeconfig), last(*context)}, getenv);
    if (!cluster.ok()) continue;
    auto server = http::Url::Parse(cluster->client().config().server);
    if (!server.ok() || !IsAway(error, server->Origin())) continue;
    return fmt::format("\nIs the cluster up, and is this the right kubeconfig? ({0}, {0}-context)", flag);
  }
  return "";
}

int Fail(CommandLine& line, std::string_view message) {
  line.world().out.flush();
  std::vector<std::string> parts = Split(message, '\t');  // which are our own
  for (std::string& part : parts) part = Printable(part);
  line.world().err << "Error: " << Join(parts, "\t") << "\n" << std::flush;
  return line.ErrorCode(Deepest(line.root()));
}

// What is wrong with arguments that nothing takes; "" without any.
std::string Unknown(const CLI::App& root) {
  std::vector<std::string> rest = root.remaining(true);
  std::erase(rest, "--");  // behind which all are arguments
  if (rest.empty()) return "";
  const std::string& first = rest.front();
  if (first.starts_with("--")) return fmt::format("unknown flag: {}", first.substr(0, first.find('=')));
  if (first.starts_with("-") && first.size() > 1)
    return fmt::format("unknown shorthand flag: '{}' in {}", first[1], first);
  return UnknownCommand(Deepest(root), first);
}

// CLI11's errors in the words of clusterctl.
std::string Reword(const CLI::ParseError& error) {
  std::string_view message = error.what();
  constexpr std::string_view kConversion = "Could not convert: ";  // "... --v = x"
  if (error.get_name() == "ArgumentMismatch")
    return fmt::format("flag needs an argument: {}", message.substr(0, message.find(':')));
  size_t equals = message.find(" = ");
  if (!message.starts_with(kConversion) || equals == message.npos) return std::string(message);
  return fmt::format("invalid argument \"{}\" for flag {}", message.substr(equals + 3),
                     message.substr(kConversion.size(), equals - kConversion.size()));
}

// Errors are values here; what a library throws all the same, out of memory, say, is one, too.
Status Carry(const CommandLine::Function& command) {
  try {
    return command();
  } catch (const std::exception& thrown) {
    return Error{Code::kInternal, fmt::format("this is a mistake in clusterctl: {}", thrown.what()), {}};
  }
}

// The exit code.
int Run(CommandLine& line, std::vector<std::string> arguments) {
  World& world = line.world();
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    line.root().parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return line.root().exit(error, world.out, world.err);  // --help
    return Fail(line, Reword(error));
  }
  if (std::string unknown = Unknown(line.root()); !unknown.empty()) return Fail(line, unknown);
  if (!line.chosen()) {
    const CLI::App& command = Deepest(line.root());
    const CLI::App* parent = command.get_parent();
    world.out << command.help(parent == nullptr ? "" : NameOf(*parent)) << std::flush;
    return 0;
  }
  Status ended = Carry(line.chosen());
  if (!ended.ok()) {
    return Fail(line, ended.error().message + WhenAway(Deepest(line.root()), ended.error(), world.getenv));
  }
  if (world.out.flush()) return line.success_code();
  return Fail(line, "failed to write to standard output");
}

// One candidate a line; never an error, since a shell asks.
int PrintCompletions(CommandLine& line, const std::vector<std::string>& words) {
  for (const std::string& word : Complete(line, words)) line.world().out << word << "\n";
  line.world().out.flush();
  return 0;
}

// "--flag=" and "-f=value", which CLI11 reads otherwise than people mean them, as two arguments.
void AddArgument(std::string_view argument, std::vector<std::string>& out) {
  bool empty_value = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
  bool short_flag = argument.size() > 2 && argument[0] == '-' && argument[1] != '-' && argument[2] == '=';
  size_t equals = argument.find('=');
  out.emplace_back(empty_value || short_flag ? argument.substr(0, equals) : argument);
  if (empty_value || short_flag) out.emplace_back(argument.substr(equals + 1));
}

// "help a b" is "a b --help".
std::vector<std::string> Arguments(int argc, const char* const* argv) {
  std::vector<std::string> out;
  for (int i = 1; i < argc; ++i) AddArgument(argv[i], out);
  if (!out.empty() && out.front() == "help") {
    out.erase(out.begin());
    out.emplace_back("--help");
  }
  return out;
}

}  // namespace

int RunClusterctl(int argc, const char* const* argv, World world) {
  CommandLine line(world);
  AddCommands(line);
  std::vector<std::string> arguments = Arguments(argc, argv);
  if (!arguments.empty() && arguments.front() == "__complete") return PrintCompletions(line, {argv + 2, argv + argc});
  if (auto plugin = FindPlugin(line.root(), arguments, world.getenv)) return RunPlugin(*plugin, world);
  return Run(line, std::move(arguments));
}

}  // namespace capi::cli
