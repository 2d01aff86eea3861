#include "operator/ui/timeline.h"

#include <algorithm>
#include <utility>

namespace capi::ops::ui {
namespace {

// Never half a character.
std::string Shortened(std::string text) {
  if (text.size() <= Timeline::kLongestMessage) return text;
  size_t end = Timeline::kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + " ...";
}

}  // namespace

void Timeline::Note(const std::string& key, const api::ProviderStatus& was, const api::ProviderStatus& is,
                    WallTime now) {
  const std::string time = FormatTime(now);
  for (const kube::Condition& c : is.conditions) {
    const kube::Condition* before = kube::FindCondition(was.conditions, c.type);
    if (before != nullptr && before->status == c.status && before->reason == c.reason) continue;
    Add(key, {time, c.type, c.status, c.reason, Shortened(c.message)});
  }
  for (const kube::Condition& c : was.conditions) {
    if (kube::FindCondition(is.conditions, c.type) == nullptr) Add(key, {time, c.type, "", "", ""});
  }
}

void Timeline::Add(const std::string& key, Transition transition) {
  std::deque<Transition>& mine = all_[key];
  mine.push_back(std::move(transition));
  order_.push_back(key);
  if (mine.size() > kMostOfOne) {
    mine.pop_front();
    order_.erase(std::find(order_.begin(), order_.end(), key));
  }
  if (order_.size() <= kMost) return;
  auto oldest = all_.find(order_.front());
  order_.pop_front();
  oldest->second.pop_front();
  if (oldest->second.empty()) all_.erase(oldest);
}

void Timeline::Forget(const std::string& key) {
  if (all_.erase(key) != 0) std::erase(order_, key);
}

std::vector<Transition> Timeline::Of(const std::string& key) const {
  auto found = all_.find(key);
  if (found == all_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace capi::ops::ui
