#include "kube/runtime/events.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/mutex.h"
#include "kube/runtime/event_queue.h"

namespace capi::kube {
namespace {

constexpr size_t kMostQueued = 1000, kMostRemembered = 1000, kMaxName = 253;
constexpr auto kMergeWindow = std::chrono::minutes(10);
constexpr Seconds kWriteTimeout(10), kLastWords(2);
constexpr Seconds kFirstRetry(2), kLongestRetry(30);

EventApi ApiOf(Client& client) {
  return {
      .create = [&client](const Context& ctx, const Object& event) -> Status {
        TRY(client.Create(ctx, Builtin("Event"), event));
        return Ok();
      },
      .patch = [&client](const Context& ctx, const std::string& ns, const std::string& name,
                         const Json& patch) -> Status {
        TRY(client.Patch(ctx, Builtin("Event"), ns, name, PatchType::kMerge, patch));
        return Ok();
      },
  };
}

// Where the server isn't there or too busy the same event may be written later; any other refusal is for good (a
// namespace that is going, a right that is missing).
bool MayComeLater(const Error& error) {
  switch (error.code) {
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kRateLimited:
    case Code::kCancelled: return true;
    default: return false;
  }
}

}  // namespace

class EventRecorder::Impl {
 public:
  Impl(EventApi api, std::string component, Clock& clock)
      : api_(std::move(api)), component_(std::move(component)), clock_(clock) {}

  void Record(const Object& about, std::string_view type, std::string_view reason, std::string_view message) {
    WallTime now = clock_.Now();
    QueuedEvent event{.key = KeyOf(about, type, reason, message),
                      .resource_version = about.resource_version(),
                      .first = now,
                      .last = now};
    MutexLock lock(mu_);
    if (!queue_.Push(std::move(event))) ++dropped_;
    changed_.notify_all();
  }

  void Run(const Context& ctx) {
    Millis delay = kFirstRetry;
    while (auto event = Next(ctx.stop)) {
      Status written = Write(ctx.WithTimeout(kWriteTimeout), *event);
      if (written.ok() || !MayComeLater(written.error())) {
        Note(ctx, *event, written);
        delay = kFirstRetry;
        continue;
      }
      PutBack(std::move(*event));
      clock_.Sleep(ctx.stop, std::max<Millis>(delay, written.error().retry_after.value_or(Millis(0))));
      delay = std::min<Millis>(delay * 2, kLongestRetry);
    }
    WriteRest(ctx.WithStop({}).WithTimeout(kLastWords));
  }

 private:
  struct Written {
    std::string name;
    std::int64_t count;
    WallTime first, last;
  };

  std::optional<QueuedEvent> Next(const std::stop_token& stop) {
    MutexLock lock(mu_);
    auto some = [this] {
      mu_.AssertHeld();
      return queue_.size() > 0;
    };
    clock_.WaitUntil(changed_, mu_, stop, MonoTime::max(), some);
    return stop.stop_requested() ? std::nullopt : queue_.Pop();
  }

  // To the end of the queue: order matters little, and merging with what came meanwhile much.
  void PutBack(QueuedEvent event) {
    MutexLock lock(mu_);
    if (!queue_.Push(std::move(event))) ++dropped_;
  }

  void WriteRest(const Context& ctx) {
    while (ctx.Check().ok()) {
      std::optional<QueuedEvent> event;
      {
        MutexLock lock(mu_);
        event = queue_.Pop();
      }
      if (!event) return;
      Note(ctx, *event, Write(ctx, *event));
    }
  }

  Status Write(const Context& ctx, QueuedEvent& event) {
    auto known = written_.find(event.key);
    if (known != written_.end() && event.last - known->second.last < kMergeWindow) {
      Written& w = known->second;
      Status patched = Count(ctx, event, w.name, w.count + event.count);
      if (patched.ok()) {
        w.count += event.count;
        w.last = event.last;
      }
      // An event that has expired on the server starts anew.
      if (patched.ok() || patched.code() != Code::kNotFound) return patched;
    }
    return Create(ctx, event);
  }

