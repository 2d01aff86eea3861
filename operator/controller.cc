#include "operator/controller.h"

#include <malloc.h>

#include "api/reasons.h"
#include "operator/contract_rules.h"
#include "operator/crd_stages.h"
#include "operator/pause.h"
#include "operator/rebuild.h"
#include "operator/rollout.h"
#include "operator/rules.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;

void DropManagedFields(kube::Object& object) {
  if (Json* metadata = Find(object.json(), {"metadata"})) metadata->erase("managedFields");
}

std::string ReadyReason(const api::Provider& provider) {
  const auto* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  return ready == nullptr ? "" : ready->reason;
}

bool IsReady(const api::ProviderStatus& status) {
  const auto* ready = kube::FindCondition(status.conditions, api::condition::kReady);
  return ready != nullptr && ready->status == "True";
}

// What others look at in the core: its contract and the CRDs that it brings.
bool CoreMatters(const ProviderCache::Change& change) {
  if (change.id.type != api::ProviderType::kCore) return false;
  if (!change.was || !change.is) return true;
  return change.was->status.contract != change.is->status.contract ||
         change.was->status.inventory != change.is->status.inventory;
}

// What the contract rules of all others look at; what runs counts with them also without a contract, until it goes
// (C6). They are all woken, also one that is in the middle of a pass and whose status doesn't say yet what it waits
// for; a pass with nothing to do is cheap, and these changes are rare.
bool JudgedByOthers(const ProviderCache::Change& change) {
  if (!change.is) return true;
  if (!change.was) return !change.is->status.contract.empty();
  const api::ProviderStatus &was = change.was->status, &is = change.is->status;
  return was.contract != is.contract || SaysPaused(was) != SaysPaused(is) ||
         DesiredContract(*change.was) != DesiredContract(*change.is);
}

// Progress alone: the same conditions with the same status, in other words; and what else is in a status stays.
bool OnlyWords(const api::ProviderStatus& was, const api::ProviderStatus& is) {
  if (was.conditions.size() != is.conditions.size()) return false;
  api::ProviderStatus same = is;
  for (size_t i = 0; i < is.conditions.size(); ++i) {
    if (was.conditions[i].type != is.conditions[i].type || was.conditions[i].status != is.conditions[i].status)
      return false;
    if (was.conditions[i].observed_generation != is.conditions[i].observed_generation) return false;
  }
  same.conditions = was.conditions;
  return same == was;
}

// Metadata of an object with our label that neither drift nor a deletion changed.
bool SameTrace(const kube::Object& was, const kube::Object& is) {
  return was.uid() == is.uid() && was.deleting() == is.deleting() && TraceOf(was).fields == TraceOf(is).fields &&
         was.label(api::kLabelProvider) == is.label(api::kLabelProvider);
}

// Of a Namespace, only that it comes or goes; of what may be in use (a watch without any selector but the CRDs'), only
// that objects do.
bool Matters(const Watches::Key& watch, const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  bool everything = watch.label_selector.empty() && watch.field_selector.empty();
  if (!everything || watch.resource.kind == "CustomResourceDefinition" || !was || !is) return true;
  return was->deleting() != is->deleting();
}

// One line for each change of state, not for each pass.
void LogChange(const Context& ctx, const api::ProviderStatus& was, const api::ProviderStatus& is) {
  const auto* before = kube::FindCondition(was.conditions, api::condition::kReady);
  const auto* now = kube::FindCondition(is.conditions, api::condition::kReady);
  if (now == nullptr || (before != nullptr && before->reason == now->reason && before->status == now->status)) return;
  ctx.log.Info(now->status == "True" ? "ready" : "not ready", {{"reason", now->reason}, {"message", now->message}});
}

