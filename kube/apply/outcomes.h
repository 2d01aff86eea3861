// What became of each object of a round of requests. Used inside this folder.
#pragma once

#include <optional>
#include <vector>

#include "kube/apply/apply.h"

namespace capi::kube {

// Of the object of the same index; nothing where it was never tried. A value.
struct Outcome {
  std::optional<Change> change;
  std::optional<Error> error;
};

Outcome Failed(const ObjectId& id, const Error& error);

// Adds the changes that there are.
void Collect(const std::vector<Outcome>& outcomes, std::vector<Change>& changes);

// "17 of 40 objects failed: A: why; B: why; and so did C, D and 13 more". Transient wins: another try may do more, and
// will name the rest again. kPermissionDenied it is only where all are: with that right the others would still fail.
// The longest Retry-After counts (docs/behaviour.md F5).
Status Summarize(const std::vector<Outcome>& outcomes);

}  // namespace capi::kube
