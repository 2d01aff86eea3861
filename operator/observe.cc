#include "operator/observe.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "api/reasons.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"
#include "operator/adoption.h"
#include "operator/release_store.h"
#include "operator/rules.h"

namespace capi::ops {
namespace {

// Health reads counts and conditions; pod templates and field owners are most of a Deployment's size.
void SlimWorkload(kube::Object& object) {
  KeepTrace(object);
  Json& json = object.json();
  if (Json* spec = Find(json, {"spec"}); spec != nullptr && spec->is_object()) spec->erase("template");
  if (Json* metadata = Find(json, {"metadata"})) {
    Json* annotations = Find(*metadata, {"annotations"});
    if (annotations == nullptr || !annotations->is_object()) return;
    std::string former = GetString(*annotations, {api::kAnnotationOriginalReplicas});
    bool paused = annotations->contains(std::string(api::kAnnotationOriginalReplicas));
    *annotations = Json::object();
    if (paused) object.set_annotation(api::kAnnotationOriginalReplicas, former);
  }
}

// Names, scope, versions and status; schemas are nearly all of a CRD.
void SlimCrd(kube::Object& object) {
  KeepTrace(object);
  Json& json = object.json();
  if (Json* metadata = Find(json, {"metadata"})) metadata->erase("annotations");
  Json* spec = Find(json, {"spec"});
  if (spec == nullptr || !spec->is_object()) return;
  spec->erase("conversion");
  Json* versions = Find(*spec, {"versions"});
  if (versions == nullptr || !versions->is_array()) return;
  for (Json& version : *versions) {
    bool has_status = Find(version, {"subresources", "status"}) != nullptr;
    version = Json{{"name", GetString(version, {"name"})},
                   {"served", GetBool(version, {"served"})},
                   {"storage", GetBool(version, {"storage"})},
                   {"status", has_status}};
  }
}

// What a pause looks at, and its own measure of health: a workload at zero is as it should be, whatever its conditions
// remember of the pods that it had (P1).
void ReadReplicas(const kube::Object& object, Workload& workload) {
  const Json& json = object.json();
  workload.replicas = GetInt(json, {"spec", "replicas"}, 1);
  if (object.has_annotation(api::kAnnotationOriginalReplicas)) {
    workload.former = object.annotation(api::kAnnotationOriginalReplicas);
  }
  bool seen = GetInt(json, {"status", "observedGeneration"}) >= object.generation();
  auto left = GetInt(json, {"status", "replicas"}) + GetInt(json, {"status", "terminatingReplicas"});
  workload.idle = workload.replicas == 0 && left == 0;
  workload.at_zero = workload.idle && seen;
  if (!workload.former || workload.replicas != 0) return;
  workload.health = workload.at_zero
                        ? kube::Health{kube::HealthState::kCurrent, "paused at zero replicas"}
                        : kube::Health{kube::HealthState::kInProgress, fmt::format("{} replicas are going", left)};
}

std::uint64_t Number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Of a Namespace matters whether it is there and whether it is going.
void SlimNamespace(kube::Object& object) {
  Json metadata = {{"name", object.name()}, {"uid", object.uid()}, {"resourceVersion", object.resource_version()}};
  if (object.deleting()) {
    metadata["deletionTimestamp"] = GetString(object.json(), {"metadata", "deletionTimestamp"});
  }
  object = kube::Object(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", std::move(metadata)}});
}

std::string OurObjects() { return std::string(api::kLabelClusterctl); }

// A selector that asks for one of the release labels finds nothing outside of the one watch that all providers share.
bool AsksForReleaseLabel(const Json& selector) {
  const Json* labels = Find(selector, {"matchLabels"});
  return labels != nullptr && labels->is_object() && labels->contains(std::string(api::kLabelReleaseName));
}

// Of a CRD that SlimCrd went over.
CrdState StateOf(const kube::Object& crd) {
  const Json& json = crd.json();
  CrdState state;
  state.name = crd.name();
  state.group = GetString(json, {"spec", "group"});
  state.kind = GetString(json, {"spec", "names", "kind"});
  state.plural = GetString(json, {"spec", "names", "plural"});
  state.namespaced = GetString(json, {"spec", "scope"}) == "Namespaced";
  if (const Json* versions = Find(json, {"spec", "versions"}); versions != nullptr && versions->is_array()) {
    for (const Json& version : *versions) {
      state.versions.push_back(GetString(version, {"name"}));
      if (GetBool(version, {"served"})) state.served.push_back(state.versions.back());
      if (!GetBool(version, {"storage"})) continue;
      state.storage = state.versions.back();
      state.has_status = GetBool(version, {"status"});
    }
  }
  if (const Json* stored = Find(json, {"status", "storedVersions"}); stored != nullptr && stored->is_array()) {
    for (const Json& version : *stored) {
      if (version.is_string()) state.stored.push_back(version.get<std::string>());
    }
  }
  return state;
}

// Why its pods can't even be made (a quota, an admission webhook), as its controller says; and whose pods to look at.
void DescribeTrouble(const kube::Object& object, Workload& workload) {
  const Json* list = capi::Find(object.json(), {"status", "conditions"});
  auto conditions = list == nullptr ? std::vector<kube::Condition>{} : kube::ConditionsFromJson(*list);
  const auto* failure = kube::FindCondition(conditions, "ReplicaFailure");
  if (failure != nullptr && failure->status == "True") workload.health.message += ": " + failure->message;
  const Json* labels = capi::Find(object.json(), {"spec", "selector"});
  if (labels == nullptr) return;
  auto selector = kube::LabelSelector::FromJson(*labels);
  if (selector.ok()) workload.pods = selector->ToString();
}

void ObserveCrd(const kube::ObjectId& id, const kube::ObjectPtr& crd, Fleet& fleet) {
  if (!crd || !kube::HealthOf(*crd).ok()) fleet.pending_crds.push_back(id.name);
  CrdState state = crd ? StateOf(*crd) : CrdState{};
  if (state.stored.size() > 1) fleet.unmigrated.push_back(std::move(state));
}

Workload WorkloadOf(const kube::ObjectId& id, const kube::ObjectPtr& object) {
  Workload workload;
  workload.id = id;
  workload.exists = object != nullptr;
  if (!object) return workload;
  workload.health = kube::HealthOf(*object);
  workload.terminating = GetInt(object->json(), {"status", "terminatingReplicas"});
  if (!workload.health.ok()) DescribeTrouble(*object, workload);
  return workload;
}

bool WaitsForKinds(const api::Provider& provider) {
  const auto* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  return ready != nullptr && ready->reason == api::reason::kMissingKinds;
}

}  // namespace

bool IsWorkload(const kube::ObjectId& id) {
  return (id.group == "apps" && (id.kind == "Deployment" || id.kind == "DaemonSet" || id.kind == "StatefulSet")) ||
         (id.group == "batch" && id.kind == "Job");
}

bool IsCrd(const kube::ObjectId& id) {
  return id.group == "apiextensions.k8s.io" && id.kind == "CustomResourceDefinition";
}

Observer::Observer(Needs needs)
    : client_(needs.client),
      cache_(needs.cache),
      watches_(needs.watches),
      settings_(needs.settings),
      rendered_(needs.rendered),
      fights_(needs.fights),
      use_(needs.use),
      clock_(needs.clock),
      unlisted_(std::move(needs.unlisted)) {}

Result<std::shared_ptr<kube::Informer>> Observer::Crds(const Context& ctx, const std::string& key) {
  return watches_.Need(ctx, {kube::Builtin("CustomResourceDefinition"), "", OurObjects(), "", false}, key, SlimCrd);
}

Result<std::shared_ptr<kube::Informer>> Observer::Workloads(const Context& ctx, const std::string& key,
                                                            const std::string& kind) {
  return watches_.Need(ctx, {kube::Builtin(kind), "", OurObjects(), "", false}, key, SlimWorkload);
}

Status Observer::WatchAllCrds(const Context& ctx, const std::string& key) {
  TRY(watches_.Need(ctx, {kube::Builtin("CustomResourceDefinition"), "", "", "", true}, key));
  return Ok();
}

Result<std::optional<Referenced>> Observer::Find(const Context& ctx, const std::string& key, const char* kind,
                                                 const std::optional<api::ObjectRef>& ref) {
  if (!ref) return std::optional<Referenced>();
  auto informer = TRY(watches_.Need(ctx, {kube::Builtin(kind), ref->ns, "", "metadata.name=" + ref->name, true}, key));
  kube::ObjectPtr found = informer->Get(ref->ns, ref->name);
  Referenced out{*ref, found != nullptr, found ? found->uid() + "/" + found->resource_version() : ""};
  return std::optional<Referenced>(out);
}

Result<std::vector<StoredRelease>> Observer::Releases(const Context& ctx, const std::string& key,
                                                      const api::Provider& provider) {
  std::optional<kube::LabelSelector> selector;
  Watches::Key watch{kube::Builtin("ConfigMap"), "", std::string(api::kLabelReleaseName), "", true};
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
  std::vector<StoredRelease> releases;
  for (const auto& map : informer->List()) {
    const Json* labels = capi::Find(map->json(), {"metadata", "labels"});
    if (map->ns() == provider.id.ns && selector->Matches(labels == nullptr ? Json() : *labels)) {
      releases.push_back(Describe(*map));
    }
  }
  MutexLock lock(mu_);
  auto stored = remembered_.find(key);
  if (stored == remembered_.end()) return releases;
  kube::ObjectPtr seen = informer->Get(stored->second.ns, stored->second.name);
  std::string written = stored->second.stamp.substr(stored->second.stamp.find('/') + 1);
  if (seen && Number(seen->resource_version()) >= Number(written)) {
    remembered_.erase(stored);
    return releases;
  }
  std::erase_if(releases, [&](const StoredRelease& r) { return r.name == stored->second.name; });
  releases.push_back(stored->second);
  return releases;
}

// A kind that can't be watched (its server is away) must not hold up the others: its first state is waited for once.
constexpr Seconds kFirstState{5};

bool Observer::FirstTime(const std::string& watch) {
  MutexLock lock(mu_);
  return awaited_.insert(watch).second;
}

Result<std::shared_ptr<kube::Informer>> Observer::Objects(const Context& ctx, const std::string& key,
                                                          const kube::ObjectId& id, const std::string& version) {
  if (IsCrd(id)) return Crds(ctx, key);
  if (IsWorkload(id)) return Workloads(ctx, key, id.kind);
  std::shared_ptr<kube::Informer> none;
  auto resource = watches_.mapper().For(ctx, id.group_kind(), version);
  if (!resource.ok() && resource.code() == Code::kNotFound) {
    resource = watches_.mapper().For(ctx, id.group_kind());  // another version of the same objects will do
  }
  if (!resource.ok() && resource.code() == Code::kNotFound) return none;
  if (!resource.ok()) return resource.error();
  Watches::Key watch{*resource, "", OurObjects(), "", true};
  auto informer = watches_.Start(ctx, watch, key, SlimToTrace);
  if (informer->Synced()) return informer;
  if (!FirstTime(watch.ToString())) return none;
  return informer->WaitForSync(ctx.WithTimeout(kFirstState)).ok() ? informer : none;
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
    kube::ObjectPtr object = informer->Get(id.ns, id.name);
    TRY(SettleDoubt(ctx, id));
    bool awaited = Awaited(id);
    Trace trace = object ? TraceOf(*object) : Trace{};
    if (IsCrd(id)) ObserveCrd(id, object, fleet);
    if (IsWorkload(id)) {
      Workload workload = WorkloadOf(id, object);
      workload.scaled_by = awaited ? ScaledBy(id).value_or(trace.scaled_by) : trace.scaled_by;
      if (object) ReadReplicas(*object, workload);
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
  auto informer = TRY(watches_.Need(ctx, {kube::Builtin("Namespace"), "", "", "", true}, key, SlimNamespace));
  kube::ObjectPtr object = informer->Get("", ns);
  return object != nullptr && object->deleting();
}

// Until the watch has shown our own write, what the cache says is old. A watch that missed it (it listed anew while the
// object came and went) can't hold things up for longer than this.
constexpr Seconds kWatchLag{30};

Status Observer::SettleDoubt(const Context& ctx, const kube::ObjectId& id) {
  {
    MutexLock lock(mu_);
    auto it = tracks_.find(id);
    if (it == tracks_.end() || !it->second.doubted) return Ok();
  }
  auto live = client_.Get(ctx, kube::Builtin(id.kind), id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() != Code::kNotFound) return live.error().With(id.ToString());
  if (live.ok()) KeepTrace(*live);
  Expect(id, live.ok() ? live->resource_version() : "", live.ok() ? TraceOf(*live).scaled_by : "");
  return Ok();
}

bool Observer::Awaited(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  auto it = tracks_.find(id);
  return it != tracks_.end() && it->second.seen < it->second.written && clock_.Monotonic() < it->second.until;
}

std::optional<std::string> Observer::ScaledBy(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  auto it = tracks_.find(id);
  return it == tracks_.end() ? std::nullopt : it->second.scaled_by;
}

void Observer::Expect(const kube::ObjectId& id, const std::string& resource_version,
                      std::optional<std::string> scaled_by) {
  MutexLock lock(mu_);
  Track& track = tracks_[id];
  track.written = Number(resource_version);
  if (scaled_by) track.scaled_by = std::move(scaled_by);
  if (track.seen >= track.written) track.scaled_by.reset();
  track.until = clock_.Monotonic() + kWatchLag;
  track.doubted = false;
}

void Observer::Doubt(const kube::ObjectId& id) {
  MutexLock lock(mu_);
  tracks_[id].doubted = true;
}

void Observer::Saw(const kube::Object& object) {
  MutexLock lock(mu_);
  Track& track = tracks_[object.id()];
  track.seen = std::max(track.seen, Number(object.resource_version()));
  if (track.seen >= track.written) track.scaled_by.reset();
}

void Observer::Remember(const std::string& key, const StoredRelease& stored) {
  MutexLock lock(mu_);
  remembered_[key] = stored;
}

Result<std::optional<CrdState>> Observer::LiveCrd(const Context& ctx, const std::string& key, const std::string& name) {
  auto crds = TRY(Crds(ctx, key));
  kube::ObjectPtr crd = crds->Get("", name);
  return crd ? std::optional<CrdState>(StateOf(*crd)) : std::nullopt;
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
  o.rendered = rendered_.InputsOf(key);
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
