#include "kube/runtime/leader.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "kube/runtime/lease_record.h"

namespace capi::kube {
namespace {

LeaseApi ApiOf(Client& client, const LeaderOptions& options) {
  return {
      .get = [&client, ns = options.ns,
              name = options.name](const Context& ctx) { return client.Get(ctx, Builtin("Lease"), ns, name); },
      .create = [&client](const Context& ctx,
                          const Object& o) { return client.Create(ctx, Builtin("Lease"), o, {.unguarded = true}); },
      .update = [&client](const Context& ctx,
                          const Object& o) { return client.Update(ctx, Builtin("Lease"), o, {.unguarded = true}); },
      .watch =
          [&client, ns = options.ns, name = options.name, retry = options.retry_period](
              const Context& ctx, const Object& since, const std::function<Status(WatchEvent)>& on_change) {
            // A leader renews once in a retry period: a connection that says nothing for three of them may be dead.
            WatchOptions one{.field_selector = "metadata.name=" + name,
                             .resource_version = since.resource_version(),
                             .max_silence = 3 * retry};
            return client.Watch(ctx, Builtin("Lease"), ns, one, on_change);
          },
  };
}

}  // namespace

// The lease as seen last is the business of one thread at a time: of Acquire, then of the renewing thread, then (after
// joining it) of Release.
class LeaderElector::Impl {
 public:
  Impl(LeaseApi api, LeaderOptions options) : api_(std::move(api)), options_(std::move(options)) {}

  ~Impl() { StopRenewing(); }

  Status Acquire(const Context& parent) {
    Context ctx = parent.WithLog(parent.log.With({{"lease", options_.ns + "/" + options_.name}}));
    std::string last_problem;
    bool raced = false;
    while (true) {
      TRY(ctx.Check());
      Result<bool> ours = TakeOrRenew(ctx.WithTimeout(options_.renew_deadline));
      if (ours.ok() && *ours) break;
      std::string problem = ours.ok() ? "held by " + seen_->holder : ours.error().message;
      if (problem != last_problem) Report(ctx, ours, problem);
      last_problem = problem;
      // Who lost a race reads at once who won it, to watch that one; of a second loss nobody else's progress is known.
      bool lost_race = !ours.ok() && (ours.code() == Code::kConflict || ours.code() == Code::kAlreadyExists);
      if (!std::exchange(raced, lost_race) && lost_race) continue;
      if (!SeesItFree(ctx)) ctx.clock->Sleep(ctx.stop, Pause(ctx));
    }
    ctx.log.Info("leading", {{"identity", options_.identity}});
    context_stop_.emplace(ctx.stop, [this] { StopFromOutside(); });
    renewing_ = std::thread([this, ctx] { Renew(ctx.WithStop(renew_stop_.get_token())); });
    return Ok();
  }

  std::stop_token lost() const { return lost_.get_token(); }

  MonoTime valid_until() const {
    MutexLock lock(mu_);
    return valid_until_;
  }

  // What stood still until the renewal was overdue doesn't write: nothing has told it yet who leads.
  bool MayWrite(MonoTime now) const {
    MutexLock lock(mu_);
    return now < renew_until_ && !lost_.stop_requested();
  }

  void Release(const Context& ctx) {
    StopRenewing();
    lost_.request_stop();
    SetUntil(MonoTime::min(), MonoTime::min());
    if (!leading_ && unanswered_ == Unanswered::kNothing && !(seen_ && seen_->holder == options_.identity)) return;
    Result<bool> released = GiveBack(ctx.WithTimeout(options_.renew_deadline));
    leading_ = false;
    if (!released.ok()) {
      ctx.log.Warn("lease not given back: it runs out by itself", {{"error", released.error().message}});
    } else if (*released) {
      ctx.log.Info("lease given back", {{"lease", options_.ns + "/" + options_.name}});
    }
  }

 private:
  // A write of the lease that may have been done, or be done yet.
  enum class Unanswered { kNothing, kCreate, kUpdate };

  bool IsAnothers() const { return seen_ && !seen_->holder.empty() && seen_->holder != options_.identity; }

  // Watches another's lease until it is given back or runs out; false where it can't be watched. One that is deleted
  // lasts as long as it would have lasted: its holder writes until then, or puts it back.
  bool SeesItFree(const Context& ctx) {
    bool watched = false;
    auto look = [&](WatchEvent event) -> Status {
      if (event.type == WatchEvent::Type::kBookmark) return Ok();
      See(ctx, std::move(event.object));
      return IsAnothers() ? Ok() : Status(Error{Code::kCancelled, "it is free", {}});
    };
    while (api_.watch && IsAnothers() && !RunOut(ctx)) {
      watched = true;
      MonoTime seen_before = seen_at_;
      Millis left = std::chrono::ceil<Millis>(RunsOutAt() - ctx.clock->Monotonic());
      Status ended = api_.watch(ctx.WithTimeout(left), lease_, look);
      if (!IsAnothers() || RunOut(ctx)) return true;
      // Goes on where the lease has been renewed meanwhile.
      if (!ended.ok() && ended.code() == Code::kDeadlineExceeded && seen_at_ != seen_before) continue;
      ReportWatch(ctx, ended);
      return false;
    }
    return watched;
  }

