// Releases of a provider as tags of a git repository (behaviour.md T15).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "api/types.h"
#include "fetch/repository.h"

namespace capi::fetch {

// The repository of `source`, for one provider: each tag that is a version is a release, with its files in the folder
// of `source`. Of a version the server is asked once, for its commit alone, and all its files are of that. `secret`:
// what git.secretRef names; what is wrong with it is told when the server would be asked. kInvalidArgument for a URL
// or a folder that is none.
Result<std::unique_ptr<Repository>> OpenGit(const api::GitSource& source,
                                            const std::map<std::string, std::string>& secret, api::ProviderType type,
                                            std::string_view name, const HttpOptions& options);

}  // namespace capi::fetch
