// What is said of newer versions: condition UpgradeAvailable and its events (behaviour.md U12). Pure.
#pragma once

#include <optional>
#include <vector>

#include "operator/report/summarize.h"

namespace capi::ops {

// By `status`, which is about to be written; nullopt for none. For people, and never a reason not to be Ready: absent
// until there is something to tell.
std::optional<kube::Condition> UpgradeCondition(const Observation& o, const api::ProviderStatus& status);

// Each version once, since the status remembers.
void AddUpdateEvents(const api::ProviderStatus& was, const api::ProviderStatus& is, std::vector<Event>& events);

}  // namespace capi::ops
