// Errors for what was mistyped, and for whom no cluster answers.
#pragma once

#include <string>

#include "cli/frame/command_line.h"

namespace capi::cli {

// That `command` has no command `name`, and those whose names are like it.
std::string UnknownCommand(const CLI::App& command, const std::string& name);

// How many characters have to be put in, taken away or changed to make one of the other.
size_t Distance(std::string_view a, std::string_view b);

// Whether the error is that of a request that this server (an origin) didn't answer, or not in time.
bool IsAway(const Error& error, const std::string& server);

}  // namespace capi::cli
