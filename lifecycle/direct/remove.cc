#include "lifecycle/direct/remove.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/apply/apply.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/in_use.h"
#include "lifecycle/labelled.h"

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

}  // namespace

Result<Removal> PlanRemoval(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                            const RemovalScope& wanted, const Keep& owned) {
  Removal out;
  out.id = id;
  const Keep keep = Both(id, owned);
  std::vector<kube::ObjectId> labelled;
  std::vector<std::pair<kube::ObjectId, std::string>> others;  // with why
  for (const kube::Object& object : TRY(ListLabelled(ctx, client, id))) {
    std::string why = keep(object);
    if (why.empty()) labelled.push_back(object.id());
    if (!why.empty()) others.emplace_back(object.id(), std::move(why));
  }
  // A Namespace that isn't the provider's stays, and then what is in it goes one by one.
  RemovalScope scope = wanted;
  const kube::ObjectId ns{"", "Namespace", "", id.ns};
  scope.ns = wanted.ns && std::find(labelled.begin(), labelled.end(), ns) != labelled.end();
  for (const auto& [other, why] : others) {
    if (!ToRemove({other}, id.ns, scope).empty()) out.kept.push_back(fmt::format("{} ({})", other.ToString(), why));
  }
  if (wanted.ns && !scope.ns) out.kept.push_back(ns.ToString() + " (it hasn't the provider's labels)");
  for (kube::ObjectId& one : ToRemove(labelled, id.ns, scope)) {
    if (IsEntry(one)) {
      out.entry = true;
    } else if (one == ns) {
      out.ns = true;
    } else {
      out.objects.push_back(std::move(one));
    }
  }
  std::sort(out.objects.begin(), out.objects.end());
  return out;
}

Result<std::vector<std::string>> UsersOf(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  return ClusterUsers(client, ctx, TRY(ListCrds(ctx, client, id)));
}

Result<std::vector<std::string>> KindsWithObjects(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  std::vector<std::string> out;
  for (const kube::Object& crd : TRY(ListCrds(ctx, client, id))) {
    ReadObjects read = TRY(ListReadable(client, ctx, crd, {.limit = 1, .first_page = true}));
    if (!read.items.empty()) out.push_back(GetString(crd.json(), {"spec", "names", "kind"}));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<std::string>> Remove(const Context& ctx, kube::Client& client, const Removal& removal,
                                        const Keep& owned) {
  const Keep keep = Both(removal.id, owned);
  std::vector<std::string> lingering;
  TRY(StopAggregation(ctx, client, removal.objects, keep));
  TRY(Delete(ctx, client, removal.objects, keep, lingering));
  if (removal.entry) TRY(Delete(ctx, client, {EntryId(removal.id)}, keep, lingering));
  const kube::ObjectId ns{"", "Namespace", "", removal.id.ns};
  if (removal.ns) TRY(Delete(ctx, client, {ns}, keep, lingering));
  return lingering;
}

}  // namespace capi::lifecycle
