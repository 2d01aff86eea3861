// Where a command's result goes: standard output, or a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace capi::cli {

// Into the file at `path`, whole or not at all: a reader never sees half of it. A symbolic link stays one. A new file
// is for its owner alone (results may hold credentials); what is no regular file (/dev/null, a pipe) is written to.
Status WriteOutputFile(const std::string& path, std::string_view content);
// The same of one that comes piece by piece, and is read before it is kept: kInvalidArgument for what is no file.
Result<std::unique_ptr<NewFile>> NewOutputFile(const std::string& path);

}  // namespace capi::cli
