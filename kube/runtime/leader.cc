#include "kube/runtime/leader.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>

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
          [&client, ns = options.ns, name = options.name](const Context& ctx, const Object& since,
                                                          const std::function<Status(WatchEvent)>& on_change) {
            WatchOptions one{.field_selector = "metadata.name=" + name, .resource_version = since.resource_version()};
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
    while (true) {
      TRY(ctx.Check());
      Result<bool> ours = TakeOrRenew(ctx.WithTimeout(options_.renew_deadline));
      if (ours.ok() && *ours) break;
      std::string problem = ours.ok() ? "held by " + seen_->holder : ours.error().message;
      if (problem != last_problem) Report(ctx, ours, problem);
      last_problem = problem;
      if (!SeesItFreed(ctx)) ctx.clock->Sleep(ctx.stop, Jittered(options_.retry_period));
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

  void Release(const Context& ctx) {
    StopRenewing();
    lost_.request_stop();
    if (!leading_ && !unanswered_) return;
    Result<bool> released = GiveBack(ctx.WithTimeout(options_.renew_deadline));
    leading_ = false;
    SetValidUntil(MonoTime::min());
    if (!released.ok()) {
      ctx.log.Warn("lease not given back: it runs out by itself", {{"error", released.error().message}});
    } else if (*released) {
      ctx.log.Info("lease given back", {{"lease", options_.ns + "/" + options_.name}});
    }
  }

 private:
  // Watches another's lease until it is given back or deleted; false where it runs out, or can't be watched.
  bool SeesItFreed(const Context& ctx) {
    bool freed = false;
    auto look = [&](WatchEvent event) -> Status {
      if (event.type == WatchEvent::Type::kBookmark) return Ok();
      See(ctx, std::move(event.object));
      freed = event.type == WatchEvent::Type::kDeleted || seen_->holder.empty();
      return freed ? Status(Error{Code::kCancelled, "it is free", {}}) : Ok();
    };
    while (api_.watch && seen_ && !RunOut(ctx)) {
      Millis left = std::chrono::ceil<Millis>(RunsOutAt() - ctx.clock->Monotonic());
      Status ended = api_.watch(ctx.WithTimeout(left), lease_, look);
      if (freed) return true;
      if (ended.ok() || ended.code() != Code::kDeadlineExceeded) return false;
    }
    return false;
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
    if (!read.ok() && read.code() == Code::kNotFound) return Create(ctx, before);
    if (!read.ok()) return read.error();
    See(ctx, std::move(read).value());
    if (!seen_->holder.empty() && seen_->holder != options_.identity && (leading_ || !RunOut(ctx))) return false;
    return TakenBy(ctx, before,
                   api_.update(ctx, With(Held(*seen_, options_.identity, options_.lease_duration, Now(ctx)))));
  }

  Result<bool> Create(const Context& ctx, MonoTime before) {
    Object lease(Json{{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", {{"name", options_.name}, {"namespace", options_.ns}}}});
    LeaseRecord record = Held({.transitions = -1}, options_.identity, options_.lease_duration, Now(ctx));
    record.WriteTo(lease);
    return TakenBy(ctx, before, api_.create(ctx, lease));
  }

  // Without an answer, as when the process is told to end meanwhile, the lease may be ours all the same.
  Result<bool> TakenBy(const Context& ctx, MonoTime before, Result<Object> answer) {
    unanswered_ = !answer.ok() && (answer.code() == Code::kCancelled || answer.code() == Code::kDeadlineExceeded ||
                                   answer.code() == Code::kUnavailable);
    if (!answer.ok()) return answer.error();
    return Taken(ctx, before, std::move(answer).value());
  }

  // The lease is ours from before the request that wrote it: its end is counted from there.
  bool Taken(const Context& ctx, MonoTime before, Object lease) {
    See(ctx, std::move(lease));
    leading_ = true;
    renewed_ = before;
    SetValidUntil(before + options_.lease_duration);
    return true;
  }

  void See(const Context& ctx, Object lease) {
    LeaseRecord record = LeaseRecord::Of(lease);
    if (record != seen_) seen_at_ = ctx.clock->Monotonic();
    seen_ = std::move(record);
    lease_ = std::move(lease);
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
        leading_ = false;
        return Lose(ctx, "now held by " + seen_->holder);
      }
    }
  }

  void Lose(const Context& ctx, const std::string& why) {
    ctx.log.Error("lease lost", {{"reason", why}});
    lost_.request_stop();
  }

  // Whether it was ours to give. A write without an answer, or answered late, may leave us with the lease but not with
  // its version: then it is read once more.
  Result<bool> GiveBack(const Context& ctx) {
    if (leading_) {
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

  void SetValidUntil(MonoTime time) {
    MutexLock lock(mu_);
    valid_until_ = time;
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
  bool leading_ = false, unanswered_ = false;
  mutable Mutex mu_;
  MonoTime valid_until_ CAPI_GUARDED_BY(mu_) = MonoTime::min();
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
  if (ctx.clock->Monotonic() < valid_until()) return Ok();
  return Error{Code::kFailedPrecondition, "not sent: the lease is not held, or has run out", {}};
}
void LeaderElector::Release(const Context& ctx) { impl_->Release(ctx); }

}  // namespace capi::kube
