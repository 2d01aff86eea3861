#include "operator/report/reporter.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "api/reasons.h"
#include "operator/report/next_pass.h"
#include "operator/report/status_change.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;
using End = kube::Outcome::End;

constexpr kube::MetricFamily kFoundByResync{
    "capi_operator_changes_found_by_resync_total",
    "Changes that were found by time alone: their events were lost, or they have none."};

// The queue's back-off of a status that can't be written. That of the pass may be an hour's: it is about something
// else.
std::string WriteKey(const std::string& key) { return key + "/status"; }

// That of a source that fails: what fails once it has answered doesn't wait for as long.
std::string SourceKey(const std::string& key) { return key + "/source"; }

// One line for each change of state, not for each pass.
void LogChange(const Context& ctx, const api::ProviderStatus& was, const api::ProviderStatus& is) {
  const auto* now = kube::FindCondition(is.conditions, api::condition::kReady);
  if (now == nullptr || !Turned(was, is)) return;
  ctx.log.Info(now->status == "True" ? "ready" : "not ready", {{"reason", now->reason}, {"message", now->message}});
}

// Times are counted and told from when they are reported: a pass may have taken half a minute (F5). What came due
// meanwhile is due at once.
void MakeItNow(Observation& o, WallTime now) {
  Millis took = std::max(Millis(0), std::chrono::duration_cast<Millis>(now - o.now));
  for (Fight& fight : o.fights) {
    if (fight.next > Millis(0)) fight.next = std::max(Millis(1), fight.next - took);
  }
  o.now = now;
}

// To be told of: a copy, in which what is secret is hidden.
Observation AsItIsNow(const Observation& seen, Done& done) { return done.now ? *std::exchange(done.now, {}) : seen; }

// Whether a status is so that was decided on: it is written, or nobody can write it. Else the provider has changed, or
// is gone.
bool StillHolds(const std::optional<kube::Outcome>& unwritten) { return !unwritten || unwritten->end == End::kError; }

}  // namespace

Reporter::Reporter(Needs needs) : needs_(needs), measured_(needs.metrics) {
  needs_.metrics.Count(kFoundByResync, {}, 0);
}

// The outcome of a pass, and the time that its hold tells (F5, F6).
Reporter::Scheduled Reporter::Schedule(const std::string& key, const Observation& o, Done& done, bool ready) {
  NextPass next = NextPassOf(o, done, ready, needs_.sync_period);
  kube::Outcome outcome{.again_after = next.at,
                        .end = next.backoff || next.keeps_backoff ? End::kBacksOff : End::kFine,
                        .priority = next.priority()};
  if (!next.keeps_source) needs_.queue.Forget(SourceKey(key));
  if (next.backoff) {
    Millis delay = needs_.queue.Backoff(next.of_source ? SourceKey(key) : key, *next.backoff, next.at_least);
    outcome.again_after = std::min(next.at.value_or(delay), delay);
  }
  if (done.hold && next.told && outcome.again_after) done.hold->next_try = o.now + *outcome.again_after;
  resyncs_.Next(key, next.resync);
  return {outcome, needs_.clock.Monotonic()};
}

kube::Outcome Reporter::Left(kube::Outcome next, MonoTime since) {
  if (!next.again_after) return next;
  Millis took = std::chrono::duration_cast<Millis>(needs_.clock.Monotonic() - since);
  next.again_after = std::max(Millis(0), *next.again_after - took);
  return next;
}

kube::Outcome Reporter::NoLaterThan(kube::Outcome next, Millis due) {
  if (next.again_after && *next.again_after < due) return next;
  next.again_after = due;
  return next;
}

kube::Outcome Reporter::GoesOnBy(const std::string& key, kube::Outcome next, Millis due) {
  const auto former = next.again_after;
  next = NoLaterThan(next, due);
  if (next.again_after == former) return next;
  resyncs_.Next(key, false);
  next.priority = kube::Priority::kNormal;
  return next;
}

