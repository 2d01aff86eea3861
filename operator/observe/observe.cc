#include "operator/observe/observe.h"

#include "kube/meta/kind.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/in_use.h"
#include "operator/decide/adoption.h"
#include "operator/decide/certificates/bundles.h"
#include "operator/decide/rules.h"
#include "operator/observe/cert_manager.h"
#include "operator/observe/slim.h"

namespace capi::ops {
namespace {

using Purpose = Watches::Purpose;

Watches::Key OurObjects(const kube::Resource& resource, bool metadata_only) {
  return {Purpose::kOurObjects, resource, "", std::string(api::kLabelClusterctl), "", metadata_only};
}

Watches::Key CrdWatch() { return OurObjects(kube::Builtin("CustomResourceDefinition"), false); }
Watches::Key WorkloadWatch(const std::string& kind) { return OurObjects(kube::Builtin(kind), false); }

// Those that selectors ask for may be ahead of the one that stored releases are read from.
bool ShowsStored(const Watches::Key& watch) { return watch.purpose == Purpose::kReleases && watch.IsShared(); }

}  // namespace

Observer::Observer(Needs needs)
    : client_(needs.client),
      cache_(needs.cache),
      watches_(needs.watches),
      settings_(needs.settings),
      fights_(needs.fights),
      use_(needs.use),
      clock_(needs.clock),
      tracks_(needs.clock),
      just_stored_(needs.clock),
      migration_of_(std::move(needs.migration_of)),
      rendered_inputs_(std::move(needs.rendered_inputs)),
      unlisted_(std::move(needs.unlisted)),
      reference_key_(std::move(needs.reference_key)),
      updates_found_(std::move(needs.updates_found)),
      source_of_(std::move(needs.source_of)),
      certificate_trouble_(std::move(needs.certificate_trouble)) {}

Result<std::shared_ptr<kube::Informer>> Observer::Crds(const Context& ctx, const std::string& key) {
  return watches_.Need(ctx, CrdWatch(), key, SlimCrd);
}

Result<std::shared_ptr<kube::Informer>> Observer::Workloads(const Context& ctx, const std::string& key,
                                                            const std::string& kind) {
  return watches_.Need(ctx, WorkloadWatch(kind), key, SlimWorkload);
}

Result<std::optional<Observer::ObjectWatch>> Observer::WatchOf(const Context& ctx, const kube::ObjectId& id,
                                                               const std::string& version) {
  std::optional<ObjectWatch> watch;
  if (IsCrd(id)) watch = {CrdWatch(), SlimCrd, true};
  if (IsWorkload(id)) watch = {WorkloadWatch(id.kind), SlimWorkload, true};
  if (watch) return watch;
  auto found = TRY(watches_.mapper().Look(ctx, id.group_kind(), version));
  // Another version of the same objects will do.
  if (!found.resource) found = TRY(watches_.mapper().Look(ctx, id.group_kind()));
  if (found.resource) watch = {OurObjects(*found.resource, true), SlimToTrace, false};
  // Nobody may list those of others then (docs/install.md, "Rights"). All Secrets share the watch of their kind,
  // whatever namespace the first has.
  if (watch && SeesSecretsOfOneNamespace(settings_) && kube::Is(id, "", "Secret")) watch->key.ns = settings_.ns;
  return watch;
}

Result<Observer::KindWatches> Observer::WatchesOf(const Context& ctx, const std::string& key,
                                                  const kube::Inventory& inventory) {
  KindWatches watches;
  std::vector<std::pair<KindWatches::iterator, ObjectWatch>> begun;
  for (const auto& [id, entry] : inventory.entries()) {
    if (entry.stale && !TellsOfCertificates(id.group_kind())) continue;
    auto [at, is_new] = watches.try_emplace({id.group_kind(), entry.version});
    if (!is_new) continue;
    auto watch = TRY(WatchOf(ctx, id, entry.version));
    if (!watch) continue;
    watches_.Begin(ctx, watch->key, key, watch->transform);
    begun.emplace_back(at, std::move(*watch));
  }
  for (auto& [at, watch] : begun) {
    at->second = watch.needed ? TRY(watches_.Need(ctx, watch.key, key, watch.transform))
                              : watches_.IfThere(ctx, watch.key, key, watch.transform);
  }
  return watches;
}

void Observer::Saw(const Watches::Key& watch, const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  if (watch.purpose == Purpose::kOurObjects) tracks_.Saw(watch.resource, was, is);
  if (ShowsStored(watch)) just_stored_.Saw(was, is);
}

void Observer::WatchEnds(const Watches::Key& watch) {
  if (watch.purpose == Purpose::kOurObjects) tracks_.ForgetWatch(watch.resource);
  if (ShowsStored(watch)) just_stored_.WatchEnds();
}

Status Observer::WatchAllCrds(const Context& ctx, const std::string& key) {
  const kube::Resource& crds = kube::Builtin("CustomResourceDefinition");
  TRY(watches_.Need(ctx, {Purpose::kNewKinds, crds, "", "", "", true}, key, SlimToPresence));
  return Ok();
}

void Observer::AwaitGroups(const std::string& key, std::set<std::string> groups) {
  MutexLock lock(mu_);
  awaited_groups_[key] = std::move(groups);
}

bool Observer::Awaits(const std::string& key, const std::string& crd) {
  MutexLock lock(mu_);
  auto groups = awaited_groups_.find(key);
  return groups == awaited_groups_.end() || groups->second.contains(crd.substr(crd.find('.') + 1));
}

Result<bool> Observer::NamespaceGoing(const Context& ctx, const std::string& key, const std::string& ns) {
  const kube::Resource& namespaces = kube::Builtin("Namespace");
  auto informer = TRY(watches_.Need(ctx, {Purpose::kNamespaces, namespaces, "", "", "", true}, key, SlimToPresence));
  kube::ObjectPtr object = informer->Get("", ns);
  return object != nullptr && object->deleting();
}

void Observer::Forget(const std::string& key) {
  use_.Forget(key);
  just_stored_.Forget(key);
  MutexLock lock(mu_);
  awaited_groups_.erase(key);
}

Result<kube::ObjectPtr> Observer::ReadCrd(const Context& ctx, const kube::ObjectId& id) {
  auto live = TRY_WITH(lifecycle::ReadCrd(client_, ctx.InOwnName(), id.name), id.ToString());
  if (!live) return kube::ObjectPtr();
  SlimCrd(*live);
  return kube::ObjectPtr(std::make_shared<const kube::Object>(*std::move(live)));
}

// Those of the inventory that are there. The watch doesn't show one that has lost its label, and who uses it uses it
// all the same (X2).
Result<std::vector<kube::ObjectPtr>> Observer::CrdsInUse(const Context& ctx, const std::string& key,
                                                         const kube::Inventory& inventory) {
  auto informer = TRY(Crds(ctx, key));
  std::vector<kube::ObjectPtr> crds;
  for (const auto& [id, entry] : inventory.entries()) {
    if (!IsCrd(id)) continue;
    kube::ObjectPtr crd = informer->Get("", id.name);
    if (!crd) crd = TRY(ReadCrd(ctx, id));
    if (crd) crds.push_back(std::move(crd));
  }
  return crds;
}

// Reads are at stored versions, but what can't be read (no conversion while the manager is down) isn't nothing (P3).
Status Observer::ObserveUse(const Context& ctx, const std::string& key, Observation& o) {
  auto crds = CrdsInUse(ctx, key, o.inventory);
  auto users = crds.ok() ? use_.Find(ctx, key, *crds) : crds.error();
  TRY(ctx.Check());
  if (users.ok()) {
    o.users = std::move(users).value();
  } else {
    o.users_error = users.error();
  }
  return Ok();
}

// clusterctl's inventory is asked for until the provider is installed, and not before its turn has come.
Result<std::optional<FormerInstall>> Observer::Former(const Context& ctx, Observation& o) {
  if (auto left = LeftByPeer(o.provider)) return left;
  bool turn = o.provider.deleting || o.provider.id.type == api::ProviderType::kCore || o.core_crds_established;
  if (!turn || !NeverInstalled(o.provider)) return std::optional<FormerInstall>();
  const auto entries = TRY(lifecycle::ListEntries(ctx, client_));
  if (o.left_behind) o.lost_version = InstalledByUs(o.provider.id, entries);
  return InstalledByClusterctl(o.provider.id, entries);
}

Status Observer::ObserveNeeds(const Context& ctx, const std::string& key, Observation& o) {
  // Without an inventory, what is there still has replicas that a pause or an autoscaler gave it (P1, D1).
  kube::Inventory left;
  if (o.inventory.size() == 0 && !o.inventory_error) left = TRY(LeftBehind(ctx, key, o));
  o.left_behind = left.size() > 0;
  o.fleet = TRY(ObserveFleet(ctx, key, o.left_behind ? left : o.inventory));
  o.fights = fights_.Judge(key, o.fleet.drifts);
  ObserveCertificates(ctx, key, o);
  o.rendered = rendered_inputs_(key);
  o.namespace_going = TRY(NamespaceGoing(ctx, key, o.provider.id.ns));
  if (o.provider.deleting && GuardsDeletion(o)) TRY(ObserveUse(ctx, key, o));
  if (o.core) o.core_crds_established = TRY(CrdsEstablished(ctx, key, *o.core));
  o.former = TRY(Former(ctx, o));
  if (o.spec_error) return Ok();
  auto inputs = ObserveInputs(ctx, key, o);
  // What is deleted but needed is kept as it was applied (X2); without its inputs it can go all the same.
  return o.provider.deleting ? Ok() : inputs;
}

Result<std::optional<Observation>> Observer::Observe(const Context& ctx, const std::string& key) {
  auto cached = cache_.Get(key);
  if (!cached) {
    watches_.BeginUse(key);
    watches_.EndUse(key);
    return std::optional<Observation>();
  }
  Observation o;
  o.now = clock_.Now();
  o.provider = *cached->provider;
  o.spec_error = cached->spec_error;
  o.spec_digest = cached->spec_digest;
  o.declared_version = cached->declared_version;
  o.check_updates = settings_.check_updates;
  if (updates_found_) o.updates = updates_found_(key);
  if (source_of_ && !o.spec_error) o.source = source_of_(o.provider);
  auto inventory = kube::Inventory::Parse(o.provider.status.inventory);
  if (inventory.ok()) {
    o.inventory = *inventory;
  } else {
    o.inventory_error = inventory.error().With("status.inventory");
  }
  o.inventory_lost = !o.inventory_error && o.inventory.size() == 0 && !o.provider.status.applied.empty();
  o.known_provider = settings_.UrlOf(o.provider.id.type, o.provider.id.name).has_value();
  o.environment = settings_.Digest();
  o.verification_required = settings_.require_verified;
  o.service_account_required = settings_.require_service_account;
  auto refused = RefusedReferences(ctx, o.provider, settings_, reference_key_);
  // What is deleted can go without what it refers to.
  if (!refused.ok() && !o.provider.deleting) return refused.error();
  o.refused_references = refused.ok() ? *std::move(refused) : api::ForeignReferences(o.provider);
  watches_.BeginUse(key);
  TRY(ObserveSiblings(ctx, key, o));
  TRY(ObserveNeeds(ctx, key, o));
  watches_.EndUse(key);
  return std::optional<Observation>(std::move(o));
}

}  // namespace capi::ops