// Whether another pass follows at once, one for which no event is to come.
bool GoesOn(const api::ProviderStatus& was, const api::ProviderStatus& is, const Done& done) {
  // It waits for what its own status says now: that it is paused (C3), that a contract can't be told (C5), or that
  // objects are to be migrated (U3).
  if (was.desired_version != is.desired_version || SaysPaused(was) != SaysPaused(is) ||
      SaysUnmigrated(was) != SaysUnmigrated(is)) {
    return true;
  }
  if (done.hold) return false;
  // Everything new became healthy in this pass, and something is left over.
  bool unmigrated = done.fleet && done.fleet->ready() && !done.fleet->unmigrated.empty();
  return done.again || unmigrated || (done.inventory && done.inventory->has_stale());
}

}  // namespace

ProviderController::ProviderController(kube::Client& client, const Settings& settings, const Sources& sources,
                                       ControllerSettings options, kube::Metrics& metrics, kube::EventRecorder& events,
                                       Clock& clock)
    : clock_(clock),
      client_(client),
      metrics_(metrics),
      events_(events),
      options_(std::move(options)),
      cache_([this](const ProviderCache::Change& change) { OnProvider(change); }),
      watches_(client, [this](const Watches::Key& watch, const std::set<std::string>& users, const kube::ObjectPtr& was,
                              const kube::ObjectPtr& is) { OnWatch(watch, users, was, is); }),
      inventory_key_(client, options_.own_ns),
      fights_(clock),
      use_(client, watches_),
      observer_({client, cache_, watches_, settings, rendered_, fights_, use_, clock, [this] { return Unlisted(); }}),
      writer_(client, cache_),
      installer_({client, observer_, cache_, writer_, settings, sources, rendered_, masks_, inventory_key_}),
      remover_(client, writer_),
      restorer_({client, observer_, rendered_, fights_}),
      scaler_(client, observer_),
      pods_(client),
      migration_(client),
      controller_(
          {.name = "provider", .workers = options_.workers, .backoff = {}},
          [this](const Context& ctx, const std::string& key) { return Pass(ctx, key); }, metrics, clock) {
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    kube::InformerOptions watch;
    watch.ns = options_.ns;
    watch.transform = DropManagedFields;
    auto handler = [this, type = kind.type](const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
      if (is) {
        cache_.OnEvent(type, is);
      } else {
        cache_.OnDelete(type, was);
      }
    };
    informers_.push_back(std::make_unique<kube::Informer>(client, api::ResourceOf(kind.type), watch, handler));
  }
}

ProviderController::~ProviderController() { watches_.Stop(); }

void ProviderController::AddTo(kube::Manager& manager) {
  for (auto& informer : informers_) manager.Add(*informer);
  manager.Add(controller_);
}

std::vector<std::string> ProviderController::Unlisted() const {
  std::vector<std::string> kinds;
  for (const auto& informer : informers_) {
    auto refusal = informer->refusal();
    bool none = refusal && refusal->code == Code::kNotFound;
    if (!informer->Synced() && !none) kinds.push_back(informer->resource().kind);
  }
  return kinds;
}

void ProviderController::WakeAll(const std::function<bool(const api::Provider&)>& who) {
  for (const auto& cached : cache_.All()) {
    if (who(*cached->provider)) controller_.queue().Add(cached->provider->id.Key());
  }
}

void ProviderController::OnProvider(const ProviderCache::Change& change) {
  if (change.spec) controller_.queue().Add(change.id.Key());
  bool core_matters = CoreMatters(change);
  bool went = !change.is;
  bool came_or_went = !change.was || !change.is;
  if (JudgedByOthers(change)) {
    WakeAll([&](const api::Provider& provider) { return provider.id != change.id; });
    return;
  }
  bool owns_other = change.was && change.is && change.was->status.inventory != change.is->status.inventory;
  if (!core_matters && !came_or_went && !owns_other) return;
  WakeAll([&](const api::Provider& provider) {
    if (provider.id == change.id) return false;
    std::string why = ReadyReason(provider);
    if (core_matters && provider.id.type != api::ProviderType::kCore) {
      return why.empty() || why == reason::kWaitingForCoreProviderReady || why == reason::kCAPIVersionIncompatibility ||
             provider.status.contract.empty();
    }
    if (came_or_went && provider.id.type == change.id.type) return true;
    if (went && provider.deleting && provider.id.type == api::ProviderType::kCore) return true;  // X3
    return owns_other && why == reason::kObjectOwnedByAnotherProvider;
  });
}

