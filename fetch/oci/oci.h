// Releases of a provider as artifacts of a registry (behaviour.md T9).
#pragma once

#include <memory>
#include <string_view>

#include "api/kinds.h"
#include "fetch/oci/registry.h"
#include "fetch/repository.h"

namespace capi::fetch {

// The repository that `reference` names (api/validate/oci_reference.h), for one provider. Without a tag and a digest
// each tag that is a version is a release; else it is that artifact alone, of the version that its tag or its files
// name, or of any where they name none. Files by their titles, as the peer finds them. Of each artifact the manifest is
// asked for once, and both files come from it. kInvalidArgument for what is no reference.
Result<std::unique_ptr<Repository>> OpenOci(std::string_view reference, api::ProviderType type, std::string_view name,
                                            const OciOptions& options);

}  // namespace capi::fetch
