#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/completion_names.h"
#include "cli/completion_scripts.h"

namespace capi::cli {
namespace {

// The first line of a description, which a shell shows beside a word.
std::string WithAbout(const std::string& word, const std::string& about) {
  std::string first = about.substr(0, about.find('\n'));
  return first.empty() ? word : word + "\t" + first;
}

// The option that a word names, "--flag", "--flag=x" or "-f"; null for none.
CLI::Option* FindOption(const CLI::App* command, const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  std::string name = word.substr(0, word.find('='));
  for (const CLI::App* app = command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      if (option->check_name(name)) return const_cast<CLI::Option*>(option);
    }
  }
  return nullptr;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Where the words before the last one lead.
struct Place {
  CLI::App* command;
  const CLI::Option* wanted = nullptr;                      // whose value comes next; null for none
  size_t positionals = 0;                                   // that are there already
  std::vector<std::pair<std::string, std::string>> values;  // of flags, by their long name
};

Place Walk(CLI::App& root, const std::vector<std::string>& words) {
  Place place{&root, nullptr, 0, {}};
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.wanted != nullptr) {
      place.values.emplace_back(place.wanted->get_single_name(), word);
      place.wanted = nullptr;
      continue;
    }
    const CLI::Option* option = FindOption(place.command, word);
    if (option != nullptr) {
      size_t equals = word.find('=');
      if (equals != word.npos) place.values.emplace_back(option->get_single_name(), word.substr(equals + 1));
      if (equals == word.npos && TakesValue(*option)) place.wanted = option;
      continue;
    }
    CLI::App* next = word.starts_with('-') ? nullptr : FindCommand(*place.command, word);
    if (next != nullptr) place.command = next;
    if (next == nullptr && !word.starts_with('-')) ++place.positionals;
  }
  return place;
}

// One NAME or PROVIDER, or any number of RESOURCEs.
bool TakesName(const Place& place) {
  if (place.command->get_option_no_throw("RESOURCE") != nullptr) return true;
  bool one = place.command->get_option_no_throw("NAME") != nullptr ||
             place.command->get_option_no_throw("PROVIDER") != nullptr;
  return one && place.positionals == 0;
}

void AddFlags(const CLI::App* command, std::vector<std::string>& out) {
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames())
        out.push_back(WithAbout("--" + name, option->get_description()));
    }
  }
}

void AddSubcommands(CLI::App* command, std::vector<std::string>& out) {
  for (const CLI::App* sub : command->get_subcommands([](CLI::App* app) { return !app->get_group().empty(); }))
    out.push_back(WithAbout(sub->get_name(), sub->get_description()));
}

NameQuestion QuestionOf(CommandLine& line, const Place& place) {
  NameQuestion question;
  question.command = NameOf(*place.command);
  question.flag = place.wanted == nullptr ? "" : place.wanted->get_single_name();
  question.global = line.global();
  for (const auto& [name, value] : place.values) {
    if (name == "kubeconfig") question.cluster.kubeconfig = value;
    if (name == "kubeconfig-context") question.cluster.context = value;
    if (name == "namespace") question.ns = value;
    if (name == "config") question.global.config = value;
  }
  return question;
}

void AddShell(CommandLine& line, CLI::App& completion, const std::string& shell) {
  CLI::App& command =
      line.Add(completion, shell, fmt::format("Print the completion script for {}.", shell), UseOf(shell));
  line.Finish(command, [&line, shell]() -> Status {
    line.world().out << ScriptOf(shell);
    return Ok();
  });
}

}  // namespace

std::vector<std::string> Complete(CommandLine& line, const std::vector<std::string>& words) {
  std::vector<std::string> out;
  std::string last = words.empty() ? "" : words.back();
  Place place = Walk(line.root(), words);
  std::string before;  // what stands in the last word before its value: "--flag="
  if (size_t equals = last.find('='); place.wanted == nullptr && equals != last.npos) {
    place.wanted = FindOption(place.command, last);
    if (place.wanted != nullptr) before = last.substr(0, equals + 1);
  }
  if (place.wanted != nullptr) {
    for (const std::string& name : NamesFor(QuestionOf(line, place), line.world())) out.push_back(before + name);
  } else if (last.starts_with('-')) {
    AddFlags(place.command, out);
  } else {
    AddSubcommands(place.command, out);
    if (TakesName(place)) {
      for (std::string& name : NamesFor(QuestionOf(line, place), line.world())) out.push_back(std::move(name));
    }
  }
  std::erase_if(out, [&](const std::string& word) { return !word.starts_with(last); });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void AddCompletion(CommandLine& line) {
  CLI::App& completion =
      line.Add(line.root(), "completion", "Print what a shell needs to complete clusterctl's command lines.");
  for (const char* shell : {"bash", "fish", "powershell", "zsh"}) AddShell(line, completion, shell);
}

}  // namespace capi::cli
