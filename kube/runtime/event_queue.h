// Events that wait to be written: the same ones merged, a bounded number.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/meta/object.h"

namespace capi::kube {

// What makes two events the same, but for time. A value.
struct EventKey {
  std::string api_version, kind, ns, name, uid;  // of the object that it is about
  std::string type, reason, message;
  auto operator<=>(const EventKey&) const = default;
  std::string event_ns() const { return ns.empty() ? "default" : ns; }
};

EventKey KeyOf(const Object& about, std::string_view type, std::string_view reason, std::string_view message);

struct QueuedEvent {
  EventKey key;
  std::string resource_version;  // of the object
  WallTime first, last;
  std::int64_t count = 1;
  std::string name;  // under which it was sent already, and maybe written; "" where it wasn't
};

// Thread-compatible.
class EventQueue {
 public:
  explicit EventQueue(size_t most) : most_(most) {}
  // Merges with a waiting event of the same key. Returns false when the oldest one had to go.
  bool Push(QueuedEvent event);
  std::optional<QueuedEvent> Pop();
  size_t size() const { return waiting_.size(); }

 private:
  const size_t most_;
  std::deque<QueuedEvent> waiting_;
};

// `text` cut to `most` bytes, at a border of UTF-8 characters.
std::string CutUtf8(std::string_view text, size_t most);

}  // namespace capi::kube
