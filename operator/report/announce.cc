#include "operator/report/announce.h"

#include "operator/decide/rollout.h"

namespace capi::ops {

Status AnnounceContract(const Context& ctx, StatusWriter& writer, api::Provider& provider,
                        const std::string& contract) {
  api::ProviderStatus status = provider.status;
  status.desired_version = provider.spec.version;
  status.desired_contract = contract;
  return writer.WriteStatus(ctx, provider, status);
}

Status AnnounceChange(const Context& ctx, StatusWriter& writer, api::Provider& provider,
                      const kube::Inventory& inventory, const api::HistoryEntry& rollout) {
  api::ProviderStatus status = provider.status;
  status.inventory = inventory.ToJson();
  status.applied = "";
  PutEntry(status.history, rollout);
  return writer.WriteStatus(ctx, provider, status);
}

Status AnnounceInventory(const Context& ctx, StatusWriter& writer, api::Provider& provider,
                         const kube::Inventory& inventory) {
  api::ProviderStatus status = provider.status;
  status.inventory = inventory.ToJson();
  return writer.WriteStatus(ctx, provider, status);
}

Status AnnounceRemoval(const Context& ctx, StatusWriter& writer, Observation& o) {
  Done removing;
  removing.removing = true;
  return writer.WriteStatus(ctx, o.provider, Summarize(o, removing));
}

}  // namespace capi::ops
