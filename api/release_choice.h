// Which one counts of several releases of one version that lie in the cluster (behaviour.md I14). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "api/stored_release.h"
#include "api/types.h"

namespace capi::api {

// Of the releases that are found for a provider, the one of that version that counts; null for none. Where there are
// several it is the one of the name that the operator gives its own: what it writes in the place of another one counts
// from then on (T14), whatever that is called; else the first by its name. With `of_any_source` also one that isn't of
// its source (T12).
const StoredRelease* ReleaseThatCounts(const std::vector<StoredRelease>& found, const Provider& provider,
                                       std::string_view version, bool of_any_source = false);

// Whether a spec names one release alone, of which there is no other version: by its digest, or as an artifact with a
// tag or a digest of its own.
bool NamesOneRelease(const ProviderSpec& spec);

}  // namespace capi::api