// nullopt: it is written. Else what comes of it that it isn't.
Result<std::optional<kube::Outcome>> Reporter::Write(const Context& ctx, api::Provider& provider,
                                                     const api::ProviderStatus& status) {
  const std::string key = provider.id.Key();
  Status written = needs_.writer.WriteStatus(ctx, provider, status);
  if (written.ok()) {
    needs_.queue.Forget(WriteKey(key));
    return std::optional<kube::Outcome>();
  }
  TRY(ctx.Check());
  resyncs_.Next(key, false);  // what this pass couldn't say, the next one finds
  const Error& error = written.error();
  if (error.code == Code::kNotFound) return std::optional(kube::Outcome{});  // the event of its end is on its way
  Millis delay = needs_.queue.Backoff(WriteKey(key), kSoon, error.retry_after.value_or(Millis(0)));
  const bool conflict = error.code == Code::kConflict;  // somebody else's write is no error
  if (!conflict) {
    ctx.log.Error("can't write the status", {{"code", CodeName(error.code)},
                                             {"error", needs_.masks.Hide(key, error.message)},
                                             {"retry_in_ms", delay.count()}});
  }
  return std::optional(kube::Outcome{.again_after = delay, .end = conflict ? End::kBacksOff : End::kError});
}

Result<kube::Outcome> Reporter::Report(const Context& ctx, const Observation& seen, Done done) {
  Observation o = AsItIsNow(seen, done);
  const std::string key = o.provider.id.Key();
  needs_.masks.Hide(key, o, done);
  MakeItNow(o, needs_.clock.Now());
  if (!o.spec_error) AsksAt(key, o.source);
  Scheduled scheduled;
  if (done.hold) scheduled = Schedule(key, o, done, false);
  const api::ProviderStatus was = o.provider.status, is = needs_.masks.Hide(key, Summarize(o, done));
  if (!done.hold) scheduled = Schedule(key, o, done, IsReady(is));
  Record(o.provider, EventsOfDone(is, done));
  measured_.Took(o.provider.id, done.times);
  measured_.Restored(o.provider.id, done.restored.size());
  if (!done.restored.empty()) CountFoundByResync(ctx, key);
  if (auto rest = Postponed(key, was, is, done)) {
    kube::Outcome next = scheduled.next;
    next.again_after = std::min(next.again_after.value_or(*rest), *rest);
    next.priority = kube::Priority::kNormal;
    resyncs_.Next(key, false);  // the words are due then
    return next;
  }
  auto unwritten = TRY(Write(ctx, o.provider, is));
  if (StillHolds(unwritten)) measured_.Show(o.provider, is);
  if (Turned(was, is) && !HasItsEvent(key, done)) CountFoundByResync(ctx, key);
  if (unwritten) return *unwritten;
  Announce(ctx, o.provider, was, is, done);
  // What a change took (texts, answers, the schemas of CRDs that came by) is free when it is over: the pages go back.
  if (IsReady(is) && !IsReady(was)) malloc_trim(0);
  if (GoesOn(was, is, done)) return kube::Outcome{.again_after = Millis(0)};
  return Left(scheduled.next, scheduled.since);
}

void Reporter::ReportGone(const Context& ctx, const Observation& seen, Done done) {
  Observation o = AsItIsNow(seen, done);
  const std::string key = o.provider.id.Key();
  needs_.masks.Hide(key, o, done);
  const api::ProviderStatus was = o.provider.status, is = needs_.masks.Hide(key, Summarize(o, done));
  Record(o.provider, EventsOfDone(is, done));
  CountFoundByResync(ctx, key);
  Announce(ctx, o.provider, was, is, done);
}

Result<kube::Outcome> Reporter::ReportFailed(const Context& ctx, const std::string& key, const Error& error) {
  TRY(ctx.Check());
  // What it was decided on is no longer so.
  if (error.code == Code::kConflict) {
    return kube::Outcome{.again_after = needs_.queue.Backoff(WriteKey(key), kSoon), .end = End::kBacksOff};
  }
  return ReportUnseen(ctx, key, ServerHold(api::condition::kReady, reason::kAPIServerUnavailable, error));
}

Result<kube::Outcome> Reporter::ReportThrown(const Context& ctx, const std::string& key, const std::string& what) {
  TRY(ctx.Check());
  auto outcome = TRY(ReportUnseen(ctx, key,
                                  Hold{std::string(api::condition::kReady), std::string(reason::kInternalError),
                                       "the look at this provider met a bug: " + what, Retry::kRefused}));
  outcome.end = End::kThrew;
  return outcome;
}

