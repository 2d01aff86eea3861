#include "kube/runtime/manager.h"

#include <atomic>
#include <condition_variable>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace capi::kube {
namespace {

constexpr Seconds kGiveBackTimeout(2);

struct Part {
  std::string name;
  std::function<void(const Context&)> run;
};

// Threads that start together and, at the latest when this goes, stop together.
class Group {
 public:
  Group(const Context& ctx, const std::vector<Part>& parts) : ctx_(ctx.WithStop(stop_.get_token())) {
    for (const Part& part : parts) {
      threads_.emplace_back([this, &part] {
        part.run(ctx_);
        if (!ctx_.stop.stop_requested()) ctx_.log.Warn("a part ended by itself", {{"part", part.name}});
      });
    }
  }
  ~Group() {
    stop_.request_stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

 private:
  std::stop_source stop_;
  const Context ctx_;
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
    Group plain(ctx, parts);
    Group caches(ctx, InformerParts());
    for (Informer* informer : informers) {
      if (!informer->WaitForSync(ctx).ok()) return Ok();  // stopped before
    }
    ready = true;
    ctx.log.Info("caches are in sync", {{"informers", informers.size()}});
    if (elector == nullptr) {
      Group leading(ctx, LeadParts());
      AwaitStop(ctx.stop);
      return Ok();
    }
    return Lead(ctx);
  }

  std::vector<Part> parts, lead_parts;
  std::vector<Informer*> informers;
  std::vector<Controller*> controllers;
  LeaderElector* elector = nullptr;
  std::atomic<bool> ready = false;

 private:
  // The lease is renewed until the work that it covers has ended, also after `ctx` has stopped.
  Status Lead(const Context& ctx) {
    std::stop_source elector_stop;
    Status acquired = AcquireUntilStopped(ctx, elector_stop);
    bool lost = false;
    if (acquired.ok()) {
      EitherStop stop(ctx.stop, elector->lost());
      Group leading(ctx, LeadParts());
      AwaitStop(stop.token());
      lost = elector->lost().stop_requested();
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
      informer_parts_.push_back(
          {"informer " + informer->resource().plural, [informer](const Context& ctx) { informer->Run(ctx); }});
    }
    return informer_parts_;
  }

  const std::vector<Part>& LeadParts() {
    for (Controller* controller : controllers) {
      lead_parts.push_back(
          {"controller " + controller->name(), [controller](const Context& ctx) { controller->Run(ctx); }});
    }
    return lead_parts;
  }

  Clock& clock_;
  std::vector<Part> informer_parts_;
};

Manager::Manager(Clock& clock) : impl_(std::make_unique<Impl>(clock)) {}
Manager::~Manager() = default;

void Manager::Add(std::string name, std::function<void(const Context&)> run, bool needs_lead) {
  (needs_lead ? impl_->lead_parts : impl_->parts).push_back({std::move(name), std::move(run)});
}
void Manager::Add(Informer& informer) { impl_->informers.push_back(&informer); }
void Manager::Add(Controller& controller) { impl_->controllers.push_back(&controller); }
void Manager::LeadBy(LeaderElector& elector) { impl_->elector = &elector; }
Status Manager::Run(const Context& ctx) { return impl_->Run(ctx); }
bool Manager::Ready() const { return impl_->ready; }

}  // namespace capi::kube
