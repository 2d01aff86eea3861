// What spec.upgradePolicy goes to next (behaviour.md U13). Pure. A choice is kept nowhere: each pass makes it anew,
// from what is known then, until the upgrade is announced in status.history. So it begins in its window or not at all,
// and what is refused before that has changed nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/decide/hold.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// The version that the policy goes to now, where nothing else is to be done; nullopt for none.
std::optional<std::string> ChosenByPolicy(const Observation& o);
// The same, where what the policy has gone to before failed and isn't rolled back: only something newer mends that.
std::optional<std::string> ChosenAfterFailure(const Observation& o);

// Whether a pass that sees this goes to one, and not to the one that this pass has tried ("" for none), which has its
// own time.
bool GoesOnByPolicy(const Observation& o, std::string_view tried = "");

// How long until it may go to one that is there: its window opens, or what was refused is tried again. nullopt where it
// waits for neither.
std::optional<Millis> PolicyWaits(const Observation& o);

// When it may try one again that was refused, its window counted in; nullopt where a refusal keeps it from nothing.
std::optional<WallTime> TriedAgainAt(const Observation& o, const api::AvailableUpgrade& one);

// What else keeps the policy from a known version that it could reach, in words that follow its name; "" for nothing.
std::string KeptFrom(const Observation& o, const api::AvailableUpgrade& one);

// Of what is being installed: whether the policy goes, or has come, to that version, and not spec.version.
bool IsChosen(const Observation& o, const std::string& version);
// What the policy has gone to failed and is left as it is, and spec.version names something else still. An
// Observation's history has it in front then.
bool IsFailedChoice(const Observation& o);
// The same, where it is being rolled back: that goes on, whatever changes.
bool IsChoiceGoingBack(const Observation& o);
// The same, where it is being sent, or comes up.
bool IsChoiceUnderWay(const Observation& o);
// Whether it fails where `reason` holds its installation for as long as spec.rollout.timeout. Not an outage, nor what
// another object has to come for.
bool EndsAChoice(std::string_view reason);
// It failed, and somebody has put its name into spec.version since: it is tried again.
bool IsNamedSince(const Observation& o, const api::HistoryEntry& failed);

// An upgrade that couldn't begin. A value.
struct Withdrawn {
  std::string version, message;
  std::string details = "";                    // as a Hold's
  std::optional<Millis> after = std::nullopt;  // that its source asks for
};
// The status remembers that it isn't tried again at once: ten minutes later, and then less and less often; from the
// beginning each time its window opens.
void Refuse(api::ProviderStatus& status, const Observation& o, const Withdrawn& withdrawn);

}  // namespace capi::ops
