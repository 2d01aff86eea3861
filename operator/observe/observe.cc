#include "operator/observe/observe.h"

#include <algorithm>

#include "api/reasons.h"
#include "kube/meta/label_selector.h"
#include "operator/decide/adoption.h"
#include "operator/decide/rules.h"
#include "operator/observe/clusterctl_inventory.h"
#include "operator/observe/slim.h"
#include "operator/observe/stored_release.h"

namespace capi::ops {
namespace {

using Purpose = Watches::Purpose;

Watches::Key OurObjects(const kube::Resource& resource, bool metadata_only) {
  return {Purpose::kOurObjects, resource, "", std::string(api::kLabelClusterctl), "", metadata_only};
}

// A selector that asks for one of the release labels finds nothing outside of the one watch that all providers share.
bool AsksForReleaseLabel(const Json& selector) {
  const Json* labels = Find(selector, {"matchLabels"});
  return labels != nullptr && labels->is_object() && labels->contains(std::string(api::kLabelReleaseName));
}

bool WaitsForKinds(const api::Provider& provider) {
  const auto* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  return ready != nullptr && ready->reason == api::reason::kMissingKinds;
}

}  // namespace

Observer::Observer(Needs needs)
    : client_(needs.client),
      cache_(needs.cache),
      watches_(needs.watches),
      settings_(needs.settings),
      rendered_inputs_(std::move(needs.rendered_inputs)),
      fights_(needs.fights),
      use_(needs.use),
      migration_of_(std::move(needs.migration_of)),
      clock_(needs.clock),
      tracks_(needs.clock),
      just_stored_(needs.clock),
      unlisted_(std::move(needs.unlisted)) {}

Result<std::shared_ptr<kube::Informer>> Observer::Crds(const Context& ctx, const std::string& key) {
  return watches_.Need(ctx, OurObjects(kube::Builtin("CustomResourceDefinition"), false), key, SlimCrd);
}

Result<std::shared_ptr<kube::Informer>> Observer::Workloads(const Context& ctx, const std::string& key,
                                                            const std::string& kind) {
  return watches_.Need(ctx, OurObjects(kube::Builtin(kind), false), key, SlimWorkload);
}

Status Observer::WatchAllCrds(const Context& ctx, const std::string& key) {
  const kube::Resource& crds = kube::Builtin("CustomResourceDefinition");
  TRY(watches_.Need(ctx, {Purpose::kNewKinds, crds, "", "", "", true}, key, SlimToPresence));
  return Ok();
}

Result<std::optional<Referenced>> Observer::Find(const Context& ctx, const std::string& key, const char* kind,
                                                 const std::optional<api::ObjectRef>& ref) {
  if (!ref) return std::optional<Referenced>();
  const std::string field = "metadata.name=" + ref->name;
  auto informer = TRY(watches_.Need(ctx, {Purpose::kReferenced, kube::Builtin(kind), ref->ns, "", field, true}, key));
  kube::ObjectPtr found = informer->Get(ref->ns, ref->name);
  Referenced out{*ref, found != nullptr, found ? found->uid() + "/" + found->resource_version() : ""};
  return std::optional<Referenced>(out);
}

Result<std::vector<StoredRelease>> Observer::Releases(const Context& ctx, const std::string& key,
                                                      const api::Provider& provider) {
  std::optional<kube::LabelSelector> selector;
  Watches::Key watch{Purpose::kReleases, kube::Builtin("ConfigMap"), "", std::string(api::kLabelReleaseName), "", true};
  const auto& fetch = provider.spec.fetch_config;
  if (fetch && fetch->selector) {
    selector = TRY(kube::LabelSelector::FromJson(*fetch->selector));
    if (!AsksForReleaseLabel(*fetch->selector)) {
      watch.ns = provider.id.ns;
      watch.label_selector = selector->ToString();
    }
  } else {
    // Also a release that somebody put there by hand, without the label that says who did: its name would be taken.
    auto labels = ReleaseLabels(provider.id);
    labels.erase(std::string(api::kLabelManagedBy));
    selector = TRY(kube::LabelSelector::Parse(SelectorOf(labels)));
  }
  auto informer = TRY(watches_.Need(ctx, watch, key));
  auto awaited = just_stored_.Awaited(
      key, [&](const std::string& ns, const std::string& name) { return informer->Get(ns, name); });
  std::vector<StoredRelease> releases;
  for (const auto& map : informer->List()) {
    const Json* labels = capi::Find(map->json(), {"metadata", "labels"});
    if (map->ns() == provider.id.ns && selector->Matches(labels == nullptr ? Json() : *labels)) {
      releases.push_back(Describe(*map));
    }
  }
  if (!awaited) return releases;
  std::erase_if(releases, [&](const StoredRelease& r) { return r.name == awaited->name; });
  releases.push_back(*std::move(awaited));
  return releases;
}

Result<std::shared_ptr<kube::Informer>> Observer::Objects(const Context& ctx, const std::string& key,
                                                          const kube::ObjectId& id, const std::string& version) {
  if (IsCrd(id)) return Crds(ctx, key);
  if (IsWorkload(id)) return Workloads(ctx, key, id.kind);
  auto found = TRY(watches_.mapper().Look(ctx, id.group_kind(), version));
  // Another version of the same objects will do.
  if (!found.resource) found = TRY(watches_.mapper().Look(ctx, id.group_kind()));
  // A kind that isn't served, or can't be watched (its server is away), must not hold up the others.
  if (!found.resource) return std::shared_ptr<kube::Informer>();
  return watches_.IfThere(ctx, OurObjects(*found.resource, true), key, SlimToTrace);
}

void Observer::ObserveCrd(const std::string& name, const kube::ObjectPtr& crd, Fleet& fleet) {
  if (!crd || !kube::HealthOf(*crd).ok()) fleet.pending_crds.push_back(name);
  CrdState state = crd ? StateOf(*crd) : CrdState{};
  if (state.stored.size() <= 1) return;
  state.migration = migration_of_(name);
  fleet.unmigrated.push_back(std::move(state));
}

Result<Fleet> Observer::ObserveFleet(const Context& ctx, const std::string& key, const kube::Inventory& inventory) {
  Fleet fleet;
  for (const auto& [id, entry] : inventory.entries()) {
    if (entry.stale) continue;
    auto informer = TRY(Objects(ctx, key, id, entry.version));
    if (!informer) {
      fleet.blind = true;
      continue;
    }
    TRY(ReadUncertain(ctx, id));
    const auto [object, awaited, scaled_by] = tracks_.Read(id, [&] { return informer->Get(id.ns, id.name); });
    Trace trace = object ? TraceOf(*object) : Trace{};
    if (IsCrd(id)) ObserveCrd(id.name, object, fleet);
    if (IsWorkload(id)) {
      Workload workload = WorkloadOf(id, object);
      workload.scaled_by = scaled_by.value_or(trace.scaled_by);
      if (tracks_.Outlived(workload)) workload.terminating = 0;
      if (object && awaited) {
        workload.health = {kube::HealthState::kInProgress, "the change was just applied"};
        workload.awaited = true;
        workload.at_zero = false;
      }
      fleet.workloads.push_back(std::move(workload));
    }
    if (awaited || entry.hash.empty()) continue;
    if (!object) {
      fleet.drifts.push_back({id, true, {}, {}});
    } else if (!entry.fields.empty() && trace.fields != entry.fields && !object->deleting()) {
      fleet.drifts.push_back({id, false, std::move(trace), {}});
    }
  }
  return fleet;
}

Result<bool> Observer::NamespaceGoing(const Context& ctx, const std::string& key, const std::string& ns) {
  const kube::Resource& namespaces = kube::Builtin("Namespace");
  auto informer = TRY(watches_.Need(ctx, {Purpose::kNamespaces, namespaces, "", "", "", true}, key, SlimToPresence));
  kube::ObjectPtr object = informer->Get("", ns);
  return object != nullptr && object->deleting();
}

Status Observer::ReadUncertain(const Context& ctx, const kube::ObjectId& id) {
  if (!tracks_.IsUncertain(id)) return Ok();
  auto live = client_.Get(ctx, kube::Builtin(id.kind), id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() != Code::kNotFound) return live.error().With(id.ToString());
  if (!live.ok()) return tracks_.Forget(id), Ok();
  KeepTrace(*live);
  tracks_.Expect(id, live->resource_version(), TraceOf(*live).scaled_by);
  return Ok();
}

void Observer::Forget(const std::string& key) {
  use_.Forget(key);
  just_stored_.Forget(key);
}

void Observer::Remember(const std::string& key, const StoredRelease& stored) { just_stored_.Put(key, stored); }

Result<std::optional<CrdState>> Observer::LiveCrd(const Context& ctx, const std::string& key,
                                                  const kube::Manifest& crd) {
  auto crds = TRY(Crds(ctx, key));
  if (kube::ObjectPtr ours = crds->Get("", crd.id.name)) return std::optional<CrdState>(StateOf(*ours));
  // Without the label: discovery has its kind.
  auto kind = client_.mapper().For(ctx, {crd.crd_group, crd.crd_kind});
  if (!kind.ok() && kind.code() == Code::kNotFound) return std::optional<CrdState>();
  if (!kind.ok() && kind.code() != Code::kUnavailable) return kind.error();
  auto live = client_.Get(ctx, kube::Builtin("CustomResourceDefinition"), "", crd.id.name);
  if (!live.ok() && live.code() == Code::kNotFound) return std::optional<CrdState>();
  if (!live.ok()) return live.error().With(crd.id.ToString());
  SlimCrd(*live);
  return std::optional<CrdState>(StateOf(*live));
}

Result<bool> Observer::IsFresh(const Context& ctx, const std::string& key, const std::vector<kube::ObjectId>& ids) {
  bool some = false;
  for (const auto& id : ids) {
    if (!IsCrd(id) && !IsWorkload(id)) continue;
    some = true;
    auto informer = IsCrd(id) ? TRY(Crds(ctx, key)) : TRY(Workloads(ctx, key, id.kind));
    if (informer->Get(id.ns, id.name)) return false;
  }
  return some;
}

Result<bool> Observer::CrdsEstablished(const Context& ctx, const std::string& key, const api::Provider& core) {
  auto inventory = kube::Inventory::Parse(core.status.inventory);
  if (!inventory.ok()) return false;
  auto crds = TRY(Crds(ctx, key));
  size_t found = 0;
  for (const auto& [id, entry] : inventory->entries()) {
    if (!IsCrd(id) || entry.stale) continue;
    ++found;
    kube::ObjectPtr crd = crds->Get("", id.name);
    if (!crd || !kube::HealthOf(*crd).ok()) return false;
  }
  return found > 0;
}

// Reads are at stored versions, but what can't be read (no conversion while the manager is down) isn't nothing (P3).
Status Observer::ObserveUse(const Context& ctx, const std::string& key, Observation& o) {
  auto informer = TRY(Crds(ctx, key));
  std::vector<kube::ObjectPtr> crds;
  for (const auto& [id, entry] : o.inventory.entries()) {
    kube::ObjectPtr crd = IsCrd(id) ? informer->Get("", id.name) : nullptr;
    if (crd) crds.push_back(std::move(crd));
  }
  auto users = use_.Find(ctx, key, crds);
  TRY(ctx.Check());
  if (users.ok()) {
    o.users = std::move(users).value();
  } else {
    o.users_error = users.error();
  }
  return Ok();
}

// clusterctl's inventory is asked for until the provider is installed, and not before its turn has come.
Result<std::optional<FormerInstall>> Observer::Former(const Context& ctx, const Observation& o) {
  if (auto left = LeftByPeer(o.provider)) return left;
  bool turn = o.provider.deleting || o.provider.id.type == api::ProviderType::kCore || o.core_crds_established;
  if (!turn || !NeverInstalled(o.provider)) return std::optional<FormerInstall>();
  return InstalledByClusterctl(o.provider.id, TRY(ListEntries(ctx, client_)));
}

Status Observer::ObserveNeeds(const Context& ctx, const std::string& key, Observation& o) {
  // Without an inventory, what is there still has replicas that a pause or an autoscaler gave it (P1, D1).
  kube::Inventory left;
  if (o.inventory.size() == 0 && !o.inventory_error) left = TRY(LeftBehind(ctx, key, o));
  o.left_behind = left.size() > 0;
  o.fleet = TRY(ObserveFleet(ctx, key, o.left_behind ? left : o.inventory));
  o.fights = fights_.Judge(key, o.fleet.drifts);
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

Status Observer::ObserveInputs(const Context& ctx, const std::string& key, Observation& o) {
  if (o.provider.deleting && !GuardsDeletion(o)) return Ok();
  // T1: what may not be named is neither read nor watched.
  auto may_look = [&](const std::optional<api::ObjectRef>& ref) {
    bool own = ref && ref->ns == o.provider.id.ns;
    return own || settings_.allow_cross_namespace_references ? ref : std::nullopt;
  };
  o.config_secret = TRY(Find(ctx, key, "Secret", may_look(o.provider.spec.config_secret)));
  o.additional_manifests = TRY(Find(ctx, key, "ConfigMap", may_look(o.provider.spec.additional_manifests)));
  o.releases = TRY(Releases(ctx, key, o.provider));
  if (WaitsForKinds(o.provider)) TRY(WatchAllCrds(ctx, key));
  return Ok();
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
  auto inventory = kube::Inventory::Parse(o.provider.status.inventory);
  if (inventory.ok()) {
    o.inventory = *inventory;
  } else {
    o.inventory_error = inventory.error().With("status.inventory");
  }
  o.inventory_lost = !o.inventory_error && o.inventory.size() == 0 && !o.provider.status.applied.empty();
  o.known_provider = settings_.UrlOf(o.provider.id.type, o.provider.id.name).has_value();
  o.environment = settings_.Digest();
  if (!settings_.allow_cross_namespace_references) o.refused_references = api::ForeignReferences(o.provider);
  watches_.BeginUse(key);
  TRY(ObserveSiblings(ctx, key, o));
  TRY(ObserveNeeds(ctx, key, o));
  watches_.EndUse(key);
  return std::optional<Observation>(std::move(o));
}

}  // namespace capi::ops
