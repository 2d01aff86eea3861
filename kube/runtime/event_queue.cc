#include "kube/runtime/event_queue.h"

#include <algorithm>

namespace capi::kube {
namespace {

constexpr size_t kMaxMessage = 1024;  // the API server refuses longer ones

}  // namespace

EventKey KeyOf(const Object& about, std::string_view type, std::string_view reason, std::string_view message) {
  return {.api_version = about.api_version(),
          .kind = about.kind(),
          .ns = about.ns(),
          .name = about.name(),
          .uid = about.uid(),
          .type = std::string(type),
          .reason = std::string(reason),
          .message = CutUtf8(message, kMaxMessage)};
}

bool EventQueue::Push(QueuedEvent event) {
  auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& e) { return e.key == event.key; });
  if (same != waiting_.end()) {
    same->count += event.count;
    same->first = std::min(same->first, event.first);
    same->last = std::max(same->last, event.last);
    if (same->name.empty()) same->name = std::move(event.name);
    return true;
  }
  waiting_.push_back(std::move(event));
  if (waiting_.size() <= most_) return true;
  waiting_.pop_front();
  return false;
}

std::optional<QueuedEvent> EventQueue::Pop() {
  if (waiting_.empty()) return std::nullopt;
  QueuedEvent out = std::move(waiting_.front());
  waiting_.pop_front();
  return out;
}

std::string CutUtf8(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

}  // namespace capi::kube
