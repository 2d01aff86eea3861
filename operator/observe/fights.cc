#include "operator/observe/fights.h"

#include <algorithm>
#include <set>

namespace capi::ops {
namespace {

constexpr Seconds kWindow{60};
constexpr size_t kOften = 5;  // changes within the window
constexpr Millis kFirstDelay = Seconds(10);
constexpr Millis kLongestDelay = Seconds(600);

}  // namespace

Millis Fights::Delay(int level) { return std::min(kFirstDelay * (1 << std::min(level - 1, 10)), kLongestDelay); }

std::vector<Fight> Fights::Judge(const std::string& provider, std::vector<Drift>& drifts) {
  MutexLock lock(mu_);
  auto found = records_.find(provider);
  if (found == records_.end()) return {};
  auto& records = found->second;
  MonoTime now = clock_.Monotonic();
  auto left = [&](MonoTime until) { return std::max(Millis(0), std::chrono::ceil<Millis>(until - now)); };
  std::set<Key> drifted;
  for (Drift& drift : drifts) {
    Key key{drift.id, drift.Signature()};
    auto it = records.find(key);
    if (it == records.end()) continue;
    Record& record = it->second;
    while (!record.restored.empty() && record.restored.front() + kWindow <= now) record.restored.pop_front();
    // It was restored four times, and this is the fifth change.
    if (record.level == 0 && record.restored.size() + 1 >= kOften) record.level = 1;
    if (record.level > 0) drift.wait = left(record.last + Delay(record.level));
    drifted.insert(std::move(key));
  }
  std::vector<Fight> fights;
  for (auto it = records.begin(); it != records.end();) {
    const Record& record = it->second;
    bool waiting = drifted.contains(it->first);
    if (!waiting && record.last + kWindow <= now) {
      it = records.erase(it);
      continue;
    }
    if (record.level > 0) {
      MonoTime next = record.last + (waiting ? Millis(Delay(record.level)) : Millis(kWindow));
      fights.push_back({it->first.first, record.what, record.total, waiting, left(next)});
    }
    ++it;
  }
  return fights;
}

void Fights::Restored(const std::string& provider, const Drift& drift, std::string what) {
  MutexLock lock(mu_);
  Record& record = records_[provider][{drift.id, drift.Signature()}];
  MonoTime now = clock_.Monotonic();
  record.restored.push_back(now);
  if (record.restored.size() > kOften) record.restored.pop_front();
  record.last = now;
  record.what = std::move(what);
  ++record.total;
  if (record.level > 0) ++record.level;
}

void Fights::Failed(const std::string& provider, const Drift& drift) {
  MutexLock lock(mu_);
  auto records = records_.find(provider);
  if (records == records_.end()) return;
  auto it = records->second.find({drift.id, drift.Signature()});
  if (it == records->second.end() || it->second.level == 0) return;
  it->second.last = clock_.Monotonic();
  ++it->second.level;
}

void Fights::Forget(const std::string& provider) {
  MutexLock lock(mu_);
  records_.erase(provider);
}

}  // namespace capi::ops
