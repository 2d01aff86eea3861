// Errors for what was mistyped.
#pragma once

#include <string>

#include "cli/frame/command_line.h"

namespace capi::cli {

// That `command` has no command `name`, and those whose names are like it.
std::string UnknownCommand(const CLI::App& command, const std::string& name);

// How many characters have to be put in, taken away or changed to make one of the other.
size_t Distance(std::string_view a, std::string_view b);

}  // namespace capi::cli
