// What a pass has to have in the status before it goes on, and can't wait for its end with: who crashes in between, or
// decides at the same moment, goes by it. All other words of a pass are the Reporter's.
#pragma once

#include "base/context.h"
#include "kube/apply/inventory.h"
#include "operator/report/status_writer.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// Each is one write, for the version of the provider that the pass saw, and none where the status says so already. The
// pass's own copy of the provider follows it.

// The contract that the provider is to have with spec.version: the others look at it before they change theirs (C3).
Status AnnounceContract(const Context& ctx, StatusWriter& writer, api::Provider& provider, const std::string& contract);

// A change begins: old objects and new ones, so that each is known whatever becomes of the pass, and since when (U7).
Status AnnounceChange(const Context& ctx, StatusWriter& writer, api::Provider& provider,
                      const kube::Inventory& inventory, const api::HistoryEntry& rollout);

// Objects of the provider that were found, or that are about to be left behind (U9, U11).
Status AnnounceInventory(const Context& ctx, StatusWriter& writer, api::Provider& provider,
                         const kube::Inventory& inventory);

// The first object is about to go (X2).
Status AnnounceRemoval(const Context& ctx, StatusWriter& writer, Observation& o);

}  // namespace capi::ops
