// `clusterctl local up`: brings a plane up, with the operator and providers in it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/frame/world.h"
#include "cli/install/choose.h"
#include "local/plane/plane_folder.h"
#include "local/plane/settings.h"

namespace capi::cli {

// The flags. A value.
struct LocalUpOptions {
  std::string folder;                    // --dir
  std::vector<std::string> files;        // -f
  std::vector<std::string> providers;    // --provider: TYPE/NAME[:VERSION]
  std::vector<std::string> binaries;     // --binary: IMAGE=PATH
  std::vector<std::string> builds;       // --build: IMAGE=MODULE@VERSION
  std::vector<std::string> environment;  // --env: names
  std::string programs;                  // --programs
  std::string timeout = "5m";            // PositiveDuration
};

// "infrastructure/docker:v1.12.1" and the like, by type. kInvalidArgument names the types.
Result<ProviderFlags> ParseProviderFlags(const std::vector<std::string>& texts);

// Whether all variables are set that managers get: no value of them is kept, so who starts a supervisor has to have
// them. kInvalidArgument names one that isn't (behaviour.md G2).
Status CheckVariables(const local::Settings& settings, const Getenv& getenv);

// Says where programs of images would run as root. `user`: who runs the plane (behaviour.md G9).
void WarnOfRoot(uid_t user, Notes& notes);

// The lines that a person copies to work with the plane. Puts its entries right in the person's kubeconfig, and warns
// where that can't be (behaviour.md G1).
std::string WayIn(const local::PlaneFolder& folder, Notes& notes);

// behaviour.md G1 and G2.
Status LocalUp(const Context& parent, const GlobalOptions& global, const LocalUpOptions& options, World& world);

}  // namespace capi::cli
