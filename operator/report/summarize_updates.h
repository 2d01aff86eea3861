// What is said of newer versions, and of what the policy makes of them: condition UpgradeAvailable and events
// (behaviour.md U12, U13). Pure.
#pragma once

#include <optional>
#include <vector>

#include "operator/report/summarize.h"

namespace capi::ops {

// The newer versions that `status` is to have, with what was refused of them, and whose the installed one is. Before
// its history has what `done` has made of it.
void SettleUpgrades(api::ProviderStatus& status, const Observation& o, const Done& done);

// That the policy's last upgrade was rolled back stays told, though all is well again. `upgraded`: condition
// ProviderUpgraded.
bool TellsOfAChoice(const kube::Condition& upgraded, const api::ProviderStatus& status);

// By `status`, which is about to be written; nullopt for none. For people, and never a reason not to be Ready: absent
// until there is something to tell.
std::optional<kube::Condition> UpgradeCondition(const Observation& o, const api::ProviderStatus& status);

// That the policy has begun to go to it.
Event ChoiceEvent(const std::string& version);

// Each version once, since the status remembers.
void AddUpdateEvents(const api::ProviderStatus& was, const api::ProviderStatus& is, std::vector<Event>& events);

}  // namespace capi::ops
