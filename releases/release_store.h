// Releases kept in the cluster as ConfigMaps (behaviour.md I6, I14).
//
// Format: api/release_maps.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/release.h"
#include "api/release_maps.h"
#include "api/stored_release.h"
#include "api/types.h"
#include "fetch/repository.h"
#include "kube/client/client.h"

namespace capi::releases {

// Whether each of its two files has a signature with it (behaviour.md T14); not whether one is right.
bool IsSigned(const api::Release& release);

// A further ConfigMap of the same namespace, by its name. kNotFound.
using FindPart = std::function<Result<kube::Object>(const std::string& name)>;

// The release in a ConfigMap. Errors as those of ReadRelease.
Result<api::Release> ReadReleaseMap(const kube::Object& map, const FindPart& find);

// Reads a release back. kNotFound when it is gone; kInvalidArgument, with the ConfigMap's name, for a missing key, a
// bad gzip, a version that is none. Unknown keys are ignored.
Result<api::Release> ReadRelease(const Context& ctx, kube::Client& client, const api::StoredRelease& stored);

// Whether it is this that is wrong with what was read, and no outage.
bool IsNoRelease(const Error& error);

// The ConfigMaps among which a provider's releases are looked for: those that spec.fetchConfig.selector selects, or
// that have the labels of its own. Without what they hold. kInvalidArgument for a selector that is none.
Result<std::vector<api::StoredRelease>> ListStored(const Context& ctx, kube::Client& client,
                                                   const api::Provider& provider);

// A release that lies in the cluster. A value.
struct FoundRelease {
  api::Release release;
  std::string name;   // of its ConfigMap
  bool kept = false;  // somebody put it there: it isn't replaced
};

// A provider's release of that version, where the operator finds it: by spec.fetchConfig.selector, or by the labels of
// its own. Nothing where there is none. With `of_any_source` also one that isn't of its source (T12), as what runs may
// be. Errors as those of ReadRelease.
Result<std::optional<FoundRelease>> FindStored(const Context& ctx, kube::Client& client, const api::Provider& provider,
                                               const api::Version& version, bool of_any_source = false);

// Writes a fetched release as a ConfigMap owned by the provider: plain up to 1 MiB, gzip above, in parts above that.
// A ConfigMap of that name which is there already wins: kConflict where it holds another release, or lacks
// signatures that this one has; it is to be looked at then. kFailedPrecondition where it hasn't the labels to be found
// by, and so never is.
Result<api::StoredRelease> StoreRelease(const Context& ctx, kube::Client& client, const api::Provider& owner,
                                        const api::Release& release);

// The same for a release that was fetched again (behaviour.md U8), or from another source (T12): what was stored under
// its name, by us, gives way; what comes meanwhile is looked at first. Errors as those of StoreRelease. At each moment
// the old one or the new one is there, whole (U7); a damaged one is whole again.
Result<api::StoredRelease> ReplaceRelease(const Context& ctx, kube::Client& client, const api::Provider& owner,
                                          const api::Release& release);

// Whether ReplaceRelease would refuse what lies under the name of that version by now, with its words: for whoever
// writes more than the release, and checks all of it first.
Status CheckOwnName(const Context& ctx, kube::Client& client, const api::Provider& owner, const api::Version& version);

// The releases that a provider's selector found, as a repository: so "latest" means the same everywhere. Of several of
// one version the one that counts is read (I14). Lives no longer than `client`. Thread-compatible.
std::unique_ptr<fetch::Repository> StoredRepository(kube::Client& client, api::Provider provider,
                                                    std::vector<api::StoredRelease> releases, std::string description);

}  // namespace capi::releases
