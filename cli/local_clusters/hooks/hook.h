// A hook: a program of the user's that gets objects on its standard input.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"

namespace capi::cli::local_clusters {

// A value.
struct HookRun {
  std::string path;
  std::string input;                     // for its standard input
  std::vector<std::string> environment;  // "NAME=value", beside or instead of this process's
  // Gets its standard error as it comes.
  std::function<void(std::string_view)> on_words;
};

// Runs it, without a terminal, to its end and returns its standard output, 64 MiB at most. kFailedPrecondition with the
// exit code or signal where that isn't 0; kDeadlineExceeded or kCancelled where `ctx` ends first: it, and what it has
// started, gets SIGTERM then, and SIGKILL five seconds later. What it has started ends with it, too (SIGKILL). It dies
// with this process, however that ends; what it has started doesn't where this process is killed by SIGKILL. Neither
// input nor output is in an error, since both may hold credentials. To be called in the thread that lives as long as
// the process.
Result<std::string> RunHook(const Context& ctx, const HookRun& run);

}  // namespace capi::cli::local_clusters
