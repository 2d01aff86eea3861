#include "operator/controller.h"

#include <malloc.h>

#include "api/reasons.h"
#include "operator/act/rebuild.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/pause.h"
#include "operator/decide/rollout.h"
#include "operator/decide/rules.h"
#include "operator/report/next_pass.h"
#include "operator/wakes.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;

constexpr const char* kReadyMetric = "capi_operator_provider_ready";
constexpr const char* kStalledMetric = "capi_operator_provider_stalled";
constexpr const char* kResyncMetric = "capi_operator_changes_found_by_resync_total";
constexpr const char* kResyncHelp = "Changes that were found by time alone: their events were lost, or they have none.";

void DropManagedFields(kube::Object& object) {
  if (Json* metadata = Find(object.json(), {"metadata"})) metadata->erase("managedFields");
}

bool IsReady(const api::ProviderStatus& status) {
  const auto* ready = kube::FindCondition(status.conditions, api::condition::kReady);
  return ready != nullptr && ready->status == "True";
}

// Progress alone: the same conditions with the same status and reason, in other words; and what else is in a status
// stays.
bool OnlyWords(const api::ProviderStatus& was, const api::ProviderStatus& is) {
  if (was.conditions.size() != is.conditions.size()) return false;
  api::ProviderStatus same = is;
  for (size_t i = 0; i < is.conditions.size(); ++i) {
    const kube::Condition &a = was.conditions[i], &b = is.conditions[i];
    if (a.type != b.type || a.status != b.status || a.reason != b.reason) return false;
    if (a.observed_generation != b.observed_generation) return false;
  }
  same.conditions = was.conditions;
  return same == was;
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
      storage_(client),
      migrations_([this](const Context& ctx, const CrdState& crd, MigrationCursor& cursor,
                         const std::function<void()>& looked) { return storage_.Migrate(ctx, crd, cursor, looked); },
                  [this](const std::string& key) { controller_.queue().Add(key); }, clock),
      observer_({client, cache_, watches_, settings, fights_, use_, clock,
                 [this](const std::string& crd) { return migrations_.ProgressOf(crd); },
                 [this](const std::string& key) { return rendered_.InputsOf(key); }, [this] { return Unlisted(); }}),
      writer_(client, cache_),
      installer_(
          {client, observer_, cache_, writer_, settings, sources, rendered_, migrations_, masks_, inventory_key_}),
      remover_(client, writer_),
      restorer_({client, observer_, rendered_, fights_}),
      scaler_(client, observer_),
      pods_(client),
      controller_(
          {.name = "provider", .workers = options_.workers, .backoff = kSoon},
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
  metrics_.Count(kResyncMetric, kResyncHelp, {}, 0);
}

ProviderController::~ProviderController() { watches_.Stop(); }

void ProviderController::AddTo(kube::Manager& manager) {
  for (auto& informer : informers_) manager.Add(*informer);
  manager.Add(
      "storage-migration",
      [this](const Context& ctx) {
        migrations_.Run(ctx);
        return Ok();
      },
      /*needs_lead=*/true);
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

void ProviderController::Wake(const std::function<bool(const api::ProviderId&)>& who) {
  for (const auto& cached : cache_.All()) {
    const api::ProviderId& id = cached->provider->id;
    if (who(id)) controller_.queue().Add(id.Key());
  }
}

void ProviderController::OnProvider(const ProviderCache::Change& change) {
  const ProviderNews news = NewsOf(change);
  if (news.itself) controller_.queue().Add(change.id.Key());  // also when it is gone: to drop what is kept for it
  if (news.all || news.came) {
    Wake([&](const api::ProviderId& id) { return Wakes(news, id); });
  }
}

void ProviderController::OnWatch(const Watches::Key& watch, const std::set<std::string>& users,
                                 const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  if (IsShared(watch)) {
    is ? observer_.tracks().Saw(*is) : observer_.tracks().SawGo(*was);
    if (auto news = NewsOf(watch, was, is)) {
      Wake([&](const api::ProviderId& id) { return Wakes(*news, id); });
    }
    return;
  }
  bool any = false;
  for (const auto& key : users) {
    if (!Wakes(watch, was, is, api::ProviderId::FromKey(key))) continue;
    any = true;
    controller_.queue().Add(key);
  }
  if (any && watch.resource.plural == "customresourcedefinitions") client_.mapper().Invalidate();
}

Done ProviderController::Act(const Context& ctx, Observation& o, const Step& step) {
  Done done;
  if (std::holds_alternative<Hold>(step)) {
    done.hold = std::get<Hold>(step);
  } else if (std::holds_alternative<HandsOff>(step)) {
    done.hands_off = true;
  } else if (std::holds_alternative<Remove>(step)) {
    done = remover_.Remove(ctx, o);
  } else if (std::holds_alternative<Install>(step)) {
    const Install& install = std::get<Install>(step);
    Done restored;
    if (!install.drifts.empty()) restored = RestoreDrift(ctx, o, Restore{install.drifts, std::nullopt});
    if (restored.inventory) o.inventory = *restored.inventory;
    if (!install.rollback_to.empty()) pods_.Explain(ctx, o.provider.id.Key(), o.fleet);
    done = installer_.Install(ctx, o, install.rollback_to);
    if (!done.inventory) done.inventory = restored.inventory;
    done.restored = std::move(restored.restored);
  } else if (std::holds_alternative<Restore>(step)) {
    done = RestoreDrift(ctx, o, std::get<Restore>(step));
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
    done = MigrateStorage(o);
  } else {
    done = ActOnRollout(ctx, o, step);
  }
  return done;
}

Done ProviderController::RestoreDrift(const Context& ctx, Observation& o, const Restore& step) {
  const std::string& applied = o.provider.status.applied;
  if (o.rendered.empty() || (!applied.empty() && o.rendered != applied)) {
    if (auto failed = installer_.RenderAgain(ctx, o)) {
      ctx.log.Warn("can't render what is applied again, to restore from it",
                   {{"reason", failed->reason}, {"error", masks_.Hide(o.provider.id.Key(), failed->message)}});
      Done done;
      done.hold = step.hold ? step.hold : failed;
      return done;
    }
  }
  return restorer_.Run(ctx, o, step);
}

Done ProviderController::ActOnRollout(const Context& ctx, Observation& o, const Step& step) {
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
    GivenUp given_up = GiveUpRollout(o, fleet);
    done = Done{.hold = std::move(given_up.hold), .fleet = std::move(fleet), .rollout = std::move(given_up.entry)};
  }
  return done;
}

// Beside the passes: a worker does it, and wakes the provider.
Done ProviderController::MigrateStorage(const Observation& o) {
  Done done;
  for (const CrdState& crd : o.fleet.unmigrated) {
    MigrationProgress progress = migrations_.Ask(o.provider.id.Key(), crd);
    if (progress.error) done.again_after = std::min(done.again_after.value_or(progress.next), progress.next);
  }
  if (o.provider.deleting) done.hold = MigrationHold(o);
  return done;
}

Result<kube::Outcome> ProviderController::Pass(const Context& parent, const std::string& key) {
  Context ctx = parent.WithLog(parent.log.With({{"provider", key}}));
  auto observed = observer_.Observe(ctx, key);
  // Not before, so that an event of what it has just seen counts; and not after the step, which makes events of its
  // own.
  resyncs_.Begin(key, controller_.queue().ByTimeAlone(key));
  if (!observed.ok()) return ReportUnseen(ctx, key, observed.error());
  std::optional<Observation>& o = *observed;
  if (!o) {
    Forget(api::ProviderId::FromKey(key));
    return kube::Outcome{};
  }
  Step step = Decide(*o);
  if (std::holds_alternative<AddFinalizer>(step)) {
    TRY(writer_.AddFinalizer(ctx, o->provider));
    return kube::Outcome{.again_after = Millis(0)};
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
  auto rebuilt = RebuildInventory(ctx, client_, o);
  if (!rebuilt.ok()) {
    done.hold = ServerHold(std::string(api::condition::kReady), std::string(reason::kDeletionBlocked),
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

// Nothing is known but what was said before: the error is said too, and nothing else is (F1).
Result<kube::Outcome> ProviderController::ReportUnseen(const Context& ctx, const std::string& key, const Error& error) {
  TRY(ctx.Check());
  auto cached = cache_.Get(key);
  if (!cached) return error;
  Hold hold = ServerHold(std::string(api::condition::kReady), std::string(reason::kAPIServerUnavailable),
                         error.With("can't see what there is"));
  Observation none;
  Done done{.hold = hold};
  masks_.Hide(key, none, done);
  kube::Outcome next = Schedule(key, none, done, false);
  api::Provider provider = *cached->provider;
  const api::ProviderStatus was = provider.status;
  const api::ProviderStatus is = SummarizeUnseen(provider, *done.hold, clock_.Now());
  ctx.log.Warn("can't observe", {{"code", CodeName(error.code)}, {"error", done.hold->message}});
  TRY(writer_.WriteStatus(ctx, provider, is));
  for (const Event& event : EventsOf(was, is, done)) {
    events_.Record(*cached->object, event.type, event.reason, event.message);
  }
  return next;
}

// The outcome of a pass, and the time that its hold tells (F5, F6).
kube::Outcome ProviderController::Schedule(const std::string& key, const Observation& o, Done& done, bool ready) {
  NextPass next = NextPassOf(o, done, ready, options_.sync_period);
  kube::Outcome outcome{.again_after = next.at, .failed = next.backoff.has_value()};
  if (next.backoff) {
    Millis delay = controller_.queue().Backoff(key, *next.backoff, next.at_least);
    outcome.again_after = std::min(next.at.value_or(delay), delay);
  }
  if (done.hold) done.hold->after = next.told ? outcome.again_after : std::nullopt;
  resyncs_.Next(key, next.resync);
  return outcome;
}

// What a pass comes to, in the status first: nothing is said of a pass that was decided on what is no longer so.
Result<kube::Outcome> ProviderController::Report(const Context& ctx, Observation& o, Done done) {
  if (done.forget) return ReportGone(ctx, o, std::move(done));
  const std::string key = o.provider.id.Key();
  masks_.Hide(key, o, done);
  kube::Outcome next;
  if (done.hold) next = Schedule(key, o, done, false);
  const api::ProviderStatus was = o.provider.status, is = Summarize(o, done);
  if (!done.hold) next = Schedule(key, o, done, IsReady(is));
  if (auto rest = Postponed(key, was, is, done)) {
    next.again_after = std::min(next.again_after.value_or(*rest), *rest);
    return next;
  }
  Status written = writer_.WriteStatus(ctx, o.provider, is);
  if (!written.ok()) resyncs_.Next(key, false);  // what this pass couldn't say, the next one finds
  if (!written.ok() && written.code() == Code::kNotFound) return kube::Outcome{};
  if (!written.ok() && written.code() == Code::kConflict) {
    return kube::Outcome{.again_after = controller_.queue().Backoff(key, kSoon), .failed = true};
  }
  Announce(ctx, o.provider, was, is, done);
  TRY(written);
  // What a change took (texts, answers, the schemas of CRDs that came by) is free when it is over: the pages go back.
  if (IsReady(is) && !IsReady(was)) malloc_trim(0);
  if (GoesOn(was, is, done)) return kube::Outcome{.again_after = Millis(0)};
  return next;
}

void ProviderController::Announce(const Context& ctx, const api::Provider& provider, const api::ProviderStatus& was,
                                  const api::ProviderStatus& is, const Done& done) {
  if (auto object = cache_.Get(provider.id.Key())) {
    for (const Event& event : EventsOf(was, is, done)) {
      events_.Record(*object->object, event.type, event.reason, event.message);
    }
  }
  LogChange(ctx, was, is);
  Measure(provider, is);
  if (Turned(was, is) || !done.restored.empty() || done.forget) CountFoundByResync(ctx, provider.id.Key());
}

// F6 makes up for an event that was lost, and so hides the loss: it is counted.
void ProviderController::CountFoundByResync(const Context& ctx, const std::string& key) {
  if (!resyncs_.Resyncing(key)) return;
  metrics_.Count(kResyncMetric, kResyncHelp, {});
  ctx.log.Info("a change without an event, found by a resync");
}

// Its finalizer is removed: there is no status to write any more.
kube::Outcome ProviderController::ReportGone(const Context& ctx, Observation& o, Done done) {
  masks_.Hide(o.provider.id.Key(), o, done);
  const api::ProviderStatus was = o.provider.status, is = Summarize(o, done);
  Announce(ctx, o.provider, was, is, done);
  Forget(o.provider.id);
  return {};
}

// While pods and CRDs come up, the words of a status change with each of them: they are written once a second. What is
// left of that second; nullopt where the status may be written. A message with a time is written: the next pass is
// then.
std::optional<Millis> ProviderController::Postponed(const std::string& key, const api::ProviderStatus& was,
                                                    const api::ProviderStatus& is, const Done& done) {
  constexpr Millis kPause = Seconds(1);
  bool tells_time = done.hold && done.hold->after;
  MonoTime now = clock_.Monotonic();
  MutexLock lock(mu_);
  MonoTime& last = last_words_[key];
  if (was != is && !tells_time && OnlyWords(was, is) && now < last + kPause) {
    return std::chrono::ceil<Millis>(last + kPause - now);
  }
  if (was != is) last = now;
  return std::nullopt;
}

kube::Labels ProviderController::LabelsOf(const api::ProviderId& id) {
  return {{"kind", std::string(api::KindOf(id.type).kind)}, {"namespace", id.ns}, {"name", id.name}};
}

void ProviderController::Forget(const api::ProviderId& id) {
  const std::string key = id.Key();
  rendered_.Drop(key);
  fights_.Forget(key);
  pods_.Forget(key);
  observer_.Forget(key);
  masks_.Drop(key);
  migrations_.Forget(key);
  resyncs_.Forget(key);
  metrics_.Remove(kReadyMetric, LabelsOf(id));
  metrics_.Remove(kStalledMetric, LabelsOf(id));
  MutexLock lock(mu_);
  last_words_.erase(key);
}

void ProviderController::Measure(const api::Provider& provider, const api::ProviderStatus& status) {
  auto is = [&](std::string_view type) {
    const auto* found = kube::FindCondition(status.conditions, type);
    return found != nullptr && found->status == "True" ? 1.0 : 0.0;
  };
  metrics_.Set(kReadyMetric, "Whether the provider's Ready condition is True.", LabelsOf(provider.id),
               is(api::condition::kReady));
  metrics_.Set(kStalledMetric, "Whether the provider waits for a change of its input.", LabelsOf(provider.id),
               is(api::condition::kStalled));
}

}  // namespace capi::ops
