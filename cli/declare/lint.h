// `clusterctl lint`: checks Provider objects in files, and against their releases.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct LintOptions {
  std::vector<std::string> files;  // files, folders, "-"
  bool offline = false;
  bool strict = false;
  std::string output = "table";
};

// behaviour.md L19. The error says how many errors were found; they are printed before.
Status Lint(const Context& ctx, const GlobalOptions& global, const LintOptions& options, World& world);

}  // namespace capi::cli
