// The versions of installed providers, from where each provider's releases come from.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cli/frame/config.h"
#include "cli/frame/provider_objects.h"
#include "cli/upgrade/upgrade_plan.h"
#include "fetch/git/git.h"
#include "fetch/repository.h"

namespace capi::cli {

// The provider object of an installed provider; null where it has none.
const ProviderObject* ObjectOf(std::span<const ProviderObject> objects, const InstalledProvider& provider);

// Where releases of a provider come from. `object` may be null. A value.
struct ProviderRepository {
  std::unique_ptr<fetch::Repository> repository;
  bool operator_reaches_it = false;  // it gets the same release by itself, but for overrides, which it doesn't see
  // Of two sources: why the second wasn't reached, once the versions were asked for. The repository's.
  const std::optional<Error>* unreached = nullptr;
};

// Not those in the cluster. With `fetchConfig.url` or `fetchConfig.oci`: that one. Else the configuration's source;
// with a selector nothing, unless this machine names it: by an entry in its file, a mirror, or files in the folder of
// overrides. Those go before those of a release, but not with `fetchConfig.oci`: they don't count there. An error for
// an object whose spec can't be read. `files`: of git. `cluster` and `notes` must outlive it.
Result<std::optional<ProviderRepository>> OpenNamed(const Context& ctx, const Config& config,
                                                    ManagementCluster& cluster, const InstalledProvider& provider,
                                                    const ProviderObject* object, Notes& notes,
                                                    fetch::GitFiles files = fetch::GitFiles::kAll);

// With a selector the ConfigMaps that it finds, and the one above where there is one, which may be out of reach. Else
// that one.
Result<ProviderRepository> OpenRepository(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                          const InstalledProvider& provider, const ProviderObject* object, Notes& notes,
                                          fetch::GitFiles files = fetch::GitFiles::kAll);

// By the metadata of the highest version.
Result<UpgradeInfo> ReadUpgradeInfo(const Context& ctx, fetch::Repository& repository,
                                    const InstalledProvider& provider);

// All of them, several at once, in their order. What can't be told of one is in its candidate; what is worth a
// person's attention is said.
std::vector<UpgradeCandidate> LookUpVersions(const Context& ctx, const Config& config, ManagementCluster& cluster,
                                             std::span<const InstalledProvider> installed,
                                             std::span<const ProviderObject> objects, Notes& notes);

}  // namespace capi::cli
