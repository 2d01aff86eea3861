// Which flags a program knows, by what it prints for --help (behaviour.md G5).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "local/node/command/arguments.h"
#include "local/programs/turns.h"

namespace capi::local {

// Asks each program once, as long as its file doesn't change. Thread-safe.
class ProgramHelp {
 public:
  // `folder`: where what programs of machine code answer is kept for the next node, made when it is needed; "":
  // nowhere. A script's answer may be that of what it starts, so it isn't kept.
  explicit ProgramHelp(std::string folder = "") : folder_(std::move(folder)) {}

  // Runs `path --help` in `folder`, with `environment` alone, for 5 s at most, then for 20 s, and until the context
  // stops. None where it says nothing of flags. What runs on counts by what it has printed until then, and is asked
  // again a minute later: it may have been too slow. kUnavailable, and nothing is kept, where it can't be run.
  Result<Flags> Of(const Context& ctx, const std::string& path, const std::string& folder,
                   const std::vector<std::string>& environment);

 private:
  // A value.
  struct Known {
    Flags flags;
    MonoTime until{};
  };
  std::optional<Flags> KnownFlags(const Context& ctx, const std::string& key) const;

  const std::string folder_;
  Turns asked_;  // of each program one at a time: the others wait
  mutable Mutex mu_;
  std::map<std::string, Known> known_ CAPI_GUARDED_BY(mu_);  // by path, size, time and inode
};

}  // namespace capi::local
