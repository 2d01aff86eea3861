#include "operator/act/actor.h"

#include <algorithm>

#include "api/reasons.h"
#include "operator/act/rebuild.h"
#include "operator/decide/certificates/due.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/pause.h"
#include "operator/decide/rollout.h"
#include "operator/decide/rules.h"
#include "operator/decide/service_account.h"
#include "operator/decide/upgrades/updates.h"
#include "operator/report/announce.h"
#include "operator/report/next_pass.h"

namespace capi::ops {
namespace {

Actor::Acted Did(Done done) { return std::optional<Done>(std::move(done)); }

// Something was written, and nothing else is to be done with what was observed before.
Actor::Acted LookAgain() { return std::optional<Done>(); }

}  // namespace

Actor::Actor(Needs needs)
    : needs_(std::move(needs)),
      storage_(needs_.client),
      migrations_([this](const Context& ctx, const std::string& crd, lifecycle::MigrationCursor& cursor,
                         const lifecycle::GoOn& looked) { return storage_.Migrate(ctx, crd, cursor, looked); },
                  needs_.wake, needs_.clock),
      turns_(needs_.sources.at_once(), needs_.wake),
      certifier_(needs_.client, needs_.observer.tracks()),
      installer_({needs_.client, needs_.observer, needs_.cache, needs_.writer, needs_.settings, needs_.sources,
                  rendered_, migrations_, needs_.masks, needs_.inventory_key, turns_, certifier_}),
      remover_(needs_.client, needs_.writer),
      restorer_({needs_.client, needs_.observer, rendered_, needs_.fights, CertifierFor(needs_.settings, certifier_)}),
      handing_over_({needs_.client, needs_.observer, needs_.writer, rendered_, certifier_}),
      updates_({[this](const Context& ctx, const Observation& o) { return installer_.NewerVersions(ctx, o); },
                [this](const std::string& key) {
                  auto cached = needs_.cache.Get(key);
                  return cached && !cached->spec_error && MayBeChecked(*cached->provider);
                },
                needs_.wake, needs_.clock}),
      scaler_(needs_.client, needs_.observer),
      pods_(needs_.client) {}

Actor::Acted Actor::Act(const Context& ctx, const Observation& o, const Step& step) {
  // At zero replicas nobody converts (P3). A deletion asks all the same: it says what has to run for it (X1).
  if (AppliesAtZero(o) && !std::holds_alternative<Migrate>(step)) migrations_.Withdraw(o.provider.id.Key());
  if (HasRolledOut(o)) needs_.masks.RolloutEnds(o.provider.id.Key());
  // What isn't the operator's own (status, kept releases, inputs: they say so) is done with that one's rights (T8).
  const Context as = ctx.InNameOf(UserOf(o.provider));
  Acted acted = std::visit([&](const auto& one) { return Take(as, o, one); }, step);
  if (acted.ok() && *acted) (*acted)->certified = certifier_.TakeNews(o.provider.id.Key());
  return acted;
}

void Actor::Forget(const std::string& key) {
  rendered_.Drop(key);
  installer_.Forget(key);
  pods_.Forget(key);
  migrations_.Forget(key);
  updates_.Forget(key);
  certifier_.Forget(key);
}

// P4: also the migration that it asked for stops.
Actor::Acted Actor::Take(const Context&, const Observation& o, const HandsOff&) {
  migrations_.Withdraw(o.provider.id.Key());
  return Did({.hands_off = true});
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const AddFinalizer&) {
  api::Provider provider = o.provider;
  TRY_WITH(needs_.writer.AddFinalizer(ctx, provider), "setting the finalizer");
  return LookAgain();
}

// An inventory that was found is written alone. Only then is anything of it removed: what a crash interrupts goes on
// with the same one.
Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Rebuild&) {
  auto rebuilt = RebuildInventory(ctx.InOwnName(), needs_.client, o);
  if (!rebuilt.ok()) {
    return Did({.hold = ServerHold(api::condition::kReady, api::reason::kDeletionBlocked,
                                   rebuilt.error().With("looking for what is installed"))});
  }
  if (!rebuilt->unread.empty() && GuardsDeletion(o)) return Did({.hold = UnreadHold(o, rebuilt->unread)});
  if (rebuilt->inventory.size() == 0) return Take(ctx, o, Remove{});
  api::Provider provider = o.provider;
  TRY_WITH(AnnounceInventory(ctx, needs_.writer, provider, rebuilt->inventory), "writing the inventory that was found");
  return LookAgain();
}

