// How container images are named, as container runtimes read it. Pure.
#pragma once

#include <string>

#include "api/validate/oci_reference.h"
#include "base/result.h"

namespace capi::fetch {

// "[host[:port]/]repository[:tag][@sha256:<hex>]"; without a host it is Docker Hub's. kInvalidArgument for what is
// none.
Result<api::OciReference> ParseImageName(const std::string& image);

}  // namespace capi::fetch
