// Whether providers can be installed beside those that are there: one of each, one core, contracts that fit. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/release.h"
#include "cli/frame/management_cluster.h"

namespace capi::cli {

// The contract of a provider at its version; an error where its metadata can't tell.
using ContractOf = std::function<Result<std::string>(const InstalledProvider& provider)>;

// kFailedPrecondition in clusterctl's words for the first thing that is wrong.
Status ValidateInstall(std::vector<InstalledProvider> installed, const std::vector<InstalledProvider>& queue,
                       const ContractOf& contract_of);

// The contract that metadata.yaml has for that version. kInvalidArgument names the series that there are.
Result<std::string> ContractInMetadata(const InstalledProvider& provider, const api::Metadata& metadata);
// Of a metadata.yaml that can't be read.
Error NoMetadata(const InstalledProvider& provider, const Error& why);

}  // namespace capi::cli
