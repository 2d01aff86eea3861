#include "operator/decide/crd_stages.h"

#include <fmt/core.h>

#include "api/reasons.h"
#include "operator/decide/pause.h"

namespace capi::ops {

bool RolledOut(const std::vector<kube::Manifest>& manifests, const kube::Inventory& applied, const Fleet& fleet) {
  for (const auto& manifest : manifests) {
    if (kube::StageOf(manifest.id.group_kind()) != kube::Stage::kWorkloads) continue;
    if (!lifecycle::IsApplied(manifest, applied)) return false;
  }
  return fleet.rolled_out();
}

bool SaysMigrationFailed(const api::ProviderStatus& status) {
  const kube::Condition* migrated = kube::FindCondition(status.conditions, api::condition::kStorageMigrated);
  return migrated != nullptr && migrated->reason == api::reason::kStorageMigrationFailed;
}

bool SaysUnmigrated(const api::ProviderStatus& status) {
  const auto* migrated = kube::FindCondition(status.conditions, api::condition::kStorageMigrated);
  return migrated != nullptr && migrated->status == "False";
}

Hold StoredVersionsHold(const Observation& o, const LostVersion& lost, std::string_view release_version,
                        const MigrationProgress& migration) {
  Hold hold{std::string(api::condition::kPreflightCheckPassed), std::string(api::reason::kStoredVersionsInUse),
            fmt::format("{} {} has no version {} of {}, at which objects may still be stored: nothing is changed; ",
                        o.provider.id.ToString(), release_version, lost.version, lost.crd)};
  if (!lost.migratable) {
    hold.message += fmt::format(
        "go by a version of the provider whose {} has both {} and the newer version, let its objects migrate "
        "(condition StorageMigrated), then set this version",
        lost.crd, lost.version);
  } else if (AppliesAtZero(o)) {  // nobody converts (P3)
    hold.message += fmt::format("set {}spec.version to what is installed, let the objects migrate, then upgrade",
                                o.provider.spec.paused ? "spec.paused to false and " : "");
  } else if (migration.error) {
    hold.message += "they could not be brought to the version that is stored now: " + migration.error->message;
    hold.retry = migration.next ? Retry::kAt : Retry::kWaiting;  // while it is tried again, its end is the event
    hold.after = migration.next;
  } else {
    hold.message += fmt::format("they are brought to the version that is stored now, {} so far; this then goes on",
                                migration.objects);
    hold.retry = Retry::kWaiting;
  }
  return hold;
}

}  // namespace capi::ops
