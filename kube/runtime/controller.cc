#include "kube/runtime/controller.h"

#include <atomic>
#include <memory>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "base/caught.h"
#include "kube/runtime/work_queue_metrics.h"

namespace capi::kube {
namespace {

// Names, labels and help as controller-runtime has them, so that its dashboards work.
constexpr MetricFamily kTotal{"controller_runtime_reconcile_total", "Total number of reconciliations per controller"};
constexpr MetricFamily kErrors{"controller_runtime_reconcile_errors_total",
                               "Total number of reconciliation errors per controller"};
constexpr MetricFamily kTime{"controller_runtime_reconcile_time_seconds",
                             "Length of time per reconciliation per controller"};
constexpr MetricFamily kWorkers{"controller_runtime_max_concurrent_reconciles",
                                "Maximum number of concurrent reconciles per controller"};
constexpr MetricFamily kActive{"controller_runtime_active_workers", "Number of currently used workers per controller"};
constexpr MetricFamily kPanics{"controller_runtime_reconcile_panics_total",
                               "Total number of reconciliation panics per controller"};

constexpr char kSuccess[] = "success", kRequeue[] = "requeue", kRequeueAfter[] = "requeue_after", kError[] = "error";

}  // namespace

class Controller::Impl {
 public:
  Impl(ControllerOptions options, Reconcile reconcile, Metrics& metrics, Clock& clock)
      : options_(std::move(options)),
        reconcile_(std::move(reconcile)),
        metrics_(metrics),
        clock_(clock),
        queue_metrics_(metrics, options_.name),
        queue_(clock, options_.backoff, std::random_device{}(), &queue_metrics_),
        before_text_(metrics.BeforeText([this] { ShowWork(); })) {
    for (const char* result : {kSuccess, kRequeue, kRequeueAfter, kError}) CountResult(result, 0);
    metrics_.Count(kErrors, {{"controller", options_.name}}, 0);
    metrics_.Count(kPanics, {{"controller", options_.name}}, 0);
    metrics_.Set(kWorkers, {{"controller", options_.name}}, options_.workers);
  }

  const std::string& name() const { return options_.name; }
  WorkQueue& queue() { return queue_; }

  void Run(const Context& ctx) {
    std::vector<std::jthread> workers;
    for (int i = 0; i < options_.workers; ++i) workers.emplace_back([this, &ctx] { Work(ctx); });
  }

 private:
  using End = Outcome::End;

  void Work(const Context& ctx) {
    while (auto key = queue_.Get(ctx.stop)) {
      ++active_;
      Pass(ctx.WithLog(ctx.log.With({{"controller", options_.name}, {"key", *key}})), *key);
      queue_.Done(*key);
      --active_;
    }
  }

  void Pass(const Context& ctx, const std::string& key) {
    MonoTime start = clock_.Monotonic();
    Result<Outcome> outcome = Reconciled(ctx, key);
    std::chrono::duration<double> took = clock_.Monotonic() - start;
    metrics_.Observe(kTime, {{"controller", options_.name}}, took.count());
    if (!outcome.ok()) {
      Fail(ctx, key, outcome.error());
    } else {
      if (outcome->end == End::kFine) queue_.Forget(key);
      if (outcome->again_after) queue_.AddAfter(key, *outcome->again_after, outcome->priority);
      Count(*outcome);
    }
  }

  void Count(const Outcome& outcome) {
    switch (outcome.end) {
      case End::kFine: return CountResult(outcome.again_after ? kRequeueAfter : kSuccess);
      case End::kBacksOff: return CountResult(kRequeue);
      case End::kThrew: CountThrown(); [[fallthrough]];
      case End::kError: return CountError();
    }
  }

  // What a pass throws is the error of its key: the other keys, and the process, go on.
  Result<Outcome> Reconciled(const Context& ctx, const std::string& key) {
    Result<Outcome> outcome = Outcome{};
    auto thrown = Caught([&] { outcome = reconcile_(ctx, key); });
    if (!thrown) return outcome;
    CountThrown();
    return Error{Code::kInternal, *std::move(thrown), {}};
  }

  void Fail(const Context& ctx, const std::string& key, const Error& error) {
    // A pass cut short by the end of the process failed at nothing.
    if (ctx.stop.stop_requested()) return;
    Millis delay = queue_.Backoff(key, error.retry_after.value_or(Millis(0)));
    queue_.AddAfter(key, delay);
    CountError();
    ctx.log.Error("reconcile failed",
                  {{"code", CodeName(error.code)}, {"error", error.message}, {"retry_in_ms", delay.count()}});
  }

  void CountThrown() { metrics_.Count(kPanics, {{"controller", options_.name}}); }

  void CountError() {
    CountResult(kError);
    metrics_.Count(kErrors, {{"controller", options_.name}});
  }

  void CountResult(const char* result, double by = 1) {
    metrics_.Count(kTotal, {{"controller", options_.name}, {"result", result}}, by);
  }

  void ShowWork() {
    metrics_.Set(kActive, {{"controller", options_.name}}, active_);
    queue_metrics_.Show(queue_.in_hand());
  }

  const ControllerOptions options_;
  const Reconcile reconcile_;
  Metrics& metrics_;
  Clock& clock_;
  std::atomic<int> active_ = 0;
  WorkQueueMetrics queue_metrics_;
  WorkQueue queue_;
  const std::unique_ptr<MetricsLook> before_text_;
};

Controller::Controller(ControllerOptions options, Reconcile reconcile, Metrics& metrics, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(reconcile), metrics, clock)) {}
Controller::~Controller() = default;

const std::string& Controller::name() const { return impl_->name(); }
WorkQueue& Controller::queue() { return impl_->queue(); }
void Controller::Run(const Context& ctx) { impl_->Run(ctx); }

}  // namespace capi::kube