// The values of Secrets are learned while these are there: when the last pass is told of, the provider may be gone
// (I7).
Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Remove&) {
  needs_.secrets.Learn(ctx.InOwnName(), o.provider.id.Key());
  return Did(remover_.Remove(ctx, o));
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Install& step) {
  Done restored;
  if (!step.drifts.empty()) restored = RestoreDrift(ctx, o, Restore{step.drifts, std::nullopt});
  Observation now = o;
  // Both, or what was just sent would be taken for drifted still, and be sent again.
  if (restored.inventory) now.inventory = *restored.inventory;
  if (restored.fleet) now.fleet = *std::move(restored.fleet);
  if (!step.rollback_to.empty()) Explain(ctx, o, now.fleet);
  Done done = installer_.Install(ctx, std::move(now), step.rollback_to);
  if (!done.inventory) done.inventory = restored.inventory;
  done.restored = std::move(restored.restored);
  AddTimes(done.times, restored.times);
  return Did(std::move(done));
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Restore& step) {
  return Did(RestoreDrift(ctx, o, step));
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Prune&) {
  return Did(installer_.Prune(ctx, o));
}

Actor::Acted Actor::Take(const Context&, const Observation&, const Steady&) { return Did({}); }

Actor::Acted Actor::Take(const Context&, const Observation&, const Hold& step) { return Did({.hold = step}); }

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Scale& step) {
  rendered_.Drop(o.provider.id.Key());  // it has the other replicas
  return Did(scaler_.Run(ctx, o, step));
}

Actor::Acted Actor::Take(const Context&, const Observation& o, const Unpause&) {
  rendered_.Drop(o.provider.id.Key());
  return Did({.unpausing = true, .again = true});
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Await& step) {
  Done done;
  if (!step.drifts.empty()) done = RestoreFromRender(ctx, o, Restore{step.drifts, std::nullopt});
  const bool early = step.elapsed < kPodsAfter;
  if (!early) {
    if (!done.fleet) done.fleet = o.fleet;
    Explain(ctx, o, *done.fleet);
  }
  // Time goes on while a pass looks at pods: the deadline, and the first look, are times of the rollout (U5).
  const auto took = std::chrono::duration_cast<Millis>(needs_.clock.Now() - o.now);
  const Millis look = early ? kPodsAfter - step.elapsed - took : Millis(kPodsEvery);
  done.again_after = std::max(Millis(0), std::min(step.left - took, look));
  return Did(std::move(done));
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const GiveUp&) {
  Fleet fleet = o.fleet;
  Explain(ctx, o, fleet);
  GivenUp given_up = GiveUpRollout(o, fleet);
  return Did({.hold = std::move(given_up.hold), .fleet = std::move(fleet), .rollout = std::move(given_up.entry)});
}

// When one that failed is tried again, the soonest.
std::optional<Millis> Actor::AskForMigrations(Observation& now) {
  std::optional<Millis> again;
  for (CrdState& crd : now.fleet.unmigrated) {
    crd.migration = migrations_.Ask(now.provider.id.Key(), crd, !AppliesAtZero(now));
    if (crd.migration.next) again = std::min(again.value_or(*crd.migration.next), *crd.migration.next);
  }
  return again;
}

// Beside the passes: a worker does it, and wakes the provider.
Actor::Acted Actor::Take(const Context&, const Observation& o, const Migrate&) {
  Done done;
  Observation now = o;
  done.again_after = AskForMigrations(now);
  if (o.provider.deleting) done.hold = MigrationHold(now);
  done.now = std::move(now);
  return Did(std::move(done));
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Adopt&) {
  return Did(installer_.Adopt(ctx, o));
}

