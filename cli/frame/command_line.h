// What commands are made with: a command is a node of CLI11's tree, with the function that carries it out.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// The tree of commands while it is made, and what a command line chose of it. Must outlive the tree. Thread-compatible.
class CommandLine {
 public:
  using Function = std::function<Status()>;

  explicit CommandLine(World& world);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App& root() { return root_; }
  World& world() { return world_; }
  const GlobalOptions& global() const { return global_; }

  // A command below `parent`; `about` is what its help begins with, `examples` what it ends with.
  CLI::App& Add(CLI::App& parent, const std::string& name, const std::string& about, const std::string& examples = "");
  // --kubeconfig and --kubeconfig-context.
  void AddClusterFlags(CLI::App& command, ClusterOptions& cluster);
  // -o, of a command that reads and tells something. `more`: a format that it has beside those of all (structured.h).
  void AddOutputFlag(CLI::App& command, std::string& output, const std::string& more = "");
  // A flag whose values may be separated by commas, or given by repeating it.
  void AddListFlag(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                   const std::string& about);
  // To be called once the command has all its flags: of one that is repeated the last counts, but for lists. `function`
  // runs where a command line chooses the command.
  void Finish(CLI::App& command, Function function);

  // Exit codes of commands that say something by them, as `kubectl diff` does: else 0, and 1 for an error. `about`: all
  // of them, for the manual page.
  void set_success_code(int code) { success_code_ = code; }
  int success_code() const { return success_code_; }
  void SetErrorCode(const CLI::App& command, int code, std::string about) {
    exit_codes_[&command] = {code, std::move(about)};
  }
  int ErrorCode(const CLI::App& command) const;
  std::string ExitCodes(const CLI::App& command) const;

  // Of the command that was parsed; empty where it has none, being a group of others.
  const Function& chosen() const { return chosen_; }

 private:
  World& world_;
  CLI::App root_;
  GlobalOptions global_;
  Function chosen_;
  int success_code_ = 0;
  std::map<const CLI::App*, std::pair<int, std::string>> exit_codes_;
};

// The command of that name below `parent`; null for none.
CLI::App* FindCommand(CLI::App& parent, const std::string& name);

// "clusterctl generate provider".
std::string NameOf(const CLI::App& command);

}  // namespace capi::cli
