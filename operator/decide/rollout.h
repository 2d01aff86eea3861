// A change of what is applied, from its first request until everything new is healthy, as status.history tells it
// (behaviour.md U2, U5). Pure.
//
// Format: docs/formats.md, "History".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/decide/decide.h"

namespace capi::ops {

// The last change, when it is the one to `inputs`; null for none.
const api::HistoryEntry* RolloutOf(const api::ProviderStatus& status, std::string_view inputs);

// Whether that change, or with `rollback` the way back from it, was announced before: what of the inventory the release
// no longer has is decided then (U4, U11).
bool IsAnnounced(const api::ProviderStatus& status, std::string_view inputs, bool rollback);

// The newest release that came up and has another version than `failed`; null for none.
const api::HistoryEntry* LastGood(const api::ProviderStatus& status, const api::HistoryEntry& failed);

// What the change to `inputs` asks for: to wait on, to give up, to roll back, to hold what failed before. nullopt: it
// is none of these, and whatever else is due comes.
std::optional<Step> FollowRollout(const Observation& o, const std::string& inputs);

// The last change is through: its workloads came up, and nothing is left of what was there before.
bool HasRolledOut(const Observation& o);

// What is left of the time of a change that isn't over (spec.rollout.timeout); nullopt without one, and once it is
// over.
std::optional<Millis> RolloutEndsIn(const Observation& o);

// The entry with which a change to `inputs` begins, or goes on after an interruption: with the time of its start,
// and as failed where it has failed.
api::HistoryEntry BeginRollout(const Observation& o, std::string inputs, std::string version, std::string contract,
                               std::string digest);

// Something of the change is sent, and its workloads are awaited. What failed has failed until they come up.
void MarkSent(api::HistoryEntry& entry, bool rollback);

// The change that failed, on its way back to the last good release. Where it was back already, it was so since then.
api::HistoryEntry RollbackEntry(const Observation& o);

// Puts `entry` in front, in place of one for the same inputs that hadn't succeeded. At most ten stay.
void PutEntry(std::vector<api::HistoryEntry>& history, api::HistoryEntry entry);

// The front entry has succeeded; with the one below it is one when both are the same release.
void Succeed(std::vector<api::HistoryEntry>& history, WallTime now);

// Whether what a policy has begun ends with this pass, which `reason` holds: its time is over, and the last pass was
// refused, too. One refusal may be the end of an outage, or the first look of a leader after another one died (U13).
bool IsRefusedTooLate(const Observation& o, std::string_view reason);

// The entry in front once its time is over, and it is to be rolled back, which can't begin yet, or is refused too late:
// its message says that, and what isn't healthy. That there is a message is what FollowRollout goes by.
api::HistoryEntry EndTime(const Observation& o);

// The change in front wasn't healthy in time: remembered for its inputs, so that nothing is tried again and again.
// `fleet` is the observation's, with what its pods say; `no_rollback` why it isn't rolled back, where it should be, ""
// where there is nothing to go back to. A value.
struct GivenUp {
  api::HistoryEntry entry;
  Hold hold;
};
GivenUp GiveUpRollout(const Observation& o, const Fleet& fleet, std::string_view no_rollback = "");

// The hold for a rollback that was carried out, or (with `failed`) for a change that failed.
Hold RolledBackHold(const api::HistoryEntry& failed, std::string_view running);

// What of the workloads and CRDs isn't ready, in words.
std::string NotReady(const Fleet& fleet);

}  // namespace capi::ops
