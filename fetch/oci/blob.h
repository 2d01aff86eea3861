// What manifests name, by its digest (behaviour.md T9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "fetch/oci/registry.h"

namespace capi::fetch {

// kFailedPrecondition for another one, and for a digest of a kind that isn't checked.
Status CheckOciDigest(std::string_view digest, std::string_view body);

// As a manifest has it. A value.
struct OciBlob {
  std::string_view what, digest;  // `what`: for people
  std::int64_t size = -1;
  size_t most = 0;        // bytes that are read
  bool optional = false;  // see OciCall
};

// With that digest and size. kUnavailable for one that was cut off on its way: it may come whole. kFailedPrecondition
// for another one, and where the manifest is at odds with itself; kInvalidArgument for one that is too large.
Result<std::string> ReadOciBlob(const Context& ctx, OciRegistry& registry, const OciBlob& blob);

}  // namespace capi::fetch
