// What to do next, from an Observation alone. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "api/release.h"
#include "operator/hold.h"
#include "operator/observation.h"

namespace capi::ops {

// Annotation cluster.x-k8s.io/paused: touch nothing (P4).
struct HandsOff {};
// Before anything else is written, so that a deletion can't be missed.
struct AddFinalizer {};
// Remove what the provider brought (X1).
struct Remove {};
// The inputs are not those of the last apply, or something that was applied is gone (D1): resolve, fetch, render,
// apply.
struct Install {
  std::string inputs;  // digest, as far as it is known before a version is resolved
};
// Everything new is healthy: remove what the release no longer has (U4).
struct Prune {};
// Nothing to write.
struct Steady {};

using Step = std::variant<HandsOff, AddFinalizer, Remove, Install, Prune, Steady, Hold>;

Step Decide(const Observation& o);

// Digest of everything that decides what is applied; equal digests mean that no render is needed.
// "" while no version is resolved.
std::string InputsDigest(const Observation& o);
std::string InputsDigest(const Observation& o, const api::Version& version, std::string_view release_stamp);

// The stored release that spec.version names, or the one that was fetched for it.
const StoredRelease* WantedRelease(const Observation& o);

}  // namespace capi::ops
