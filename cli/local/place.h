// Where a plane lives on this machine.
#pragma once

#include <string>

#include "cli/frame/command_line.h"
#include "cli/frame/world.h"
#include "local/plane/plane_folder.h"

namespace capi::cli {

// For CLI::Option::check: what is said of an empty value, "" of any other one. A shell's variable that isn't set means
// more than was meant: the user's own plane, or the Clusters of all namespaces.
std::string CheckHasValue(const std::string& value);

// --dir of every command below `local`.
void AddFolderFlag(CommandLine& line, CLI::App& command, std::string& folder);

// `flag`, or without it the user's own: $XDG_DATA_HOME/cluster-api/local, ~/.local/share/cluster-api/local without that
// variable. kInvalidArgument without a home.
Result<std::string> PlaneFolderPath(const std::string& flag, const Getenv& getenv);

// " --dir PATH" for a command that a person is told, where it would mean another plane without it; "" elsewhere.
std::string DirFlag(const local::PlaneFolder& folder, const Getenv& getenv);

// The plane that lives there. kNotFound where none does.
Result<local::PlaneFolder> OpenPlane(const std::string& flag, const Getenv& getenv);

}  // namespace capi::cli
