// Releases of which nothing is given out that isn't verified (behaviour.md T14).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "api/release.h"
#include "fetch/repository.h"
#include "verify/keys.h"

namespace capi::releases {

// Whether metadata and components were both signed by one of the keys: each by itself, or the artifact that has them as
// the files of this provider and version. kFailedPrecondition says what wasn't, and why not.
Status Verify(const verify::PublicKeys& keys, const api::ProviderId& id, const api::Release& release);

// A repository whose files are verified before they are given, each with its signatures. Lives no longer than the keys.
// Thread-safe. Errors are those of the repository, and of Verify.
std::unique_ptr<fetch::Repository> VerifiedRepository(std::unique_ptr<fetch::Repository> repository,
                                                      const verify::PublicKeys& keys, api::ProviderId id);

}  // namespace capi::releases
