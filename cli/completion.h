// `clusterctl completion`: what a shell needs to complete command lines. The scripts ask `clusterctl __complete
// WORDS...`, which answers from the table of commands and, for names, from the configuration and the cluster.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command_line.h"

namespace capi::cli {

// Adds `completion`, with a command for each shell, and the hidden `__complete`.
void AddCompletion(CommandLine& line);

// What may stand in the place of the last word, with a tab and a description behind it where there is one; sorted.
// `words` are those behind "clusterctl".
std::vector<std::string> Complete(CommandLine& line, const std::vector<std::string>& words);

}  // namespace capi::cli
