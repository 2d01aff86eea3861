// A program that goes on when who started it has ended.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace capi::local {

// Starts `argv` (argv[0] is a path) in a session of its own: no terminal's Ctrl-C or end reaches it. It has this
// process's environment, nothing to read, none of the files that this process has open, and writes into `log`,
// appended. kNotFound where it can't be run. Its end is
// to be waited for as any child's.
Result<pid_t> StartDetached(const std::vector<std::string>& argv, const std::string& log);

}  // namespace capi::local