void ProviderController::OnWatch(const Watches::Key& watch, const std::set<std::string>& users,
                                 const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  const kube::Object& object = is ? *is : *was;
  bool shared = watch.label_selector == api::kLabelClusterctl;  // workloads and CRDs of all providers
  if (!shared) {
    if (!Matters(watch, was, is)) return;
    bool crds = watch.resource.plural == "customresourcedefinitions";
    if (crds) client_.mapper().Invalidate();
    bool releases = watch.label_selector == api::kLabelReleaseName;
    for (const auto& key : users) {
      if (releases && api::ProviderId::FromKey(key).ns != object.ns()) continue;
      if (watch.resource.kind == "Namespace" && api::ProviderId::FromKey(key).ns != object.name()) continue;
      controller_.queue().Add(key);
    }
    return;
  }
  observer_.Saw(object);
  if (watch.metadata_only && was && is && SameTrace(*was, *is)) return;
  std::string label = object.label(api::kLabelProvider);
  std::string before = was ? was->label(api::kLabelProvider) : label;
  bool of_core =
      watch.resource.kind == "CustomResourceDefinition" && (label == "cluster-api" || before == "cluster-api");
  // A status that says Ready may be about to change, by a pass that saw the CRD as it was.
  bool established = of_core && (!was || !is || kube::HealthOf(*was).ok() != kube::HealthOf(*is).ok());
  WakeAll([&](const api::Provider& provider) {
    std::string own = api::ManifestLabel(provider.id.type, provider.id.name);
    if (own == label || own == before) return true;
    // It may have been the last that ran of a provider whose contract isn't known, and that others wait for (C6).
    if (!is && IsWorkload(object.id())) return true;
    return established || (of_core && !IsReady(provider.status));
  });
}

Done ProviderController::Act(const Context& ctx, Observation& o, const Step& step) {
  Done done;
  if (std::holds_alternative<Hold>(step)) {
    done.hold = std::get<Hold>(step);
    done.deleting = o.provider.deleting;
  } else if (std::holds_alternative<HandsOff>(step)) {
    done.hands_off = true;
  } else if (std::holds_alternative<Remove>(step)) {
    done = remover_.Remove(ctx, o);
  } else if (std::holds_alternative<Install>(step)) {
    const Install& install = std::get<Install>(step);
    Done restored;
    if (!install.drifts.empty()) restored = restorer_.Run(ctx, o, Restore{install.drifts, std::nullopt});
    if (restored.inventory) o.inventory = *restored.inventory;
    if (!install.rollback_to.empty()) pods_.Explain(ctx, o.provider.id.Key(), o.fleet);
    done = installer_.Install(ctx, o, install.rollback_to);
    if (!done.inventory) done.inventory = restored.inventory;
    done.restored = std::move(restored.restored);
    if (!done.hold) done.hold = install.hold;
    done.deleting = o.provider.deleting;
  } else if (std::holds_alternative<Restore>(step)) {
    done = restorer_.Run(ctx, o, std::get<Restore>(step));
    done.deleting = o.provider.deleting;
  } else if (std::holds_alternative<Adopt>(step)) {
    done = installer_.Adopt(ctx, o);
  } else if (std::holds_alternative<Prune>(step)) {
    done = installer_.Prune(ctx, o);
  } else if (std::holds_alternative<Scale>(step)) {
    rendered_.Drop(o.provider.id.Key());  // it has the other replicas
    done = scaler_.Run(ctx, o, std::get<Scale>(step));
  } else if (std::holds_alternative<Unpause>(step)) {
    rendered_.Drop(o.provider.id.Key());
    done.unpausing = done.again = true;
  } else if (std::holds_alternative<Migrate>(step)) {
    done = MigrateStorage(ctx, o);
  } else {
    done = ActOnRollout(ctx, o, step);
  }
  return done;
}

