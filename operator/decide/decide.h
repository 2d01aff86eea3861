// What to do next, from an Observation alone. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/release.h"
#include "operator/decide/hold.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// Annotation cluster.x-k8s.io/paused: touch nothing (P4).
struct HandsOff {};
// Before anything else is written, so that a deletion can't be missed.
struct AddFinalizer {};
// Remove what the provider brought (X1).
struct Remove {};
// Deleted without an inventory, though something of it is there: find out what, before anything is removed (U11).
struct Rebuild {};
// The inputs are not those of the last apply, or something drifted (D1) and the last render isn't at hand: resolve,
// fetch, render, apply.
struct Install {
  std::string inputs;              // digest, as far as it is known before a version is resolved
  std::vector<Drift> drifts = {};  // to be restored first, in case the installation is refused
  std::string rollback_to = "";    // instead of spec.version, which failed (U5); "" otherwise
};
// Something isn't as it was applied (D1), and the render it came from is at hand or can be made again. A rule that
// stops all else (`hold`) is reported still: what was applied is kept even while the next change can't be.
struct Restore {
  std::vector<Drift> drifts;
  std::optional<Hold> hold;
};
// Take over what another tool installed, without a change to what runs (A1, A2).
struct Adopt {};
// Everything new is healthy: remove what the release no longer has (U4).
struct Prune {};
// A pause begins or ends: live workloads go to zero, or come back (P1).
struct Scale {
  std::vector<kube::ObjectId> workloads;
  bool up = false;
};
// The status takes back that the provider is paused, before the first pod comes back: others rely on it (C5). Nor does
// it say any more that everything is applied: the counts of a pause aren't, so that an Install follows it (P1).
struct Unpause {};
// The policy goes to another version (U13): it is installed, if nothing refuses that.
struct Upgrade {
  std::string version;
};
// Certificates that are made here are to be renewed or mended, or trusted (I19).
struct Certify {
  std::vector<kube::ObjectId> due;  // Secrets, and objects with CA bundles
};
// Who makes the provider's certificates changes: what asks for them and what holds them goes over, nothing else (I19).
struct HandOver {};
// Nothing to write.
struct Steady {};

// The workloads are sent and not all healthy yet; their events wake the provider (U5).
struct Await {
  Millis left, elapsed;            // of spec.rollout.timeout
  std::vector<Drift> drifts = {};  // to be restored meanwhile (D1)
};
// They weren't healthy in time: say what is wrong, and remember it for these inputs (U5).
struct GiveUp {};
// Everything is healthy: bring objects that are stored at older versions to the one that is stored now (U3).
struct Migrate {};

using Step = std::variant<HandsOff, AddFinalizer, Rebuild, Remove, Install, Restore, Prune, Steady, Hold, Scale,
                          Unpause, Await, GiveUp, Migrate, Adopt, Upgrade, Certify, HandOver>;

// "Install": for the log.
std::string_view NameOf(const Step& step);

// One line of the table that Decide goes through, in order: the first rule that names a step ends it. A value.
struct StepRule {
  enum class When { kAlways, kDeleted, kAlive };
  std::string_view name;  // "U4.prune": the rule of docs/behaviour.md
  When when;
  bool AppliesTo(const Observation& o) const {
    return when == When::kAlways || (when == When::kDeleted) == o.provider.deleting;
  }
  std::optional<Step> (*next)(const Observation&);
};
std::span<const StepRule> StepRules();

Step Decide(const Observation& o);

// Digest of everything that decides what is applied; equal digests mean that no render is needed.
// "" while no version is resolved.
std::string InputsDigest(const Observation& o);
std::string InputsDigest(const Observation& o, const api::Version& version, std::string_view release_stamp);
// Of such a digest what says which change it is: with other keys to verify a release by (T14) nothing else is applied.
std::string_view WithoutKeys(std::string_view inputs);

// The stored release that spec.version names, or the one that was fetched for it. With `of_any_source` also one that
// isn't of what spec.fetchConfig.oci names now (T12).
const StoredRelease* WantedRelease(const Observation& o, bool of_any_source = false);

// The stored release that was applied, where nothing but spec.version has changed since: rendered again it gives what
// was applied. Null for none.
const StoredRelease* AppliedRelease(const Observation& o);

}  // namespace capi::ops
