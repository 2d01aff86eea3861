#include "operator/controller.h"

#include "base/caught.h"
#include "operator/decide/upgrades/policy.h"
#include "operator/decide/upgrades/updates.h"
#include "operator/observe/slim.h"
#include "operator/report/next_pass.h"
#include "operator/wakes.h"

namespace capi::ops {
namespace {

// Without admission anybody can write a record again that he read earlier, and the key makes it genuine.
ReferenceKey KeyOfRecords(InventoryKey& key, bool webhooks) {
  if (!webhooks) return nullptr;
  return [&key](const Context& ctx) { return key.Get(ctx); };
}

// Unless something changes before that.
std::string WhenNext(const Result<kube::Outcome>& outcome) {
  if (!outcome.ok()) return "after a back-off";
  if (!outcome->again_after) return "when something changes";
  return "in " + std::to_string(outcome->again_after->count()) + " ms";
}

}  // namespace

ProviderController::ProviderController(kube::Client& client, const Settings& settings, const Sources& sources,
                                       InventoryKey& inventory_key, ControllerSettings options, kube::Metrics& metrics,
                                       kube::EventRecorder& events, Clock& clock)
    : client_(client),
      options_(std::move(options)),
      clock_(clock),
      cache_([this](const ProviderCache::Change& change) { OnProvider(change); }),
      watches_(
          client, [this](const Watches::Event& event) { OnWatch(event); },
          [this](const Watches::Key& watch) { observer_.WatchEnds(watch); }),
      secrets_(client, cache_, masks_, settings, KeyOfRecords(inventory_key, options_.webhooks)),
      fights_(clock),
      use_(client, watches_),
      controller_(
          {.name = "provider", .workers = options_.workers, .backoff = kSoon},
          [this](const Context& ctx, const std::string& key) { return Pass(ctx, key); }, metrics, clock),
      observer_({client, cache_, watches_, settings, fights_, use_, clock,
                 [this](const std::string& crd) { return actor_.MigrationOf(crd); },
                 [this](const std::string& key) { return actor_.RenderedInputs(key); }, [this] { return Unlisted(); },
                 KeyOfRecords(inventory_key, options_.webhooks),
                 [this](const std::string& key) {
                   auto cached = cache_.Get(key);
                   return cached ? actor_.UpdatesFor(*cached->provider) : std::nullopt;
                 },
                 [&sources](const api::Provider& provider) { return sources.PlaceOf(provider); },
                 [this](const std::string& key) { return actor_.CertificateTroubleOf(key); }}),
      unseen_(client, cache_),
      writer_(client, cache_, masks_),
      actor_({client, observer_, cache_, writer_, settings, sources, masks_, secrets_, fights_, clock, inventory_key,
              [this](const std::string& key) { controller_.queue().Add(key, kBesideThePasses); }}),
      reporter_({cache_, writer_, masks_, controller_.queue(), metrics, events, clock, options_.sync_period}) {
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    kube::InformerOptions watch;
    watch.ns = options_.ns;
    watch.transform = kube::DropManagedFields;
    watch.packed = true;  // cache_ has what is read of them
    auto handler = [this, type = kind.type, at = informers_.size()](const kube::ObjectPtr& was,
                                                                    const kube::ObjectPtr& is) {
      using ToldBy = ProviderCache::ToldBy;
      if (is) {
        cache_.OnEvent(type, was, is, informers_[at]->Synced() ? ToldBy::kWatch : ToldBy::kFirstList);
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
  manager.Add(
      "storage-migration",
      [this](const Context& ctx) {
        actor_.RunMigrations(ctx);
        return Ok();
      },
      /*needs_lead=*/true);
  manager.Add(
      "update-checks",
      [this](const Context& ctx) {
        actor_.RunUpdateChecks(ctx);
        return Ok();
      },
      /*needs_lead=*/true);
  manager.Add(
      "unseen-writes",
      [this](const Context& ctx) {
        unseen_.Run(ctx);
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

void ProviderController::Wake(const std::function<bool(const api::ProviderId&)>& who, kube::Priority priority) {
  for (const std::string& key : cache_.Keys(who)) controller_.queue().Add(key, priority);
}

// F7: providers don't pay for a bug in what only shows them.
void ProviderController::Tell(const std::string& key, const std::function<void(Onlooker&)>& what) const {
  if (options_.onlooker == nullptr) return;
  auto thrown = Caught([&] { what(*options_.onlooker); });
  if (thrown) options_.log.Error("the page met a bug", {{"provider", key}, {"error", masks_.Hide(key, *thrown)}});
}

void ProviderController::OnProvider(const ProviderCache::Change& change) {
  Tell(change.id.Key(), [&](Onlooker& onlooker) { onlooker.OnChange(change); });
  const ProviderNews news = NewsOf(change);
  // Also when it is gone: to drop what is kept for it.
  if (news.itself) controller_.queue().Add(change.id.Key(), *news.itself);
  if (news.all || news.came) {
    Wake([&](const api::ProviderId& id) { return Wakes(news, id); }, kOthers);
  }
}

void ProviderController::OnWatch(const Watches::Event& event) {
  const Watches::Key& watch = event.watch;
  const kube::ObjectPtr &was = event.was, &is = event.is;
  observer_.Saw(watch, was, is);
  if (watch.purpose == Watches::Purpose::kOurObjects) {
    if (!is && IsCrd(*was)) {
      const CrdState gone = StateOf(*was);
      client_.mapper().Forget({gone.group, gone.kind});
    }
    if (auto news = NewsOf(event)) {
      for (const std::string& label : news->labels) {
        for (const std::string& key : cache_.KeysOf(label)) controller_.queue().Add(key, news->own);
      }
      if (news->all) Wake([](const api::ProviderId&) { return true; }, kOthers);
    }
    return;
  }
  if (!IsNews(event)) return;
  // Before anybody is woken, who would still be told that there is no such kind.
  const bool new_kinds = watch.purpose == Watches::Purpose::kNewKinds;
  if (new_kinds) client_.mapper().Invalidate();
  const kube::Priority priority = PriorityOf(event);
  for (const auto& key : event.users) {
    if (!new_kinds || observer_.Awaits(key, (is ? is : was)->name())) controller_.queue().Add(key, priority);
  }
  if (watch.IsShared()) {
    Wake([&, &object = is ? *is : *was](const api::ProviderId& id) { return Concerns(watch, object, id); }, priority);
  }
}

Result<kube::Outcome> ProviderController::Pass(const Context& parent, const std::string& key) {
  Context ctx = parent.WithLog(parent.log.With({{"provider", key}}));
  const MonoTime began = ctx.clock->Monotonic();
  auto outcome = CatchingPass(ctx, key);
  actor_.PassEnded(key);
  const MonoTime::duration took = ctx.clock->Monotonic() - began;
  if (cache_.Get(key)) reporter_.Took(key, took);
  ctx.log.Debug("the pass is over",
                {{"took_ms", std::chrono::duration_cast<Millis>(took).count()}, {"next", WhenNext(outcome)}});
  return outcome;
}

Result<kube::Outcome> ProviderController::CatchingPass(const Context& ctx, const std::string& key) {
  Result<kube::Outcome> outcome = kube::Outcome{};
  auto thrown = Caught([&] { outcome = TryPass(ctx, key); });
  if (!thrown) return outcome;
  secrets_.Learn(ctx, key);
  return reporter_.ReportThrown(ctx, key, *thrown);
}

Result<kube::Outcome> ProviderController::TryPass(const Context& ctx, const std::string& key) {
  auto observed = observer_.Observe(ctx, key);
  // Not before, so that an event of what it has just seen counts; and not after the step, which makes events of its
  // own.
  reporter_.Begin(key);
  if (!observed.ok()) return Failed(ctx, key, observed.error().With("can't see what there is"));
  if (!*observed) {
    Forget(api::ProviderId::FromKey(key));
    return kube::Outcome{};
  }
  secrets_.Hide(ctx, key, (*observed)->fleet);
  Observation o = **std::move(observed);
  Tell(key, [&](Onlooker& onlooker) {
    onlooker.OnPass(o, [&](std::string text) { return masks_.Hide(key, std::move(text)); });
  });
  const Step step = Decide(o);
  ctx.log.Debug("decided", {{"step", NameOf(step)}});
  auto acted = actor_.Act(ctx, o, step);
  TRY(ctx.Check());
  if (!acted.ok()) return Failed(ctx, key, acted.error());
  std::optional<Done>& done = *acted;
  if (done && !done->restored.empty()) {
    Tell(key, [&](Onlooker& onlooker) { onlooker.OnRestored(o.provider.id, done->restored.size()); });
  }
  if (!done) return kube::Outcome{.again_after = Millis(0)};
  ctx.log.Debug("done", {{"step", NameOf(step)}, {"held", done->hold ? done->hold->reason : ""}});
  secrets_.Learn(ctx, key, done->now ? *done->now : o, *done);
  const bool is_judged = !o.provider.deleting && !done->hands_off;
  if (!done->forget) {
    auto next = TRY(reporter_.Report(ctx, o, std::move(*done)));
    // When an upgrade that couldn't begin is tried again has been told by now.
    const auto* upgrade = std::get_if<Upgrade>(&step);
    return is_judged ? LookForNewer(ctx, std::move(o), next, upgrade == nullptr ? "" : upgrade->version) : next;
  }
  reporter_.ReportGone(ctx, o, std::move(*done));
  Forget(o.provider.id);
  return kube::Outcome{};
}

// Once all is told, so that no status waits for a source, and by what is installed now. It is for a metric: what throws
// here says nothing against the provider (F7).
kube::Outcome ProviderController::LookForNewer(const Context& ctx, Observation o, kube::Outcome next,
                                               std::string_view tried) {
  const MonoTime began = ctx.clock->Monotonic();
  const std::string key = o.provider.id.Key();
  auto cached = cache_.Get(key);
  if (!cached || next.again_after == Millis(0)) return next;  // it is gone; or another pass comes at once, and looks
  if (!TakeWritten(o, *cached)) return next;                  // the same: it is somebody's edit's
  auto thrown = Caught([&] { reporter_.Knows(o.provider.id, actor_.NewestVersion(ctx, o)); });
  if (thrown) ctx.log.Error("the look for a newer version met a bug", {{"error", masks_.Hide(key, *thrown)}});
  return CheckUpdates(o, reporter_.Left(next, began), tried);
}

// U12, U13: a look may be due, or the policy may go on, before anything else wakes the provider.
kube::Outcome ProviderController::CheckUpdates(Observation& o, kube::Outcome next, std::string_view tried) {
  o.now = clock_.Now();
  const std::string key = o.provider.id.Key();
  const auto due = UpdateCheckIn(o), waits = PolicyWaits(o);
  if (due == Millis(0)) actor_.AskForUpdates(o);
  if (due > Millis(0)) next = Reporter::NoLaterThan(next, *due);
  if (waits) next = reporter_.GoesOnBy(key, next, *waits);
  // What this pass has told may be chosen by the next one.
  const bool chooses = GoesOnByPolicy(o, tried);
  return chooses && next.end != kube::Outcome::End::kError ? reporter_.GoesOnBy(key, next, kSoon.base) : next;
}

Result<kube::Outcome> ProviderController::Failed(const Context& ctx, const std::string& key, const Error& error) {
  secrets_.Learn(ctx, key);
  return reporter_.ReportFailed(ctx, key, error);
}

void ProviderController::Forget(const api::ProviderId& id) {
  const std::string key = id.Key();
  fights_.Forget(key);
  observer_.Forget(key);
  actor_.Forget(key);
  secrets_.Forget(key);
  reporter_.Forget(id);
}

}  // namespace capi::ops
