// Plug-ins: programs clusterctl-NAME in PATH that stand for commands that clusterctl hasn't.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command_line.h"

namespace capi::cli {

// A value.
struct Plugin {
  std::string path;
  std::vector<std::string> arguments;
};

// The plug-in that a command line means: where its first word is no command, of the words before the first flag as many
// as there is a program for, "clusterctl-foo-bar" before "clusterctl-foo"; dashes in them are underscores there. The
// rest are its arguments. nullopt for a command line of clusterctl's own.
std::optional<Plugin> FindPlugin(CLI::App& root, const std::vector<std::string>& words, const Getenv& getenv);

// Puts the plug-in in the place of this process; it returns, with exit code 1 and an error, only where that fails.
int RunPlugin(const Plugin& plugin, World& world);

}  // namespace capi::cli
