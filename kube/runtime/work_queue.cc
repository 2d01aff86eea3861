#include "kube/runtime/work_queue.h"

#include <algorithm>
#include <cmath>

namespace capi::kube {

WorkQueue::WorkQueue(Clock& clock, BackoffOptions backoff, unsigned seed, WorkQueueEvents* events)
    : clock_(clock), options_(backoff), events_(events), random_(seed) {}

void WorkQueue::Add(const std::string& key) {
  MutexLock lock(mu_);
  timed_.erase(key);
  AddLocked(key);
}

void WorkQueue::AddLocked(const std::string& key) {
  ForgetTime(key);
  if (!dirty_.emplace(key, clock_.Monotonic()).second) return;
  if (events_ != nullptr) events_->OnAdd();
  if (!processing_.contains(key)) PushReady(key);
}

void WorkQueue::AddAfter(const std::string& key, Millis delay) {
  MutexLock lock(mu_);
  if (dirty_.contains(key)) return;
  if (delay <= Millis(0)) {
    timed_.erase(key);
    AddLocked(key);
    return;
  }
  if (events_ != nullptr) events_->OnAddAfter();
  MonoTime due = clock_.Monotonic() + delay;
  auto known = waiting_.find(key);
  if (known != waiting_.end() && known->second <= due) return;
  ForgetTime(key);
  waiting_[key] = due;
  by_time_.emplace(due, key);
  changed_.notify_all();
}

Millis WorkQueue::Backoff(const std::string& key, const BackoffOptions& options, Millis at_least) {
  MutexLock lock(mu_);
  MonoTime now = clock_.Monotonic();
  Failures& failures = failures_[key];
  if (failures.base != options.base) failures = {options.base, 0, now};
  if (failures.count > 0 && now < failures.due) {
    failures.due = std::max(failures.due, now + at_least);
    return std::chrono::ceil<Millis>(failures.due - now);
  }
  double plain = static_cast<double>(options.base.count()) * std::exp2(std::min(failures.count++, 60));
  std::uniform_real_distribution<double> factor(1 - options.jitter, 1 + options.jitter);
  double delay = std::min(plain * factor(random_), static_cast<double>(options.max.count()));
  failures.due = now + std::max(Millis(std::llround(delay)), at_least);
  return std::chrono::ceil<Millis>(failures.due - now);
}

void WorkQueue::Forget(const std::string& key) {
  MutexLock lock(mu_);
  failures_.erase(key);
}

std::optional<std::string> WorkQueue::Get(const std::stop_token& stop) {
  MutexLock lock(mu_);
  while (!stop.stop_requested()) {
    PromoteDue();
    if (!ready_.empty()) {
      std::string key = std::move(ready_.front());
      ready_.pop_front();
      const MonoTime now = clock_.Monotonic();
      if (events_ != nullptr) events_->OnGet(now - dirty_.at(key));
      dirty_.erase(key);
      processing_.emplace(key, now);
      ReportSize();
      return key;
    }
    MonoTime due = NextDue();
    clock_.WaitUntil(changed_, mu_, stop, due, [this, due] {
      mu_.AssertHeld();
      return !ready_.empty() || NextDue() < due;
    });
  }
  return std::nullopt;
}

void WorkQueue::Done(const std::string& key) {
  MutexLock lock(mu_);
  if (auto begun = processing_.extract(key); begun && events_ != nullptr) {
    events_->OnDone(clock_.Monotonic() - begun.mapped());
  }
  if (dirty_.contains(key)) {
    PushReady(key);
  } else {
    timed_.erase(key);
  }
}

bool WorkQueue::ByTimeAlone(const std::string& key) const {
  MutexLock lock(mu_);
  return timed_.contains(key) && !dirty_.contains(key);
}

size_t WorkQueue::size() const {
  MutexLock lock(mu_);
  return ready_.size();
}

WorkInHand WorkQueue::in_hand() const {
  MutexLock lock(mu_);
  WorkInHand work;
  const MonoTime now = clock_.Monotonic();
  for (const auto& [key, begun] : processing_) {
    work.together += now - begun;
    work.longest = std::max(work.longest, now - begun);
  }
  return work;
}

void WorkQueue::PushReady(const std::string& key) {
  ready_.push_back(key);
  ReportSize();
  changed_.notify_one();
}

void WorkQueue::ReportSize() {
  if (events_ != nullptr) events_->OnSize(ready_.size());
}

void WorkQueue::ForgetTime(const std::string& key) {
  auto known = waiting_.find(key);
  if (known == waiting_.end()) return;
  by_time_.erase({known->second, key});
  waiting_.erase(known);
}

void WorkQueue::PromoteDue() {
  MonoTime now = clock_.Monotonic();
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    std::string key = by_time_.begin()->second;
    timed_.insert(key);
    AddLocked(key);
  }
}

MonoTime WorkQueue::NextDue() const { return by_time_.empty() ? MonoTime::max() : by_time_.begin()->first; }

}  // namespace capi::kube
