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

// What a provider's selector finds. A value.
struct SelectedReleases {
  std::vector<api::StoredRelease> releases;       // without what they hold
  std::unique_ptr<fetch::Repository> repository;  // of these, as StoredRepository has it
};

// By spec.fetchConfig.selector, which `provider` has. kInvalidArgument for a selector that is none.
Result<SelectedReleases> FindSelected(const Context& ctx, kube::Client& client, const api::Provider& provider);

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
// What was stored under its name, by us, gives way to one that was fetched again (behaviour.md U8), or from another
// source (T12); what comes meanwhile is looked at first. At each moment the old one or the new one is there, whole
// (U7); a damaged one is whole again. Somebody else's ConfigMap of that name wins: kConflict where it holds another
// release, or lacks signatures that this one has; it is to be looked at then. kFailedPrecondition where it hasn't the
// labels to be found by, and so never is.
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