// What holds an upgrade that nobody asked for by name, before it has begun, is no fault of the provider: all goes on as
// if there had been none. While it waits for its turn, or for the API server, nothing has refused it.
Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Upgrade& step) {
  Observation to = o;
  to.provider.spec.version = step.version;
  to.chosen = true;
  Done done = installer_.Install(ctx, std::move(to), "");
  const auto& history = done.now->provider.status.history;
  const bool begun = !history.empty() && history != o.provider.status.history;
  if (begun || !done.hold) {
    ctx.log.Info("spec.upgradePolicy has begun an upgrade",
                 {{"version", step.version}, {"installed", o.provider.status.installed_version}});
    done.chosen = step.version;
    return Did(std::move(done));
  }
  // What was rendered of it is of no use: what runs is restored from its own (D1).
  if (rendered_.InputsOf(o.provider.id.Key()) != o.rendered) rendered_.Drop(o.provider.id.Key());
  ctx.log.Info("spec.upgradePolicy can't begin an upgrade", {{"version", step.version}, {"reason", done.hold->reason}});
  Done stays{.times = std::move(done.times)};
  if (o.fleet.ready() && SaysMigrationFailed(o.provider.status)) {  // this pass was to do that else
    Observation unmigrated = o;
    stays.again_after = AskForMigrations(unmigrated);
  }
  if (done.hold->retry == Retry::kTurn) {
    const Millis turn = done.hold->after.value_or(kNowAndThen.base);
    stays.again_after = std::min(stays.again_after.value_or(turn), turn);
  } else if (done.hold->reason == api::reason::kAPIServerUnavailable && done.hold->retry == Retry::kBackoff) {
    stays.away = done.hold->after.value_or(Millis(0));
  } else {
    Hold& why = *done.hold;
    stays.withdrawn = Withdrawn{step.version, std::move(why.message), std::move(why.details), why.after};
  }
  auto before = FollowRollout(o, InputsDigest(o));
  if (Hold* failed = before ? std::get_if<Hold>(&*before) : nullptr) stays.hold = std::move(*failed);
  return Did(std::move(stays));
}

// I19: what fails is tried again later, and holds up nothing else until then. Nothing is reported here: how the
// provider is otherwise tells the pass that follows at once.
Actor::Acted Actor::EndCertificates(const Context& ctx, const Observation& o, const Certifier::Kept& kept) {
  const std::string key = o.provider.id.Key();
  for (const std::string& what : kept.what) ctx.log.Info("certificates", {{"what", what}});
  if (!kept.ended.ok()) {
    ctx.log.Warn("certificates aren't kept", {{"error", needs_.masks.Hide(key, kept.ended.error().message)}});
  }
  certifier_.Ended(ctx, key, kept);
  return LookAgain();
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const Certify& step) {
  return EndCertificates(ctx, o, certifier_.Keep(ctx, o, step.due));
}

Actor::Acted Actor::Take(const Context& ctx, const Observation& o, const HandOver&) {
  if (!o.builtin_certificates) {  // before all that it costs to render
    auto kind = needs_.client.mapper().For(ctx, {"cert-manager.io", "Certificate"});
    if (!kind.ok()) {
      Certifier::Kept kept;
      kept.hands_over = true;
      kept.ended = kind.error().With("cert-manager, which is to make the provider's certificates, isn't there");
      kept.waits = true;
      return EndCertificates(ctx, o, kept);
    }
  }
  PhaseTimes times;
  if (auto failed = installer_.RenderAgain(ctx, o, times)) {
    Certifier::Kept kept;
    kept.hands_over = true;
    kept.ended = Error{Code::kFailedPrecondition, "what is applied can't be rendered again: " + failed->message, {}};
    return EndCertificates(ctx, o, kept);
  }
  return EndCertificates(ctx, o, handing_over_.Run(ctx, o));
}

// What pods say goes into the history before the pass is reported, and is cut off there: what is secret of it is hidden
// now (I7).
void Actor::Explain(const Context& ctx, const Observation& o, Fleet& fleet) {
  const std::string key = o.provider.id.Key();
  pods_.Explain(ctx, key, fleet);
  needs_.secrets.Hide(ctx.InOwnName(), key, fleet);
}

Done Actor::RestoreDrift(const Context& ctx, const Observation& o, const Restore& step) {
  const std::string& applied = o.provider.status.applied;
  if (!o.rendered.empty() && (applied.empty() || o.rendered == applied)) return RestoreFromRender(ctx, o, step);
  PhaseTimes times;
  if (auto failed = installer_.RenderAgain(ctx, o, times)) {
    ctx.log.Warn("can't render what is applied again, to restore from it",
                 {{"reason", failed->reason}, {"error", needs_.masks.Hide(o.provider.id.Key(), failed->message)}});
    return {.hold = step.hold ? step.hold : failed, .times = std::move(times)};
  }
  Observation rendered = o;
  rendered.rendered = applied;
  Done done = RestoreFromRender(ctx, rendered, step);
  done.now = std::move(rendered);
  AddTimes(done.times, times);
  return done;
}

Done Actor::RestoreFromRender(const Context& ctx, const Observation& o, const Restore& step) {
  Done done = restorer_.Run(ctx, o, step);
  for (const std::string& what : done.restored) {
    ctx.log.Info("restored", {{"what", needs_.masks.Hide(o.provider.id.Key(), what)}});
  }
  return done;
}

}  // namespace capi::ops
