// The operator and the providers that `local up` brings into a plane that runs.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/live_lines.h"
#include "cli/frame/world.h"
#include "cli/install/choose.h"
#include "cli/install/installed.h"
#include "cli/local/declared.h"
#include "kube/client/client.h"
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

// Those that an `up` waits for: the ones that it names, and what else the plane has. A value.
struct AwaitedProviders {
  std::vector<api::ProviderId> named, others;
};

// Of those that have an object which nobody deletes. Pure.
AwaitedProviders AwaitedOf(const std::vector<PresentProvider>& present, const AskedProviders& asked);

// behaviour.md G1, of those that this run names: until the operator and their managers are ready in the run that there
// is, and then they, `timeout` for each. kFailedPrecondition where this run's operator doesn't go on with one.
Status AwaitNamed(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder,
                  const std::vector<api::ProviderId>& ids, Seconds timeout, LiveLines& lines);

// Of the others: waits for them in the same way, `timeout` for all their managers and as long for all of them. What
// isn't ready then, or is refused, is no error: what is to be said of it.
Result<std::vector<std::string>> AwaitOthers(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder,
                                             const std::vector<api::ProviderId>& ids, Seconds timeout,
                                             LiveLines& lines);

// Both, of all that aren't paused; warns of what AwaitOthers says.
Status AwaitProviders(const Context& ctx, const local::PlaneFolder& folder, const AskedProviders& asked, World& world);

}  // namespace capi::cli