Result<kube::Outcome> Reporter::ReportUnseen(const Context& ctx, const std::string& key, const Hold& hold) {
  auto cached = needs_.cache.Get(key);
  if (!cached) return kube::Outcome{};  // gone meanwhile: the event of its end brings the next pass
  Observation none;
  none.now = needs_.clock.Now();
  Done done{.hold = hold};
  needs_.masks.Hide(key, none, done);
  Scheduled scheduled = Schedule(key, none, done, false);
  api::Provider provider = *cached->provider;
  const api::ProviderStatus was = provider.status, is = SummarizeUnseen(provider, *done.hold, none.now);
  ctx.log.Warn("the pass failed", {{"reason", done.hold->reason}, {"error", done.hold->message}});
  scheduled.next.end = End::kError;
  auto unwritten = TRY(Write(ctx, provider, is));
  if (StillHolds(unwritten)) measured_.Show(provider, is);
  if (unwritten) {
    unwritten->end = End::kError;  // the pass's, whatever became of the words
    return *unwritten;
  }
  Announce(ctx, provider, was, is, done);
  return Left(scheduled.next, scheduled.since);
}

// Of the provider that the pass saw: of one whose finalizer was just removed nothing else may be left (X1).
void Reporter::Record(const api::Provider& provider, const std::vector<Event>& events) {
  const kube::Resource resource = api::ResourceOf(provider.id.type);
  const kube::Object about(Json{{"apiVersion", resource.api_version()},
                                {"kind", resource.kind},
                                {"metadata",
                                 {{"name", provider.id.name},
                                  {"namespace", provider.id.ns},
                                  {"uid", provider.uid},
                                  {"resourceVersion", provider.resource_version}}}});
  for (const Event& event : events) needs_.events.Record(about, event.type, event.reason, event.message);
}

void Reporter::Announce(const Context& ctx, const api::Provider& provider, const api::ProviderStatus& was,
                        const api::ProviderStatus& is, const Done& done) {
  Record(provider, EventsOf(was, is, done));
  LogChange(ctx, was, is);
}

// A watch shows what is new a moment before its event is queued. Those of a pass that wrote objects may be its own.
bool Reporter::HasItsEvent(const std::string& key, const Done& done) const {
  const bool wrote = done.inventory || done.fleet || !done.restored.empty();
  return !wrote && !needs_.queue.ByTimeAlone(key);
}

// F5: that one source was away says nothing of another.
void Reporter::AsksAt(const std::string& key, const std::string& source) {
  {
    MutexLock lock(mu_);
    std::string& known = sources_[key];
    if (known == source) return;
    known = source;
  }
  needs_.queue.Forget(SourceKey(key));
}

// F6 makes up for an event that was lost, and so hides the loss: it is counted, whatever becomes of the status.
void Reporter::CountFoundByResync(const Context& ctx, const std::string& key) {
  if (!resyncs_.Found(key)) return;
  needs_.metrics.Count(kFoundByResync, {});
  ctx.log.Info("a change without an event, found by a resync");
}

// While pods and CRDs come up, the words of a status change with each of them: they are written once a second. What is
// left of that second; nullopt where the status may be written.
std::optional<Millis> Reporter::Postponed(const std::string& key, const api::ProviderStatus& was,
                                          const api::ProviderStatus& is, const Done& done) {
  constexpr Millis kPause = Seconds(1);
  MonoTime now = needs_.clock.Monotonic();
  MutexLock lock(mu_);
  MonoTime& last = last_words_[key];
  if (MayWait(was, is, done) && now < last + kPause) return std::chrono::ceil<Millis>(last + kPause - now);
  if (was != is) last = now;
  return std::nullopt;
}

void Reporter::Forget(const api::ProviderId& id) {
  const std::string key = id.Key();
  needs_.masks.Drop(key);
  needs_.queue.Forget(WriteKey(key));
  needs_.queue.Forget(SourceKey(key));
  resyncs_.Forget(key);
  measured_.Forget(id);
  MutexLock lock(mu_);
  last_words_.erase(key);
  sources_.erase(key);
}

}  // namespace capi::ops
