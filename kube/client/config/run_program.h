// Runs a program to its end and keeps what it prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/context.h"

namespace capi::kube {

struct Program {
  std::string command;  // a path, or a name to look up in PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // beside this process's, or instead
  bool interactive = false;  // it gets our standard input, and its standard error is shown as it comes
};

struct ProgramOutput {
  int exit_code = 0;  // 128 + the signal that ended it
  std::string out;
  std::string err;  // its last 4 KiB
};

// kNotFound where there is no such program; kInvalidArgument for more than 4 MiB of output. A context that ends kills
// it.
Result<ProgramOutput> RunProgram(const Context& ctx, const Program& program);

}  // namespace capi::kube
