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

// Takes those out of `flags` that name no version and are installed, at whichever: the newest release may be another
// one by now, and `up` upgrades nothing. Their ids. None before a core is recorded: then an `up` was broken off that
// goes on. Pure.
std::vector<api::ProviderId> TakeInstalled(const std::vector<PresentProvider>& present, ProviderFlags& flags);

// behaviour.md G1 and G2. Returns once all are Ready.
Status BringProviders(const Context& ctx, const GlobalOptions& global, const local::PlaneFolder& folder,
                      const AskedProviders& asked, World& world);

}  // namespace capi::cli
