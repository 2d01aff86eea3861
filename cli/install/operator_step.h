// The operator's part of init and upgrade operator: which version is there, and which may be put beside or over it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/version.h"
#include "base/context.h"
#include "cli/frame/config.h"
#include "cli/operator_manifests/installation.h"
#include "kube/client/client.h"

namespace capi::cli {

// Of an operator of another patch version that is half installed: this program's manifests would mix the two.
// kFailedPrecondition with what completes it. Pure.
Status CheckSameVersion(const InstalledOperator& there, const api::Version& own);

// Refuses another image by the flag than that of the operator that is there: init doesn't change it. Pure.
Status CheckSameImage(const InstalledOperator& there, const std::string& flag);

// What upgrade operator has to do. Pure. kFailedPrecondition where it may not: Helm's, or a newer one.
enum class OperatorUpgrade { kNothing, kApply };
Result<OperatorUpgrade> DecideUpgrade(const InstalledOperator& there, const api::Version& own,
                                      const std::string& image);

// The image of --operator-image, else of the configuration (key capi-operator-image), else that of the manifests with
// the image overrides.
Result<std::string> ConfiguredOperatorImage(const Config& config, const std::string& flag);

// Installs the operator, or what an interrupted installation left out of it; doesn't wait for it.
Status InstallOperator(const Context& ctx, kube::Client& client, const std::string& image, Notes& notes);

// Waits, five minutes at most, until the operator in this namespace is available, and says so where it isn't yet, or
// was `applied` just now.
Status AwaitRollout(const Context& ctx, kube::Client& client, const std::string& ns, bool applied, Notes& notes);

}  // namespace capi::cli
