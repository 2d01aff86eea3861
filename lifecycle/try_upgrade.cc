#include "lifecycle/try_upgrade.h"

#include <algorithm>

#include "kube/apply/apply.h"
#include "kube/meta/kind.h"
#include "lifecycle/storage_migration.h"

namespace capi::lifecycle {

Result<UpgradeNeeds> TryUpgrade(const Context& ctx, kube::Client& client, std::vector<kube::Manifest> manifests,
                                std::string_view field_manager) {
  const CrdStates live = TRY(LiveCrds(ctx, client, manifests));
  UpgradeNeeds out;
  out.to_migrate = TRY(ToMigrate(manifests, live));
  out.switches = SwitchesAny(manifests, live);
  // A CRD that loses a version is refused as long as that is in its storedVersions.
  std::erase_if(manifests, [&](const kube::Manifest& one) {
    return kube::IsCrd(one.id) &&
           std::find(out.to_migrate.begin(), out.to_migrate.end(), one.id.name) != out.to_migrate.end();
  });
  kube::ApplyOptions options;
  options.field_manager = field_manager;
  TRY(kube::Applier(client, options).DryRun(ctx, manifests));
  return out;
}

}  // namespace capi::lifecycle
