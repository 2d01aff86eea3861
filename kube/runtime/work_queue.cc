#include "kube/runtime/work_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace capi::kube {

WorkQueue::WorkQueue(Clock& clock, BackoffOptions backoff, unsigned seed, WorkQueueEvents* events)
    : clock_(clock), options_(backoff), events_(events), random_(seed) {}

void WorkQueue::Add(const std::string& key, Priority priority) {
  MutexLock lock(mu_);
  timed_.erase(key);
  AddLocked(key, priority);
}

void WorkQueue::AddLocked(const std::string& key, Priority priority) {
  ForgetTime(key);
  auto [known, is_new] = dirty_.try_emplace(key, Asked{clock_.Monotonic(), priority});
  if (!is_new) return MoveUp(key, known->second, priority);
  if (events_ != nullptr) events_->OnAdd();
  if (!processing_.contains(key)) PushReady(key, known->second);
}

void WorkQueue::MoveUp(const std::string& key, Asked& asked, Priority priority) {
  if (priority <= asked.priority) return;
  const Priority former = std::exchange(asked.priority, priority);
  if (asked.place == 0) return;
  LineOf(former).erase(asked.place);
  ReportSize(former);
  PushReady(key, asked);
}

void WorkQueue::AddAfter(const std::string& key, Millis delay, Priority priority) {
  MutexLock lock(mu_);
  const bool is_asked = dirty_.contains(key);
  if (delay <= Millis(0)) {
    if (!is_asked) timed_.erase(key);
    auto work = processing_.find(key);
    AddLocked(key, work == processing_.end() ? priority : std::max(priority, work->second.priority));
    return;
  }
  if (is_asked) return;
  if (events_ != nullptr) events_->OnAddAfter();
  MonoTime due = clock_.Monotonic() + delay;
  auto known = waiting_.find(key);
  if (known != waiting_.end() && known->second.at <= due) return;
  ForgetTime(key);
  waiting_[key] = {due, priority};
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
    const MonoTime now = clock_.Monotonic();
    if (auto priority = NextTurn(now)) return TakeFirst(*priority, now);
    MonoTime due = NextDue();
    clock_.WaitUntil(changed_, mu_, stop, due, [this, due] {
      mu_.AssertHeld();
      return ReadyCount() > 0 || NextDue() < due;
    });
  }
  return std::nullopt;
}

// Of the keys that are ready: the priority whose first one is next.
std::optional<Priority> WorkQueue::NextTurn(MonoTime now) {
  std::optional<Priority> first, longest;
  MonoTime since = MonoTime::max();
  for (Priority priority : kPriorities) {
    const Line& line = LineOf(priority);
    if (line.empty()) continue;
    const MonoTime asked = dirty_.at(line.begin()->second).since;
    if (!first) first = priority;
    if (asked >= since) continue;
    longest = priority;
    since = asked;
  }
  if (longest == first || now - since < kOverdue) return first;
  if (++turns_without_overdue_ < kTurnsPerOverdue) return first;
  turns_without_overdue_ = 0;
  return longest;
}

std::string WorkQueue::TakeFirst(Priority priority, MonoTime now) {
  Line& line = LineOf(priority);
  std::string key = std::move(line.begin()->second);
  line.erase(line.begin());
  if (events_ != nullptr) events_->OnGet(priority, now - dirty_.at(key).since);
  dirty_.erase(key);
  processing_.emplace(key, Work{now, priority});
  ReportSize(priority);
  return key;
}

void WorkQueue::Done(const std::string& key) {
  MutexLock lock(mu_);
  if (auto begun = processing_.extract(key); begun && events_ != nullptr) {
    events_->OnDone(clock_.Monotonic() - begun.mapped().since);
  }
  if (auto asked = dirty_.find(key); asked != dirty_.end()) {
    PushReady(key, asked->second);
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
  return ReadyCount();
}

size_t WorkQueue::ReadyCount() const {
  size_t count = 0;
  for (const Line& line : ready_) count += line.size();
  return count;
}

WorkInHand WorkQueue::in_hand() const {
  MutexLock lock(mu_);
  WorkInHand work;
  const MonoTime now = clock_.Monotonic();
  for (const auto& [key, begun] : processing_) {
    work.together += now - begun.since;
    work.longest = std::max(work.longest, now - begun.since);
  }
  return work;
}

void WorkQueue::PushReady(const std::string& key, Asked& asked) {
  asked.place = ++last_place_;
  LineOf(asked.priority).emplace(asked.place, key);
  ReportSize(asked.priority);
  changed_.notify_one();
}

void WorkQueue::ReportSize(Priority priority) {
  if (events_ != nullptr) events_->OnSize(priority, LineOf(priority).size());
}

void WorkQueue::ForgetTime(const std::string& key) {
  auto known = waiting_.find(key);
  if (known == waiting_.end()) return;
  by_time_.erase({known->second.at, key});
  waiting_.erase(known);
}

void WorkQueue::PromoteDue() {
  MonoTime now = clock_.Monotonic();
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    std::string key = by_time_.begin()->second;
    timed_.insert(key);
    AddLocked(key, waiting_.at(key).priority);
  }
}

MonoTime WorkQueue::NextDue() const { return by_time_.empty() ? MonoTime::max() : by_time_.begin()->first; }

}  // namespace capi::kube
