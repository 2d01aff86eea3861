// Where our `generate provider` differs from the real one's on purpose: the one table of it, which docs/parity.md
// prints.
#pragma once

#include <span>
#include <string_view>

#include "e2e/parity/generate.h"

namespace capi::e2e {

// A value. At most one of the two functions is set; with neither, the exception occurs in no real release, and none is
// forgiven it.
struct ParityException {
  std::string_view name;
  std::string_view real, ours;  // what each does
  std::string_view why;

  // Rewrites an object that the real one printed as ours should have it; says whether there was anything to do.
  bool (*amend)(Json& real, const Json& ours) = nullptr;
  // Whether this is why one of them fails, or fails in another way. What the real one did counts as much as ours: a
  // refusal of ours alone explains nothing.
  bool (*fails)(const Printed& real, const Printed& ours, Mode mode) = nullptr;
};

std::span<const ParityException> ParityExceptions();

// Removes the empty parts that Go's structures write out and `ours` hasn't (`status: {}`, `strategy: {}`, `resources:
// {}` and the like, of Deployments, DaemonSets, CRDs and webhook configurations). They say nothing: objects that differ
// in nothing else are equal.
void DropEmptyParts(Json& real, const Json& ours);

}  // namespace capi::e2e
