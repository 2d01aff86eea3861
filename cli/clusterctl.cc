#include "cli/clusterctl.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "cli/generate_provider.h"
#include "cli/version.h"

namespace capi::cli {
namespace {

constexpr std::string_view kAbout =
    "clusterctl prints what a Cluster API provider's release holds, ready to be applied to a management cluster.";
constexpr std::string_view kGenerateProviderAbout =
    "Print the objects of a provider's release as YAML.\n\n"
    "The release comes from the provider's repository. ${VARIABLES} in it take their values from the environment, "
    "then\n"
    "from the configuration file; images are replaced as its key `images` says.";
constexpr std::string_view kGenerateProviderExamples =
    "\nExamples:\n"
    "  # The newest release of the AWS provider\n"
    "  clusterctl generate provider --infrastructure aws\n\n"
    "  # A version of it, in another namespace than its own\n"
    "  clusterctl generate provider --infrastructure aws:v2.11.1 --target-namespace aws\n\n"
    "  # Which variables and images it has\n"
    "  clusterctl generate provider --infrastructure aws --describe\n\n"
    "  # Its objects with the variables left in\n"
    "  clusterctl generate provider --infrastructure aws --raw\n";

// One command line: what was asked for is known after Parse.
class CommandLine {
 public:
  explicit CommandLine(World& world) : world_(world) {
    app_.allow_extras();  // they get clusterctl's words below
    app_.add_option("--config", global_.config,
                    "Path or URL (http, https) of the configuration file; without it "
                    "$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml, where there is one");
    app_.add_option("-v,--v", global_.verbosity,
                    "How much to say on standard error, 0 to 5; takes precedence over CLUSTERCTL_LOG_LEVEL");
    TakeLast(app_);
    AddVersion();
    AddGenerate();
  }

  // The exit code.
  int Run(std::vector<std::string> arguments) {
    try {
      std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app_.exit(error, world_.out, world_.err);  // --help
      return Fail(Reword(error));
    }
    if (std::string unknown = Unknown(); !unknown.empty()) return Fail(unknown);
    if (!chosen_) {
      const CLI::App* command = Deepest();
      const CLI::App* parent = command->get_parent();
      world_.out << command->help(parent == nullptr ? "" : NameOf(parent)) << std::flush;
      return 0;
    }
    Status ended = chosen_();
    if (!ended.ok()) return Fail(ended.error().message);
    if (world_.out.flush()) return 0;
    return Fail("failed to write to standard output");
  }

 private:
  int Fail(std::string_view message) {
    world_.out.flush();
    world_.err << "Error: " << message << "\n" << std::flush;
    return 1;
  }

  // Of repeated flags the last one counts.
  static void TakeLast(CLI::App& command) {
    for (CLI::Option* option : command.get_options()) option->take_last();
  }

  CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& about) {
    CLI::App* command = parent.add_subcommand(name, about);
    command->fallthrough();  // global flags may stand anywhere
    command->allow_extras();
    return command;
  }

  void AddVersion() {
    CLI::App* command = AddCommand(app_, "version", "Print clusterctl version.");
    auto output = std::make_shared<std::string>();
    command->add_option("-o,--output", *output, "Output format; available options are 'yaml', 'json' and 'short'");
    command->callback([this, output] {
      chosen_ = [this, output]() -> Status {
        world_.out << TRY(FormatVersion(ThisBuild(), *output));
        return Ok();
      };
    });
    TakeLast(*command);
  }

  void AddGenerate() {
    CLI::App* generate = AddCommand(app_, "generate", "Print YAML for providers.");
    CLI::App* command = AddCommand(*generate, "provider", std::string(kGenerateProviderAbout));
    command->footer(std::string(kGenerateProviderExamples));
    auto options = std::make_shared<GenerateProviderOptions>();
    using enum api::ProviderType;
    const std::tuple<const char*, api::ProviderType, const char*> kinds[] = {
        {"--core", kCore, "Core provider, as NAME[:VERSION] (cluster-api:v1.12.0)"},
        {"-b,--bootstrap", kBootstrap, "Bootstrap provider (kubeadm:v1.12.0)"},
        {"-c,--control-plane", kControlPlane, "Control plane provider (kubeadm:v1.12.0)"},
        {"-i,--infrastructure", kInfrastructure, "Infrastructure provider (aws:v2.11.1)"},
        {"--ipam", kIpam, "IPAM provider (in-cluster:v1.0.3)"},
        {"--runtime-extension", kRuntimeExtension, "Runtime extension provider (nutanix:v0.2.0)"},
        {"--addon", kAddon, "Add-on provider (helm:v0.4.0)"},
    };
    for (const auto& [flag, type, about] : kinds) command->add_option(flag, options->providers[type], about);
    command->add_option("-n,--target-namespace", options->target_namespace,
                        "Namespace for the objects; without it the release's own");
    command->add_flag("--describe", options->describe,
                      "Print name, URL, version, namespace, variables and images instead of the objects");
    command->add_flag("--raw", options->raw, "Print the objects with their ${VARIABLES} as they are");
    command->add_option("--write-to", options->write_to,
                        "File to write instead of standard output; all of it or nothing");
    command->callback([this, options] {
      chosen_ = [this, options] { return GenerateProvider(Context{}, global_, *options, world_); };
    });
    TakeLast(*command);
  }

  // The command that was named, as far as it was.
  CLI::App* Deepest() {
    CLI::App* command = &app_;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return command;
  }

  std::string NameOf(const CLI::App* command) const {
    if (command->get_parent() == nullptr) return "clusterctl";
    return NameOf(command->get_parent()) + " " + command->get_name();
  }

  // What is wrong with arguments that nothing takes; "" without any.
  std::string Unknown() {
    std::vector<std::string> rest = app_.remaining(true);
    if (rest.empty()) return "";
    const std::string& first = rest.front();
    if (first.starts_with("--")) return fmt::format("unknown flag: {}", first.substr(0, first.find('=')));
    if (first.starts_with("-") && first.size() > 1)
      return fmt::format("unknown shorthand flag: '{}' in {}", first[1], first);
    std::string name = NameOf(Deepest());
    return fmt::format("unknown command \"{}\" for \"{}\"\nRun '{} --help' for usage.", first, name, name);
  }

  // CLI11's errors in the words of clusterctl.
  static std::string Reword(const CLI::ParseError& error) {
    std::string_view message = error.what();
    constexpr std::string_view kConversion = "Could not convert: ";  // "... --v = x"
    if (error.get_name() == "ArgumentMismatch")
      return fmt::format("flag needs an argument: {}", message.substr(0, message.find(':')));
    size_t equals = message.find(" = ");
    if (!message.starts_with(kConversion) || equals == message.npos) return std::string(message);
    return fmt::format("invalid argument \"{}\" for flag {}", message.substr(equals + 3),
                       message.substr(kConversion.size(), equals - kConversion.size()));
  }

  World& world_;
  CLI::App app_{std::string(kAbout), "clusterctl"};
  GlobalOptions global_;
  std::function<Status()> chosen_;
};

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
  return CommandLine(world).Run(Arguments(argc, argv));
}

}  // namespace capi::cli
