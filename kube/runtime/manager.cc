#include "kube/runtime/manager.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include "base/caught.h"
#include "base/mutex.h"
#include "kube/client/status_error.h"

namespace capi::kube {
namespace {

constexpr Seconds kGiveBackTimeout(2);
// How long kinds that can't be listed are waited for, and how often each that is waited for is looked at. One whose
// conversion webhook is away may wait for ours, which gets its certificate from who leads.
constexpr Seconds kPatience(30), kPatienceForConversion(3), kLookAgain(1);

struct Part {
  std::string name;
  std::function<Status(const Context&)> run;
};

// The error of the first part that failed, and a stop for all others. Thread-safe.
class Failure {
 public:
  void Note(const Error& error) {
    {
      MutexLock lock(mu_);
      if (!error_) error_ = error;
    }
    stop_.request_stop();
  }
  std::optional<Error> error() const {
    MutexLock lock(mu_);
    return error_;
  }
  std::stop_token stop() const { return stop_.get_token(); }

 private:
  mutable Mutex mu_;
  std::optional<Error> error_ CAPI_GUARDED_BY(mu_);
  std::stop_source stop_;
};

// Whatever it throws is its error: the process ends in good order, and gives its lease back.
Status RunPart(const Part& part, const Context& ctx) {
  Status ended = Ok();
  if (auto thrown = Caught([&] { ended = part.run(ctx); })) return Error{Code::kInternal, *std::move(thrown), {}};
  return ended;
}

// Threads that start together and, at the latest when this goes, stop together.
class Group {
 public:
  Group(const Context& ctx, const std::vector<Part>& parts, Failure& failure)
      : ctx_(ctx.WithStop(stop_.get_token())), failure_(failure) {
    for (const Part& part : parts) threads_.emplace_back([this, &part] { Run(part); });
  }
  ~Group() {
    stop_.request_stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

 private:
  void Run(const Part& part) {
    Status ended = RunPart(part, ctx_);
    if (ctx_.stop.stop_requested()) return;
    Error error = ended.ok() ? Error{Code::kInternal, "it ended by itself", {}} : ended.error();
    ctx_.log.Error("a part failed", {{"part", part.name}, {"error", error.message}});
    failure_.Note(error.With(part.name));
  }

  std::stop_source stop_;
  const Context ctx_;
  Failure& failure_;
  std::vector<std::thread> threads_;
};

// Stops when either does.
class EitherStop {
 public:
  EitherStop(const std::stop_token& a, const std::stop_token& b)
      : on_a_(a, [this] { stop_.request_stop(); }), on_b_(b, [this] { stop_.request_stop(); }) {}
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> on_a_, on_b_;
};

}  // namespace

class Manager::Impl {
 public:
  explicit Impl(Clock& clock) : clock_(clock) {}

  Status Run(Context ctx) {
    ctx.clock = &clock_;
    Failure failure;
    EitherStop stop(ctx.stop, failure.stop());
    ctx.stop = stop.token();
    Status ended = RunParts(ctx, failure);
    auto failed = failure.error();
    return failed ? Status(*failed) : ended;
  }

  std::vector<Part> parts, lead_parts;
  std::vector<Informer*> informers;
  std::vector<Controller*> controllers;
  LeaderElector* elector = nullptr;
  std::atomic<bool> ready = false;

 private:
  Status RunParts(const Context& ctx, Failure& failure) {
    Group plain(ctx, parts, failure);
    Group caches(ctx, InformerParts(), failure);
    if (!AwaitCaches(ctx)) return Ok();
    ready = true;
    if (elector == nullptr) {
      Group leading(ctx, LeadParts(), failure);
      AwaitStop(ctx.stop);
      return Ok();
    }
    return Lead(ctx, failure);
  }

  // False when stopped before. An outage is waited for as long as it lasts: it says nothing of any kind.
  bool AwaitCaches(const Context& ctx) {
    const MonoTime began = clock_.Monotonic();
    size_t refused = 0;
    for (Informer* informer : informers) {
      while (!informer->Synced()) {
        Status synced = informer->WaitForSync(ctx.WithTimeout(kLookAgain));
        if (!synced.ok() && synced.code() != Code::kDeadlineExceeded) return false;
        auto refusal = synced.ok() ? std::nullopt : informer->refusal();
        if (!refusal) continue;
        if (clock_.Monotonic() < began + (ConversionIsAway(*refusal) ? kPatienceForConversion : kPatience)) continue;
        ++refused;
        ctx.log.Error("a kind can't be listed: going on without it, until it can",
                      {{"resource", informer->resource().plural}, {"error", refusal->message}});
        break;
      }
    }
    ctx.log.Info("caches are in sync", {{"informers", informers.size() - refused}});
    return true;
  }

  // The lease is renewed until the work that it covers has ended, also after `ctx` has stopped.
  Status Lead(const Context& ctx, Failure& failure) {
    std::stop_source elector_stop;
    Status acquired = AcquireUntilStopped(ctx, elector_stop);
    bool lost = false;
    if (acquired.ok()) {
      EitherStop stop(ctx.stop, elector->lost());
      Group leading(ctx, LeadParts(), failure);
      AwaitStop(stop.token());
      lost = !ctx.stop.stop_requested() && elector->lost().stop_requested();
    }
    elector->Release(ctx.WithStop({}).WithTimeout(kGiveBackTimeout));
    if (lost) return Error{Code::kFailedPrecondition, "the lease was lost", {}};
    if (!acquired.ok() && !ctx.stop.stop_requested()) return acquired;
    return Ok();
  }

  // The elector's context stops with `ctx` while it waits, and no more once it leads.
  Status AcquireUntilStopped(const Context& ctx, std::stop_source& elector_stop) {
    std::stop_callback forward(ctx.stop, [&elector_stop] { elector_stop.request_stop(); });
    return elector->Acquire(ctx.WithStop(elector_stop.get_token()));
  }

  void AwaitStop(const std::stop_token& stop) {
    Mutex mu;
    std::condition_variable_any cv;
    MutexLock lock(mu);
    clock_.WaitUntil(cv, mu, stop, MonoTime::max(), [] { return false; });
  }

  const std::vector<Part>& InformerParts() {
    for (Informer* informer : informers) {
      informer_parts_.push_back({"informer " + informer->resource().plural, [informer](const Context& ctx) {
                                   informer->Run(ctx);
                                   return Ok();
                                 }});
    }
    return informer_parts_;
  }

  const std::vector<Part>& LeadParts() {
    for (Controller* controller : controllers) {
      lead_parts.push_back({"controller " + controller->name(), [controller](const Context& ctx) {
                              controller->Run(ctx);
                              return Ok();
                            }});
    }
    return lead_parts;
  }

  Clock& clock_;
  std::vector<Part> informer_parts_;
};

Manager::Manager(Clock& clock) : impl_(std::make_unique<Impl>(clock)) {}
Manager::~Manager() = default;

void Manager::Add(std::string name, std::function<Status(const Context&)> run, bool needs_lead) {
  (needs_lead ? impl_->lead_parts : impl_->parts).push_back({std::move(name), std::move(run)});
}
void Manager::Add(Informer& informer) { impl_->informers.push_back(&informer); }
void Manager::Add(Controller& controller) { impl_->controllers.push_back(&controller); }
void Manager::LeadBy(LeaderElector& elector) { impl_->elector = &elector; }
Status Manager::Run(const Context& ctx) { return impl_->Run(ctx); }
bool Manager::Ready() const { return impl_->ready; }

}  // namespace capi::kube
