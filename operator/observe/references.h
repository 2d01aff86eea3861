// Which references into other namespaces a provider may have (behaviour.md T1).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/validate/validate.h"
#include "base/context.h"
#include "operator/observe/settings.h"

namespace capi::ops {

// The key of this installation, with which admission makes records of who may refer where (api/reference_record.h).
using ReferenceKey = std::function<Result<std::string>(const Context&)>;

// Those that nobody may follow: all of them, or none where the operator allows all, or where the provider's record
// covers exactly these. The key is asked for only where there is a record to judge; null has none count. An error: it
// can't be read.
Result<std::vector<api::ForeignReference>> RefusedReferences(const Context& ctx, const api::Provider& provider,
                                                             const Settings& settings, const ReferenceKey& key);

}  // namespace capi::ops
