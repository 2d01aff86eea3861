// An operation of a JSON patch (RFC 6902): read in one place, so that what admission takes is what rendering carries
// out.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// How deep a patch may nest an object, and so how many steps a path may have.
inline constexpr size_t kMaxPatchDepth = 1'000;

// A value; it points into the operation that it was read from.
struct PatchOperation {
  std::string_view op, path;
  std::string_view from;        // of move and copy
  const Json* value = nullptr;  // of add, replace and test
};

// kInvalidArgument, saying what is wrong with it, for anything but one of the six operations with what it needs, and
// for one that no object can carry out: whole objects are only replaced, tested and copied from, and nothing moves into
// itself. Paths are JSON pointers (RFC 6901); whether they lead anywhere, only the object tells. One that is longer, or
// has more steps, than a way through an object is refused: read into its steps it takes many times its memory
// (behaviour.md F2).
Result<PatchOperation> ReadPatchOperation(const Json& operation);

}  // namespace capi::api
