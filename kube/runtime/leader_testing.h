// For tests of the elector: a lease kept as the API server keeps it, and an elector whose delays pass at once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/cache/testing.h"
#include "kube/runtime/leader.h"
#include "kube/runtime/lease_record.h"

namespace capi::kube {

inline const LeaderOptions kOptions{.ns = "capi", .name = "lock", .identity = "me"};

// A lease kept as the API server keeps it, with versions. `before` is asked before each request, by its number from 1:
// an error is the answer, after `lease` may have been changed. Thread-compatible: read it after the elector has ended.
class FakeLease {
 public:
  explicit FakeLease(Clock& clock) : clock_(clock) {}

  LeaseApi Api() {
    return {.get = [this](const Context&) { return Get(); },
            .create = [this](const Context&, const Object& o) { return Create(o); },
            .update = [this](const Context&, const Object& o) { return Update(o); }};
  }
  // As another process would write it.
  void Write(LeaseRecord record) {
    Object written;
    record.WriteTo(written);
    Store(written);
  }
  LeaseRecord Record() const { return LeaseRecord::Of(*lease); }

  std::optional<Object> lease;
  std::vector<std::string> requests;
  std::vector<MonoTime> times;
  std::function<Status(size_t number)> before = [](size_t) { return Ok(); };

 private:
  Status Note(const char* request) {
    requests.push_back(request);
    times.push_back(clock_.Monotonic());
    return before(requests.size());
  }
  Result<Object> Get() {
    TRY(Note("GET"));
    if (!lease) return Error{Code::kNotFound, "no lease", {}};
    return *lease;
  }
  Result<Object> Create(const Object& object) {
    TRY(Note("POST"));
    if (lease) return Error{Code::kAlreadyExists, "lease", {}};
    return Store(object);
  }
  Result<Object> Update(const Object& object) {
    TRY(Note("PUT"));
    if (!lease) return Error{Code::kNotFound, "no lease", {}};
    if (object.resource_version() != lease->resource_version()) return Error{Code::kConflict, "changed", {}};
    return Store(object);
  }
  Object Store(Object object) {
    Ensure(object.json(), {"metadata", "resourceVersion"}) = std::to_string(++version_);
    lease = object;
    return object;
  }

  Clock& clock_;
  int version_ = 0;
};

inline LeaseRecord OfAnother(const std::string& renew_time, Seconds duration = Seconds(15)) {
  return {.holder = "other",
          .duration_seconds = duration.count(),
          .acquire_time = "2026-01-01T00:00:00.000000Z",
          .renew_time = renew_time,
          .transitions = 4};
}

// An elector whose delays pass at once; its end stops what runs. Thread-compatible.
struct Scenario {
  Scenario() {
    ctx.clock = &clock;
    ctx.stop = stop.get_token();
  }
  ~Scenario() { stop.request_stop(); }

  // Waits until the elector's token stops, then until nothing runs.
  void AwaitLoss(LeaderElector& elector) {
    Mutex mu;
    std::condition_variable_any cv;
    MutexLock lock(mu);
    cv.wait(mu, elector.lost(), [] { return false; });
  }

  JumpClock clock;
  FakeLease lease{clock};
  std::stop_source stop;
  Context ctx;
};

inline Error Fault(Code code) { return {code, "made by the test", {}}; }

}  // namespace capi::kube
