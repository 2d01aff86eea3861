#include "cli/man.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "base/this_build.h"
#include "cli/suggestions.h"

namespace capi::cli {
namespace {

// A line as troff prints it: a backslash and a hyphen are what they are, and no line is a request.
std::string Escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') out += "\\e";
    if (c == '-') out += "\\-";
    if (c != '\\' && c != '-') out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string Dashed(const CLI::App& command) {
  std::string out = NameOf(command);
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

// Paragraphs: lines with an empty one between them.
void AddText(std::string& out, std::string_view text) {
  for (const std::string& line : Split(text, '\n')) out += line.empty() ? ".PP\n" : Escape(line) + "\n";
}

std::string FirstLine(const CLI::App& command) {
  std::string about = command.get_description();
  about = about.substr(0, about.find('\n'));
  if (about.ends_with('.')) about.pop_back();
  return about;
}

// "-n, --target-namespace TEXT".
std::string NamesOf(const CLI::Option& option) {
  std::string out;
  for (const std::string& name : option.get_snames()) out += (out.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) out += (out.empty() ? "--" : ", --") + name;
  return option.get_items_expected_max() > 0 ? out + " VALUE" : out;
}

void AddOptions(std::string& out, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    out += fmt::format(".TP\n\\fB{}\\fR\n", Escape(NamesOf(*option)));
    AddText(out, option->get_description());
    if (!option->get_default_str().empty()) out += Escape(fmt::format("[{}]", option->get_default_str())) + "\n";
  }
}

std::vector<const CLI::App*> Below(const CLI::App& command) {
  auto out = command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->get_name() < b->get_name(); });
  return out;
}

void AddSynopsis(std::string& out, const CLI::App& command) {
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR", Escape(NameOf(command)));
  if (!Below(command).empty()) out += " COMMAND";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) out += fmt::format(" [{}]", Escape(option->get_name(true)));
  }
  out += " [flags]\n";
}

void AddArguments(std::string& out, const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    text += fmt::format(".TP\n\\fB{}\\fR\n", Escape(option->get_name(true)));
    AddText(text, option->get_description());
  }
  if (!text.empty()) out += ".SH ARGUMENTS\n" + text;
}

void AddCommandsBelow(std::string& out, const CLI::App& command) {
  auto below = Below(command);
  if (below.empty()) return;
  out += ".SH COMMANDS\n";
  for (const CLI::App* one : below) {
    out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", Escape(Dashed(*one)), Escape(FirstLine(*one)));
  }
}

// The footer of a command has its examples, for which troff must not fill lines.
void AddExamples(std::string& out, const CLI::App& command) {
  constexpr std::string_view kHead = "\nExamples:\n";
  std::string footer = command.get_footer();
  if (!footer.starts_with(kHead)) return;
  out += ".SH EXAMPLES\n.nf\n";
  for (const std::string& line : Split(footer.substr(kHead.size()), '\n')) out += Escape(line) + "\n";
  out += ".fi\n";
}

void AddPages(const CommandLine& line, const CLI::App& command, const std::string& version,
              std::map<std::string, std::string>& out) {
  out.emplace(Dashed(command) + ".1", ManPage(line, command, version));
  for (const CLI::App* one : Below(command)) AddPages(line, *one, version, out);
}

// The command that these words name.
Result<const CLI::App*> Find(CLI::App& root, const std::vector<std::string>& words) {
  CLI::App* command = &root;
  for (const std::string& word : words) {
    CLI::App* next = FindCommand(*command, word);
    if (next == nullptr) return Error{Code::kInvalidArgument, UnknownCommand(*command, word), {}};
    command = next;
  }
  return command;
}

Status WritePages(const std::map<std::string, std::string>& pages, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{Code::kInvalidArgument, fmt::format("--write-to {}: {}", folder, failed.message()), {}};
  for (const auto& [name, text] : pages) TRY(WriteFile(folder + "/" + name, text));
  return Ok();
}

}  // namespace

std::string ManPage(const CommandLine& line, const CLI::App& command, const std::string& version) {
  std::string name = Dashed(command), title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string out = fmt::format(".TH \"{}\" \"1\" \"\" \"clusterctl {}\" \"clusterctl\"\n.SH NAME\n{} \\- {}\n",
                                Escape(title), Escape(version), Escape(name), Escape(FirstLine(command)));
  AddSynopsis(out, command);
  out += ".SH DESCRIPTION\n";
  AddText(out, command.get_description());
  AddCommandsBelow(out, command);
  AddArguments(out, command);
  out += ".SH OPTIONS\n";
  AddOptions(out, command);
  const CLI::App* root = &command;
  while (root->get_parent() != nullptr) root = root->get_parent();
  if (root != &command) {
    out += ".SH OPTIONS OF ALL COMMANDS\n";
    AddOptions(out, *root);
  }
  out += fmt::format(".SH EXIT STATUS\n{}. An error stands on standard error.\n", Escape(line.ExitCodes(command)));
  AddExamples(out, command);
  if (command.get_parent() != nullptr)
    out += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", Escape(Dashed(*command.get_parent())));
  return out;
}

std::map<std::string, std::string> ManPages(const CommandLine& line, const CLI::App& command,
                                            const std::string& version) {
  std::map<std::string, std::string> out;
  AddPages(line, command, version, out);
  return out;
}

void AddMan(CommandLine& line) {
  CLI::App& command = line.Add(line.root(), "man",
                               "Print the manual page of a command.\n\n"
                               "With --write-to the pages of all commands are written, for a folder in MANPATH.",
                               "  # Read one\n"
                               "  clusterctl man generate provider | man -l -\n\n"
                               "  # Have man find all of them\n"
                               "  clusterctl man --write-to ~/.local/share/man/man1\n");
  auto words = std::make_shared<std::vector<std::string>>();
  auto folder = std::make_shared<std::string>();
  command.add_option("COMMAND", *words, "The command, without the word clusterctl; without it, clusterctl itself");
  command.add_option("--write-to", *folder, "Folder for the pages of all commands below COMMAND");
  line.Finish(command, [&line, words, folder]() -> Status {
    const CLI::App* meant = TRY(Find(line.root(), *words));
    const std::string version = ThisBuild().version;
    if (!folder->empty()) return WritePages(ManPages(line, *meant, version), *folder);
    line.world().out << ManPage(line, *meant, version);
    return Ok();
  });
}

}  // namespace capi::cli