Done ProviderController::ActOnRollout(const Context& ctx, const Observation& o, const Step& step) {
  Done done;
  if (const Await* wait = std::get_if<Await>(&step)) {
    if (!wait->drifts.empty()) done = restorer_.Run(ctx, o, Restore{wait->drifts, std::nullopt});
    if (wait->elapsed < kPodsAfter) {
      done.again_after = std::min<Millis>(wait->left, kPodsAfter - wait->elapsed);
      return done;
    }
    if (!done.fleet) done.fleet = o.fleet;
    pods_.Explain(ctx, o.provider.id.Key(), *done.fleet);
    done.again_after = std::min<Millis>(wait->left, kPodsEvery);
  } else if (std::holds_alternative<GiveUp>(step)) {
    Fleet fleet = o.fleet;
    pods_.Explain(ctx, o.provider.id.Key(), fleet);
    done = GiveUpRollout(o, std::move(fleet));
  }
  return done;
}

// One that fails is tried again later, and holds up no other.
Done ProviderController::MigrateStorage(const Context& ctx, const Observation& o) {
  constexpr Millis kLater = std::chrono::minutes(1);
  Done done;
  for (const CrdState& crd : o.fleet.unmigrated) {
    auto migrated = migration_.Migrate(ctx, crd);
    if (migrated.ok()) {
      ctx.log.Info("migrated", {{"crd", crd.name}, {"objects", migrated->objects}});
      continue;
    }
    ctx.log.Info("not migrated", {{"crd", crd.name}, {"error", migrated.error().message}});
    if (done.migration_error.empty()) done.migration_error = migrated.error().message;
    done.again_after = kLater;
    if (o.provider.deleting) done.hold = NotMigratedHold(o, migrated.error());
  }
  done.deleting = o.provider.deleting;
  if (done.deleting && !done.hold) done.again_after = Seconds(1);  // if the CRDs' events come late
  return done;
}

Result<kube::Outcome> ProviderController::Pass(const Context& parent, const std::string& key) {
  Context ctx = parent.WithLog(parent.log.With({{"provider", key}}));
  std::optional<Observation> o = TRY(observer_.Observe(ctx, key));
  if (!o) {
    Measure(api::Provider{.id = api::ProviderId::FromKey(key)}, {}, true);
    return kube::Outcome{};
  }
  Step step = Decide(*o);
  if (std::holds_alternative<AddFinalizer>(step)) {
    TRY(writer_.AddFinalizer(ctx, o->provider));
    o = TRY(observer_.Observe(ctx, key));
    if (!o) return kube::Outcome{};
    step = Decide(*o);
  }
  bool rebuild = std::holds_alternative<Rebuild>(step);
  std::optional<Done> done = rebuild ? TRY(RemoveLeftBehind(ctx, *o)) : Act(ctx, *o, step);
  TRY(ctx.Check());
  if (!done) return kube::Outcome{.again_after = Millis(0)};
  return Report(ctx, *o, std::move(*done));
}

// nullopt: an inventory was found and written, alone. Only then is anything of it removed: what a crash interrupts goes
// on with the same one.
Result<std::optional<Done>> ProviderController::RemoveLeftBehind(const Context& ctx, Observation& o) {
  Done done;
  done.deleting = true;
  auto rebuilt = RebuildInventory(ctx, client_, o);
  if (!rebuilt.ok()) {
    done.hold = HoldFor(std::string(api::condition::kReady), std::string(reason::kDeletionFailed),
                        rebuilt.error().With("looking for what is installed"));
    return std::optional<Done>(std::move(done));
  }
  if (!rebuilt->unread.empty() && GuardsDeletion(o)) {
    done.hold = UnreadHold(o, rebuilt->unread);
    return std::optional<Done>(std::move(done));
  }
  if (rebuilt->inventory.size() == 0) return std::optional<Done>(remover_.Remove(ctx, o));
  api::ProviderStatus status = o.provider.status;
  status.inventory = rebuilt->inventory.ToJson();
  TRY(writer_.WriteStatus(ctx, o.provider, status));
  return std::optional<Done>();
}

