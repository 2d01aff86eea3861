// The operator and the providers that `local up` brings into a plane that runs.
#pragma once

#include <vector>

#include "cli/frame/world.h"
#include "cli/install/choose.h"
#include "cli/install/installed.h"
#include "cli/local/declared.h"
#include "local/plane/plane_folder.h"

namespace capi::cli {

// What a command line asks for. A value.
struct AskedProviders {
  Declared declared;    // -f
  ProviderFlags flags;  // --provider
  int timeout = 300;    // seconds, for the operator and each provider
};

// Takes those out of `flags` that are installed: at the version that they name, for which nothing has to be fetched
// once more, or at whichever where they name none: the newest release may be another one by now, and `up` upgrades
// nothing. None before a core is recorded: then an `up` was broken off that goes on. Pure.
void TakeInstalled(const std::vector<PresentProvider>& present, ProviderFlags& flags);

// behaviour.md G1 and G2.
Status BringProviders(const Context& ctx, const GlobalOptions& global, const local::PlaneFolder& folder,
                      const AskedProviders& asked, World& world);

// Waits, `timeout` seconds for each, until all providers of the plane are Ready, whoever has named them, and their
// managers are ready in the run that there is. Those that are paused aren't waited for.
Status AwaitProviders(const Context& ctx, const local::PlaneFolder& folder, int timeout, World& world);

}  // namespace capi::cli
