// Which flags a program knows, by what it prints for --help (behaviour.md G5).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "local/node/arguments.h"

namespace capi::local {

// Asks each program once, as long as its file doesn't change. Thread-safe.
class ProgramHelp {
 public:
  // Runs `path --help` in `folder`, with `environment` alone, for 5 s at most, then for 20 s, and until the context
  // stops. None where it says nothing of flags; what runs on without a word of them may have been too slow, and is
  // asked again a minute later. kUnavailable, and nothing is kept, where it can't be run, or was cut off in the middle.
  Result<Flags> Of(const Context& ctx, const std::string& path, const std::string& folder,
                   const std::vector<std::string>& environment);

 private:
  // A value.
  struct Known {
    Flags flags;
    MonoTime until{};
  };
  Mutex mu_;
  std::map<std::string, Known> known_ CAPI_GUARDED_BY(mu_);  // by path, size and time
};

// A port that nobody listens on, whatever the address; 0 where there is none.
int FreePort();

}  // namespace capi::local
