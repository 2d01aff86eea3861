// What is said of a pass: status, events, metrics and the line in the log; and when the next one is (behaviour.md F1,
// F5, F6).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "kube/runtime/metrics.h"
#include "kube/runtime/work_queue.h"
#include "operator/report/provider_metrics.h"
#include "operator/report/resyncs.h"
#include "operator/report/secret_masks.h"
#include "operator/report/status_writer.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// Thread-safe. What it is given outlives it. No secret value that `masks` knows is in anything that it says.
class Reporter {
 public:
  struct Needs {
    ProviderCache& cache;
    StatusWriter& writer;
    SecretMasks& masks;
    kube::WorkQueue& queue;  // of the passes: it keeps their back-offs
    kube::Metrics& metrics;
    kube::EventRecorder& events;
    Clock& clock;
    Millis sync_period{0};  // between two looks at what is Ready (F6)
  };
  explicit Reporter(Needs needs);

  // A pass begins: it has seen what there is. Whether time alone asked for it is told by the queue (F6).
  void Begin(const std::string& key) { resyncs_.Begin(key, needs_.queue.ByTimeAlone(key)); }

  // A pass did `done` on `o`. What was done is told whatever becomes of the status; the rest only once the status is
  // written: nothing is said of a pass that was decided on what is no longer so. A status that nobody can write is
  // told by the metrics alone, and tried again soon, by a back-off of its own. Returns when the next pass is; an error
  // where the context ended.
  Result<kube::Outcome> Report(const Context& ctx, const Observation& o, Done done);
  // The same of a pass after which the provider is gone: there is no status to write any more.
  void ReportGone(const Context& ctx, const Observation& o, Done done);
  // A pass that could not observe, or not write what has to be written first: nothing is known but what was said
  // before, and why (F1).
  Result<kube::Outcome> ReportFailed(const Context& ctx, const std::string& key, const Error& error);
  // A pass that threw: a bug of the operator, and of this provider alone (F7). `what` as the exception says it.
  Result<kube::Outcome> ReportThrown(const Context& ctx, const std::string& key, const std::string& what);

  // The newest version that is known; "" for none.
  void Knows(const api::ProviderId& id, const std::string& newest) { measured_.Knows(id, newest); }
  // However long it took since then, the next pass is when it says.
  kube::Outcome Left(kube::Outcome next, MonoTime since);

  // A look is due then (U12), and has its priority (F10). That pass can find nothing of it: whatever else it finds had
  // no event (F6).
  static kube::Outcome NoLaterThan(kube::Outcome next, Millis due);
  // The same for a pass that has something of its own to do then (U13).
  kube::Outcome GoesOnBy(const std::string& key, kube::Outcome next, Millis due);

  // A pass is over, whatever came of it.
  void Took(const std::string& key, MonoTime::duration pass) {
    measured_.Took(api::ProviderId::FromKey(key), {{Phase::kReconcile, pass}});
  }

  // The provider is gone, and so are its metrics and what is kept in memory for it.
  void Forget(const api::ProviderId& id);

 private:
  Result<kube::Outcome> ReportUnseen(const Context& ctx, const std::string& key, const Hold& hold);
  struct Scheduled {
    kube::Outcome next;
    MonoTime since;  // no earlier than what the queue counts its time from: a try before that would be none (F5)
  };
  Scheduled Schedule(const std::string& key, const Observation& o, Done& done, bool ready);
  Result<std::optional<kube::Outcome>> Write(const Context& ctx, api::Provider& provider,
                                             const api::ProviderStatus& status);
  void Announce(const Context& ctx, const api::Provider& provider, const api::ProviderStatus& was,
                const api::ProviderStatus& is, const Done& done);
  void Record(const api::Provider& provider, const std::vector<Event>& events);
  std::optional<Millis> Postponed(const std::string& key, const api::ProviderStatus& was, const api::ProviderStatus& is,
                                  const Done& done);
  bool HasItsEvent(const std::string& key, const Done& done) const;
  void AsksAt(const std::string& key, const std::string& source);
  void CountFoundByResync(const Context& ctx, const std::string& key);

  const Needs needs_;
  ProviderMetrics measured_;
  Resyncs resyncs_;
  Mutex mu_;
  std::map<std::string, MonoTime> last_words_ CAPI_GUARDED_BY(mu_);  // time of the last status write, by key
  std::map<std::string, std::string> sources_ CAPI_GUARDED_BY(mu_);  // Observation::source of the last pass, by key
};

}  // namespace capi::ops
