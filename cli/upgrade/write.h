// What `upgrade apply` and `rollback` write: variables, releases, and specs of provider objects.
#pragma once

#include <optional>
#include <string>

#include "cli/upgrade/target.h"

namespace capi::cli {

// On a provider object that was paused for a change of contract, and is to be unpaused when that is done.
inline constexpr std::string_view kAnnotationPausedForUpgrade = "operator.cluster.x-k8s.io/paused-for-upgrade";

// On a provider object whose rollback isn't done yet: a RollbackNote, "v1.11.0" or "v1.11.0 allow-downgrade".
inline constexpr std::string_view kAnnotationAllowedForRollback =
    "operator.cluster.x-k8s.io/allow-downgrade-for-rollback";

// A value.
struct RollbackNote {
  std::string to;      // where the rollback goes: with another version in the spec, somebody has gone elsewhere since
  bool leave = false;  // allow-downgrade is clusterctl's, which takes it away; else it is a person's, and stays
};
// Of any version. Pure.
std::optional<RollbackNote> RollbackNoteOf(const api::Provider& provider);

// A change of a provider object's spec and annotations. Pure.
struct SpecChange {
  std::string version;                                  // "" for none
  std::string secret;                                   // name for spec.configSecret; "" for none
  bool pause = false;                                   // and note that it was this command
  bool unpause = false;                                 // and take the note away
  std::optional<RollbackNote> begin_rollback;           // the note
  bool allow_downgrade = false;                         // the leave
  bool end_rollback = false, forbid_downgrade = false;  // takes the note away, and the leave too
};
Json PatchOf(const SpecChange& change);

// Puts them into the provider's Secret, beside what is there; makes the Secret where there is none. No value is ever
// part of an error.
Status PutVariables(const Context& ctx, kube::Client& client, const UpgradeTarget& target);

// Puts the release where the operator finds it. kConflict where somebody else's has come there since it was looked at.
Status PutRelease(const Context& ctx, kube::Client& client, const UpgradeTarget& target);

// For the object whose spec was looked at: where somebody has changed that meanwhile it is kFailedPrecondition, and
// nothing is written. What the operator writes into the status meanwhile does no harm, nor does just this change of the
// spec: it may be our own, whose answer was lost. The object as it is then.
Result<ProviderObject> ChangeSpec(const Context& ctx, kube::Client& client, const ProviderObject& seen,
                                  const SpecChange& change);

}  // namespace capi::cli
