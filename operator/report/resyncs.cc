#include "operator/report/resyncs.h"

#include <utility>

#include "api/reasons.h"

namespace capi::ops {

void Resyncs::Begin(const std::string& key, bool by_time) {
  MutexLock lock(mu_);
  Pass& pass = passes_[key];
  pass = {.resync = by_time && pass.next, .next = false};
}

void Resyncs::Next(const std::string& key, bool resync) {
  MutexLock lock(mu_);
  passes_[key].next = resync;
}

bool Resyncs::Found(const std::string& key) {
  MutexLock lock(mu_);
  return std::exchange(passes_[key].resync, false);
}

void Resyncs::Forget(const std::string& key) {
  MutexLock lock(mu_);
  passes_.erase(key);
}

bool Turned(const api::ProviderStatus& was, const api::ProviderStatus& is) {
  const auto* before = kube::FindCondition(was.conditions, api::condition::kReady);
  const auto* now = kube::FindCondition(is.conditions, api::condition::kReady);
  if (before == nullptr || now == nullptr) return before != now;
  return before->status != now->status || before->reason != now->reason;
}

}  // namespace capi::ops
