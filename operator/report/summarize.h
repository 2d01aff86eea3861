// Status and events from what was observed and what was done. Pure; computed on every pass, also when nothing was to
// do, so that a condition can't stay wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/decide/hold.h"
#include "operator/decide/observation.h"
#include "operator/decide/upgrades/policy.h"
#include "operator/report/phases.h"

namespace capi::ops {

// What a pass did. Unset members leave the status as it was.
struct Done {
  std::optional<Hold> hold;  // why it went no further
  bool hands_off = false;
  bool loaded = false;     // it had the release: where its source was asked, that has answered (F5)
  bool removing = false;   // what it installed goes (X1)
  bool unpausing = false;  // the status takes back that the provider is paused
  bool again = false;      // another pass follows at once
  bool forget = false;     // the provider is gone (its finalizer is removed): no status to write
  std::string adopted;     // what was taken over, for an event
  std::optional<kube::Inventory> inventory;
  std::optional<std::string> applied, contract, installed_version, source, release_digest;
  std::optional<std::vector<std::string>> warnings;  // of the render
  std::optional<Fleet> fleet;                        // after an apply, instead of the observation's
  std::optional<Observation> now;                    // with its own writes to the provider, instead of what it saw
  std::optional<api::HistoryEntry> rollout;          // the change that was begun, sent, or given up
  std::optional<std::string> handled_reconcile_at;
  std::string chosen;                  // the version to which the policy has begun to go (U13)
  std::optional<Withdrawn> withdrawn;  // or couldn't
  std::optional<Millis> away;          // or it isn't known, since the API server is away: no sooner than it asks for
  std::optional<Millis> again_after;   // another pass, if nothing wakes the provider before
  PhaseTimes times;                    // of its parts, for metrics
  std::vector<std::string> restored;   // what drifted and is back, in words, for events
  std::vector<std::string> certified;  // certificates that were made or renewed, and the like, in words, for events
  std::vector<std::string> removed;    // ids of pruned or deleted objects, for an event
  std::vector<std::string> kept;       // that were to go but are another's: ids and whose, for an event
};

api::ProviderStatus Summarize(const Observation& o, const Done& done);

// The status after a pass that could not even observe (F1): all else stays as it was said. What passes by itself leaves
// a Ready provider ready. A removal that has begun stays known (X2).
api::ProviderStatus SummarizeUnseen(const api::Provider& provider, const Hold& hold, WallTime now);

struct Event {
  std::string type;  // "Normal" or "Warning"
  std::string reason, message;
  bool operator==(const Event&) const = default;
};

// What a person should hear of: the difference between two sets of conditions.
std::vector<Event> EventsOf(const api::ProviderStatus& was, const api::ProviderStatus& is, const Done& done);
// And what was done in the cluster, which stays so whatever becomes of the status.
std::vector<Event> EventsOfDone(const api::ProviderStatus& is, const Done& done);

}  // namespace capi::ops
