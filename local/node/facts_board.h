// The facts of one Pod, written by its containers' threads and read by who writes its status.
#pragma once

#include <condition_variable>
#include <functional>

#include "base/clock.h"
#include "base/mutex.h"
#include "local/node/pod_facts.h"

namespace capi::local {

// Thread-safe.
class FactsBoard {
 public:
  explicit FactsBoard(PodFacts facts) : facts_(std::move(facts)) {}

  PodFacts Get() const {
    MutexLock lock(mu_);
    return facts_;
  }
  void Change(const std::function<void(PodFacts&)>& change) {
    MutexLock lock(mu_);
    change(facts_);
    changed_ = true;
    wake_.notify_all();
  }
  void Wake() {
    MutexLock lock(mu_);
    changed_ = true;
    wake_.notify_all();
  }
  // Until something has changed since the last Await, or `deadline`.
  void Await(Clock& clock, MonoTime deadline) {
    MutexLock lock(mu_);
    clock.WaitUntil(wake_, mu_, {}, deadline, [&] {
      mu_.AssertHeld();
      return changed_;
    });
    changed_ = false;
  }

 private:
  mutable Mutex mu_;
  std::condition_variable_any wake_;
  PodFacts facts_ CAPI_GUARDED_BY(mu_);
  bool changed_ CAPI_GUARDED_BY(mu_) = true;
};

}  // namespace capi::local
