// Providers as `upgrade apply` names them: "aws:v2.11.1", "capa-system/aws:v2.11.1".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/frame/management_cluster.h"

namespace capi::cli {

// A value. `version` is as written, `ns` "" where none is named.
struct UpgradeReference {
  std::string ns, name, version;

  // kInvalidArgument in clusterctl's words. A reference with a namespace is in lower case, its version too.
  static Result<UpgradeReference> Parse(std::string_view text);
};

// The installed provider that it means: in its namespace, or in the only one that the provider is in. kInvalidArgument
// for one without a version; kFailedPrecondition for one that isn't installed, in clusterctl's words.
Result<size_t> FindInstalled(std::span<const InstalledProvider> installed, api::ProviderType type,
                             const UpgradeReference& reference, std::string_view text);

}  // namespace capi::cli