  // True where the lease is ours now. Renewals are one optimistic PUT of what was written last; only when that fails
  // the lease is read again.
  Result<bool> TakeOrRenew(const Context& ctx) {
    MonoTime before = ctx.clock->Monotonic();
    if (leading_) {
      Result<Object> renewed =
          api_.update(ctx, With(Held(*seen_, options_.identity, options_.lease_duration, Now(ctx))));
      if (renewed.ok()) return Taken(ctx, before, std::move(renewed).value());
      if (renewed.code() != Code::kConflict && renewed.code() != Code::kNotFound) return renewed.error();
    }
    Result<Object> read = api_.get(ctx);
    bool there = read.ok() || read.code() != Code::kNotFound;
    if (!read.ok() && there) return read.error();
    if (there) See(ctx, std::move(read).value());
    if (IsAnothers() && (leading_ || !RunOut(ctx))) {
      leading_ = false;
      unanswered_ = Unanswered::kNothing;
      return false;
    }
    if (!there) return Create(ctx, before);
    return TakenBy(ctx, before,
                   api_.update(ctx, With(Held(*seen_, options_.identity, options_.lease_duration, Now(ctx)))),
                   Unanswered::kUpdate);
  }

  Result<bool> Create(const Context& ctx, MonoTime before) {
    Object lease(Json{{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", {{"name", options_.name}, {"namespace", options_.ns}}}});
    LeaseRecord record = Held({.transitions = -1}, options_.identity, options_.lease_duration, Now(ctx));
    record.WriteTo(lease);
    return TakenBy(ctx, before, api_.create(ctx, lease), Unanswered::kCreate);
  }

  // Without an answer, as when the process is told to end meanwhile, the lease may be ours all the same. A later write
  // that is refused says nothing of it.
  Result<bool> TakenBy(const Context& ctx, MonoTime before, Result<Object> answer, Unanswered write) {
    if (answer.ok()) return Taken(ctx, before, std::move(answer).value());
    if (answer.code() == Code::kCancelled || answer.code() == Code::kDeadlineExceeded ||
        answer.code() == Code::kUnavailable) {
      unanswered_ = write;
    }
    return answer.error();
  }

  // The lease is ours from before the request that wrote it: its end is counted from there.
  Result<bool> Taken(const Context& ctx, MonoTime before, Object lease) {
    See(ctx, std::move(lease));
    if (seen_->holder != options_.identity)
      return Error{Code::kInternal, "the answer to a write of the lease names another holder", {}};
    leading_ = true;
    unanswered_ = Unanswered::kNothing;
    renewed_ = before;
    SetUntil(before + options_.lease_duration, before + options_.renew_deadline);
    return true;
  }

  void See(const Context& ctx, Object lease) {
    LeaseRecord record = LeaseRecord::Of(lease);
    if (record != seen_) seen_at_ = ctx.clock->Monotonic();
    seen_ = std::move(record);
    lease_ = std::move(lease);
  }

  // Until the next look: no longer than another's lease lasts.
  Millis Pause(const Context& ctx) const {
    Millis pause = Jittered(options_.retry_period);
    if (!IsAnothers() || RunOut(ctx)) return pause;
    return std::min(pause, std::chrono::ceil<Millis>(RunsOutAt() - ctx.clock->Monotonic()));
  }

  MonoTime RunsOutAt() const { return seen_at_ + Seconds(seen_->duration_seconds); }
  bool RunOut(const Context& ctx) const { return ctx.clock->Monotonic() >= RunsOutAt(); }

  Object With(const LeaseRecord& record) const {
    Object out = lease_;
    record.WriteTo(out);
    return out;
  }

  void Renew(const Context& ctx) {
    while (true) {
      MonoTime deadline = renewed_ + options_.renew_deadline;
      Millis left = std::chrono::ceil<Millis>(deadline - ctx.clock->Monotonic());
      if (!ctx.clock->Sleep(ctx.stop, std::min<Millis>(options_.retry_period, left))) return;
      left = std::chrono::ceil<Millis>(deadline - ctx.clock->Monotonic());
      if (left <= Millis(0)) return Lose(ctx, "not renewed in time");
      // Half the time at most, so that one request that hangs isn't the last one.
      Result<bool> ours = TakeOrRenew(ctx.WithTimeout(std::min<Millis>(left, options_.renew_deadline / 2)));
      if (ctx.stop.stop_requested()) return;
      if (!ours.ok()) {
        ctx.log.Warn("lease not renewed", {{"code", CodeName(ours.code())}, {"error", ours.error().message}});
      } else if (!*ours) {
        return Lose(ctx, "now held by " + seen_->holder);
      }
    }
  }

  void Lose(const Context& ctx, const std::string& why) {
    ctx.log.Error("lease lost", {{"reason", why}});
    lost_.request_stop();
  }

  // Whether it was ours to give. What was sent without an answer may be done yet: of an update that isn't, this one,
  // for the same version, takes the place; otherwise the lease is read once more. (A creation that is done after that
  // leaves a lease that runs out by itself.)
  Result<bool> GiveBack(const Context& ctx) {
    if (seen_ && (seen_->holder == options_.identity || unanswered_ == Unanswered::kUpdate)) {
      Result<Object> written = api_.update(ctx, With(Released(*seen_, Now(ctx))));
      if (written.ok()) return true;
      if (written.code() != Code::kConflict) return written.error();
    }
    Result<Object> read = api_.get(ctx);
    if (!read.ok() && read.code() == Code::kNotFound) return false;
    See(ctx, TRY(std::move(read)));
    if (seen_->holder != options_.identity) return false;
    TRY(api_.update(ctx, With(Released(*seen_, Now(ctx)))));
    return true;
  }

  void StopRenewing() {
    context_stop_.reset();
    renew_stop_.request_stop();
    if (renewing_.joinable()) renewing_.join();
  }

  void StopFromOutside() {
    lost_.request_stop();
    renew_stop_.request_stop();
  }

  void Report(const Context& ctx, const Result<bool>& ours, const std::string& problem) const {
    if (ours.ok() || ours.code() == Code::kConflict || ours.code() == Code::kAlreadyExists) {
      ctx.log.Info("waiting for the lease", {{"because", problem}});
    } else {
      ctx.log.Warn("waiting for the lease", {{"code", CodeName(ours.code())}, {"error", problem}});
    }
  }

  // Once for each reason: it is read instead, again and again.
  void ReportWatch(const Context& ctx, const Status& ended) {
    if (ended.ok() || ended.code() == Code::kCancelled || ended.code() == Code::kDeadlineExceeded) return;
    if (std::exchange(watch_problem_, ended.error().message) == ended.error().message) return;
    ctx.log.Warn("the lease can't be watched: it is read every retry period",
                 {{"code", CodeName(ended.code())}, {"error", ended.error().message}});
  }

  void SetUntil(MonoTime valid, MonoTime renew) {
    MutexLock lock(mu_);
    valid_until_ = valid;
    renew_until_ = renew;
  }

  static WallTime Now(const Context& ctx) { return ctx.clock->Now(); }

  static Millis Jittered(Millis period) {
    thread_local std::minstd_rand random{std::random_device{}()};
    return period + Millis(std::uniform_int_distribution<Millis::rep>(0, period.count() / 5)(random));
  }

  const LeaseApi api_;
  const LeaderOptions options_;
  Object lease_;
  std::optional<LeaseRecord> seen_;
  MonoTime seen_at_{}, renewed_{};
  bool leading_ = false;
  Unanswered unanswered_ = Unanswered::kNothing;
  std::string watch_problem_;
  mutable Mutex mu_;
  MonoTime valid_until_ CAPI_GUARDED_BY(mu_) = MonoTime::min();
  MonoTime renew_until_ CAPI_GUARDED_BY(mu_) = MonoTime::min();
  std::stop_source lost_, renew_stop_;
  std::thread renewing_;
  std::optional<std::stop_callback<std::function<void()>>> context_stop_;
};

LeaderElector::LeaderElector(Client& client, LeaderOptions options) {
  LeaseApi api = ApiOf(client, options);
  impl_ = std::make_unique<Impl>(std::move(api), std::move(options));
}
LeaderElector::LeaderElector(LeaseApi api, LeaderOptions options)
    : impl_(std::make_unique<Impl>(std::move(api), std::move(options))) {}
LeaderElector::~LeaderElector() = default;

Status LeaderElector::Acquire(const Context& ctx) { return impl_->Acquire(ctx); }
std::stop_token LeaderElector::lost() const { return impl_->lost(); }
MonoTime LeaderElector::valid_until() const { return impl_->valid_until(); }
Status LeaderElector::MayWrite(const Context& ctx) const {
  if (impl_->MayWrite(ctx.clock->Monotonic())) return Ok();
  return Error{Code::kFailedPrecondition, "not sent: the lease is not held, or wasn't renewed in time", {}};
}
void LeaderElector::Release(const Context& ctx) { impl_->Release(ctx); }

}  // namespace capi::kube