  Status Count(const Context& ctx, const QueuedEvent& event, const std::string& name, std::int64_t count) {
    return api_.patch(ctx, event.key.event_ns(), name, {{"count", count}, {"lastTimestamp", FormatTime(event.last)}});
  }

  // Under one name however often: what was written though its answer was lost isn't written twice.
  Status Create(const Context& ctx, QueuedEvent& event) {
    if (event.name.empty()) event.name = NewName(event.key.name);
    Status created = api_.create(ctx, AsObject(event, event.name));
    if (!created.ok() && created.code() == Code::kAlreadyExists) created = Count(ctx, event, event.name, event.count);
    TRY(created);
    Forget(event.last);
    written_[event.key] = {.name = event.name, .count = event.count, .first = event.first, .last = event.last};
    return Ok();
  }

  Object AsObject(const QueuedEvent& event, const std::string& name) const {
    const EventKey& k = event.key;
    Json about = {{"apiVersion", k.api_version}, {"kind", k.kind}, {"name", k.name}};
    if (!k.ns.empty()) about["namespace"] = k.ns;
    if (!k.uid.empty()) about["uid"] = k.uid;
    if (!event.resource_version.empty()) about["resourceVersion"] = event.resource_version;
    return Object(Json{{"apiVersion", "v1"},
                       {"kind", "Event"},
                       {"metadata", {{"name", name}, {"namespace", k.event_ns()}}},
                       {"involvedObject", std::move(about)},
                       {"type", k.type},
                       {"reason", k.reason},
                       {"message", k.message},
                       {"source", {{"component", component_}}},
                       {"reportingComponent", component_},
                       {"reportingInstance", ""},
                       {"firstTimestamp", FormatTime(event.first)},
                       {"lastTimestamp", FormatTime(event.last)},
                       {"count", event.count}});
  }

  // "<object>.<hex>", as client-go names them; the number also keeps two of one instant apart.
  std::string NewName(const std::string& object) {
    auto since_epoch = std::chrono::duration_cast<std::chrono::nanoseconds>(clock_.Now().time_since_epoch());
    number_ = std::max<std::int64_t>(number_ + 1, since_epoch.count());
    std::string suffix = fmt::format(".{:x}", number_);
    std::string prefix = object.substr(0, kMaxName - suffix.size());
    while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '-')) prefix.pop_back();
    return prefix + suffix;
  }

  // Keeps what is remembered of events written small.
  void Forget(WallTime now) {
    if (written_.size() < kMostRemembered) return;
    std::erase_if(written_, [&](const auto& entry) { return now - entry.second.last >= kMergeWindow; });
    if (written_.size() >= kMostRemembered) written_.clear();
  }

  void Note(const Context& ctx, const QueuedEvent& event, const Status& written) {
    if (!written.ok()) {
      ctx.log.Debug("event not written", {{"object", event.key.name},
                                          {"reason", event.key.reason},
                                          {"code", CodeName(written.code())},
                                          {"error", written.error().message}});
    }
    size_t dropped = 0;
    {
      MutexLock lock(mu_);
      std::swap(dropped, dropped_);
    }
    if (dropped > 0) ctx.log.Warn("events dropped: too many at once", {{"count", dropped}});
  }

  const EventApi api_;
  const std::string component_;
  Clock& clock_;
  // Of the thread that runs.
  std::map<EventKey, Written> written_;
  std::int64_t number_ = 0;
  Mutex mu_;
  std::condition_variable_any changed_;
  EventQueue queue_ CAPI_GUARDED_BY(mu_){kMostQueued};
  size_t dropped_ CAPI_GUARDED_BY(mu_) = 0;
};

EventRecorder::EventRecorder(Client& client, std::string component, Clock& clock)
    : EventRecorder(ApiOf(client), std::move(component), clock) {}
EventRecorder::EventRecorder(EventApi api, std::string component, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(api), std::move(component), clock)) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::Record(const Object& about, std::string_view type, std::string_view reason,
                           std::string_view message) {
  impl_->Record(about, type, reason, message);
}
void EventRecorder::Run(const Context& ctx) { impl_->Run(ctx); }

}  // namespace capi::kube
