// `clusterctl man`: manual pages, made from the table of commands.
#pragma once

#include <map>
#include <string>

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds `man`.
void AddMan(CommandLine& line);

// The page of a command as man(7) reads it; `version` stands in its footer.
std::string ManPage(const CommandLine& line, const CLI::App& command, const std::string& version);

// The pages of a command and all below it, by the name of the file: "clusterctl-generate-provider.1".
std::map<std::string, std::string> ManPages(const CommandLine& line, const CLI::App& command,
                                            const std::string& version);

}  // namespace capi::cli
