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

// Which files of a release are read.
enum class GitFiles { kAll, kMetadata };  // kMetadata: with what it was signed with, and no others

// The repository of `source`, for one provider: each tag that is a version is a release, with its files in the folder
// of `source`. Of a version the server is asked once, for its commit alone, and all its files are of that. `secret`:
// what git.secretRef names; what is wrong with it is told when the server would be asked. What a server that can't
// leave out files sends of one version, and that is too much, isn't asked for of another one. kInvalidArgument for a
// URL or a folder that is none.
Result<std::unique_ptr<Repository>> OpenGit(const api::GitSource& source,
                                            const std::map<std::string, std::string>& secret, api::ProviderType type,
                                            std::string_view name, const HttpOptions& options,
                                            GitFiles files = GitFiles::kAll);

}  // namespace capi::fetch