// What no event will tell: a fight's next turn, and drift of a kind whose watch has no state yet.
void ProviderController::LookAgain(const Observation& o) {
  const std::string key = o.provider.id.Key();
  for (const Fight& fight : o.fights) controller_.queue().AddAfter(key, fight.next + Millis(1));
  if (o.fleet.blind) controller_.queue().AddAfter(key, Seconds(30));
}

// What a pass comes to, in the status first: nothing is said of a pass that was decided on what is no longer so.
Result<kube::Outcome> ProviderController::Report(const Context& ctx, Observation& o, Done done) {
  const std::string key = o.provider.id.Key();
  if (done.hold) {
    if (done.hold->retry == Retry::kBackoff) done.hold->after = controller_.queue().AddBackoff(key);
    if (done.hold->retry == Retry::kAt && done.hold->after) controller_.queue().AddAfter(key, *done.hold->after);
  } else {
    controller_.queue().Forget(key);
  }
  masks_.Hide(key, o, done);
  if (!done.forget) LookAgain(o);
  if (done.again_after) controller_.queue().AddAfter(key, *done.again_after);
  const api::ProviderStatus was = o.provider.status, is = Summarize(o, done);
  bool later = !done.forget && Postponed(key, was, is);
  Status written = done.forget || later ? Ok() : writer_.WriteStatus(ctx, o.provider, is);
  if (!written.ok() && written.code() == Code::kNotFound) return kube::Outcome{};
  if (!written.ok() && written.code() == Code::kConflict) {
    controller_.queue().AddBackoff(key);
    return kube::Outcome{};
  }
  auto object = cache_.Get(key);
  if (object) {
    for (const Event& event : EventsOf(was, is, done)) {
      events_.Record(*object->object, event.type, event.reason, event.message);
    }
  }
  LogChange(ctx, was, is);
  Measure(o.provider, is, done.forget);
  TRY(written);
  if (done.forget || later) return kube::Outcome{};
  // What a change took (texts, answers, the schemas of CRDs that came by) is free when it is over: the pages go back.
  if (IsReady(is) && !IsReady(was)) malloc_trim(0);
  if (GoesOn(was, is, done)) return kube::Outcome{.again_after = Millis(0)};
  return kube::Outcome{};
}

// While pods and CRDs come up, the words of a status change with each of them: they are written once a second.
bool ProviderController::Postponed(const std::string& key, const api::ProviderStatus& was,
                                   const api::ProviderStatus& is) {
  constexpr Millis kPause = Seconds(1);
  MonoTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  MonoTime& last = last_words_[key];
  if (was != is && OnlyWords(was, is) && now < last + kPause) {
    controller_.queue().AddAfter(key, std::chrono::ceil<Millis>(last + kPause - now));
    return true;
  }
  if (was != is) last = now;
  return false;
}

void ProviderController::Measure(const api::Provider& provider, const api::ProviderStatus& status, bool gone) {
  kube::Labels labels = {{"kind", std::string(api::KindOf(provider.id.type).kind)},
                         {"namespace", provider.id.ns},
                         {"name", provider.id.name}};
  if (gone) {
    rendered_.Drop(provider.id.Key());
    fights_.Forget(provider.id.Key());
    masks_.Drop(provider.id.Key());
    metrics_.Remove("capi_operator_provider_ready", labels);
    metrics_.Remove("capi_operator_provider_stalled", labels);
    pods_.Forget(provider.id.Key());
    MutexLock lock(mu_);
    last_words_.erase(provider.id.Key());
    return;
  }
  auto is = [&](std::string_view type) {
    const auto* found = kube::FindCondition(status.conditions, type);
    return found != nullptr && found->status == "True" ? 1.0 : 0.0;
  };
  metrics_.Set("capi_operator_provider_ready", "Whether the provider's Ready condition is True.", labels,
               is(api::condition::kReady));
  metrics_.Set("capi_operator_provider_stalled", "Whether the provider waits for a change of its input.", labels,
               is(api::condition::kStalled));
}

}  // namespace capi::ops
