#include "lifecycle/direct/remove.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/apply/apply.h"
#include "kube/meta/kind.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/direct/release.h"
#include "lifecycle/in_use.h"
#include "lifecycle/labelled.h"
#include "lifecycle/storage_migration.h"

namespace capi::lifecycle {
namespace {

Keep Both(const api::ProviderId& id, const Keep& owned) {
  return [others = KeepsOthers(id), owned](const kube::Object& live) {
    std::string why = others(live);
    return why.empty() && owned ? owned(live) : why;
  };
}

Status Delete(const Context& ctx, kube::Client& client, const std::vector<kube::ObjectId>& ids, const Keep& keep,
              std::vector<std::string>& lingering) {
  std::vector<kube::Change> changes;
  TRY(kube::Applier(client, {}).Delete(ctx, ids, keep, changes));
  for (const kube::Change& change : changes) {
    if (change.action != kube::Change::Action::kDeleting) continue;
    lingering.push_back(fmt::format("{} ({})", change.id.ToString(), change.error));
  }
  return Ok();
}

Result<bool> HasObjects(const Context& ctx, kube::Client& client, const kube::Object& crd) {
  return !TRY(ListReadable(client, ctx, crd, {.limit = 1, .first_page = true})).items.empty();
}

// Whoever makes one while the rest goes would lose it with the CRD.
Status CheckNoObjects(const Context& ctx, kube::Client& client, const std::vector<kube::ObjectId>& crds) {
  for (const kube::ObjectId& id : crds) {
    const auto crd = TRY_WITH(ReadCrd(client, ctx, id.name), id.ToString());
    if (!crd || crd->deleting() || !TRY(HasObjects(ctx, client, *crd))) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} has objects, which would go with it; delete them first, or leave out --include-crd",
                             id.ToString()),
                 {}};
  }
  return Ok();
}

}  // namespace

Result<Removal> PlanRemoval(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                            const RemovalScope& scope, const Keep& owned) {
  Removal out;
  out.id = id;
  const Keep keep = Both(id, owned);
  auto labelled = TRY(ListLabelled(ctx, client, id));
  out.kept = std::move(labelled.unread);
  std::set<std::string> kept;  // by uid: a server may have them under a second group, which nobody's inventory names
  for (const kube::Object& object : labelled.items) {
    if (!keep(object).empty()) kept.insert(object.uid());
  }
  for (const kube::Object& object : labelled.items) {
    const kube::ObjectId one = object.id();
    if (ToRemove({one}, id.ns, scope).empty()) continue;
    if (std::string why = keep(object); !why.empty()) {
      out.kept.push_back(fmt::format("{} ({})", one.ToString(), why));
    } else if (kept.contains(object.uid())) {
      continue;  // told under its other group
    } else if (IsEntry(one)) {
      out.entry = true;
    } else {
      (kube::IsCrd(one) ? out.crds : out.objects).push_back(one);
    }
  }
  for (auto* ids : {&out.objects, &out.crds}) std::sort(ids->begin(), ids->end());
  return out;
}

Result<std::vector<std::string>> UsersOf(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  const auto crds = TRY(ListCrds(ctx, client, id));
  std::vector<const kube::Object*> all;
  for (const kube::Object& crd : crds) all.push_back(&crd);
  std::vector<std::string> out;
  for (const ClusterUser& user : TRY(FindUsers(client, ctx, all, kUsersNamed + 1))) out.push_back(NameOf(user));
  return out;
}

Result<std::vector<std::string>> KindsWithObjects(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  std::vector<std::string> out;
  for (const kube::Object& crd : TRY(ListCrds(ctx, client, id))) {
    if (TRY(HasObjects(ctx, client, crd))) out.push_back(GetString(crd.json(), {"spec", "names", "kind"}));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<std::string>> MigrateStorage(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                                                bool dry_run) {
  StorageMigration migration(client, kDirectManager);
  std::vector<std::string> out;
  for (const kube::Object& crd : TRY(ListCrds(ctx, client, id))) {
    const CrdState state = StateOf(crd);
    if (crd.deleting() || state.stored == std::vector<std::string>{state.storage}) continue;
    out.push_back(crd.name());
    MigrationCursor cursor;
    if (!dry_run) TRY(migration.Migrate(ctx, crd.name(), cursor));
  }
  return out;
}

Result<std::vector<std::string>> Remove(const Context& ctx, kube::Client& client, const Removal& removal,
                                        const Keep& owned) {
  const Keep keep = Both(removal.id, owned);
  std::vector<std::string> lingering;
  TRY(CheckNoObjects(ctx, client, removal.crds));
  TRY(StopAggregation(ctx, client, removal.objects, keep));
  TRY(Delete(ctx, client, removal.objects, keep, lingering));
  TRY_WITH(CheckNoObjects(ctx, client, removal.crds), "all else of it is deleted, and its CRDs stay");
  TRY(Delete(ctx, client, removal.crds, keep, lingering));
  if (removal.entry) TRY(Delete(ctx, client, {EntryId(removal.id)}, keep, lingering));
  return lingering;
}

}  // namespace capi::lifecycle
