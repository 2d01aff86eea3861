// For tests: takes what is ready in a work queue, without waiting for what never comes, and records what it tells.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "kube/runtime/work_queue.h"

namespace capi::kube {

inline constexpr unsigned kSeed = 7;
inline const BackoffOptions kNoJitter{.base = Millis(100), .max = Millis(1000), .jitter = 0};

inline constexpr Seconds kLong(30);  // a test that waits longer has failed
inline constexpr const char* kNothing = "nothing came";

// Get on another thread, which Wait ends: a key that doesn't come fails the test and doesn't hang it.
// Thread-compatible.
struct Getter {
  explicit Getter(WorkQueue& queue)
      : key(std::async(std::launch::async, [this, &queue] { return queue.Get(stop.get_token()); })) {}
  std::optional<std::string> Wait() {
    if (key.wait_for(kLong) != std::future_status::ready) {
      ADD_FAILURE() << kNothing;
      stop.request_stop();
    }
    return key.get();
  }
  std::stop_source stop;
  std::future<std::optional<std::string>> key;
};

inline std::string Take(WorkQueue& queue) { return Getter(queue).Wait().value_or(kNothing); }

// Takes and finishes everything that is ready now.
inline std::vector<std::string> Drain(WorkQueue& queue) {
  std::vector<std::string> out;
  while (queue.size() > 0 && (out.empty() || out.back() != kNothing)) {
    out.push_back(Take(queue));
    queue.Done(out.back());
  }
  return out;
}

// What a queue tells, in its order. Thread-compatible: read it while nobody uses the queue.
struct RecordedEvents : WorkQueueEvents {
  void OnSize(Priority priority, size_t size) override { lines.push_back(NameOf(priority) + std::to_string(size)); }
  void OnAdd() override { lines.emplace_back("add"); }
  void OnAddAfter() override { lines.emplace_back("add after"); }
  void OnGet(Priority priority, MonoTime::duration waited) override {
    lines.push_back(NameOf(priority) + "waited " + InSeconds(waited));
  }
  void OnDone(MonoTime::duration worked) override { lines.push_back("worked " + InSeconds(worked)); }
  static std::string NameOf(Priority priority) {
    return priority == Priority::kNow ? "now: " : priority == Priority::kNormal ? "normal: " : "later: ";
  }
  static std::string InSeconds(MonoTime::duration time) {
    return std::to_string(std::chrono::duration_cast<Seconds>(time).count());
  }
  std::vector<std::string> lines;
};

}  // namespace capi::kube
