// A provider as the page's graph and its table have it (behaviour.md B2, B3). Pure.
//
// Format: docs/status-page.md, "What it is made of".
#pragma once

#include "base/json.h"
#include "operator/observe/provider_cache.h"
#include "operator/ui/facts.h"
#include "operator/ui/graph.h"
#include "operator/ui/timeline.h"

namespace capi::ops::ui {

// "deleting", "unseen" (the operator hasn't looked at it), "paused", "ready", "stalled", "waiting" or "working".
std::string StateOf(const api::Provider& provider, const Place& place);

// `facts`: null where no pass was made here yet.
Json NodeOf(const CachedProvider& cached, const Facts* facts, const Place& place);

// The same with all there is: conditions, what changed of them, history, inventory, references by name.
Json DetailsOf(const CachedProvider& cached, const Facts* facts, const Place& place,
               const std::vector<Transition>& transitions);

}  // namespace capi::ops::ui
