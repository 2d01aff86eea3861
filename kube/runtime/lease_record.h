// What a Lease says about who leads, field by field as client-go writes it.
#pragma once

#include <string>

#include "base/clock.h"
#include "kube/meta/object.h"

namespace capi::kube {

// A value.
struct LeaseRecord {
  std::string holder;  // "" for nobody
  std::int64_t duration_seconds = 0;
  std::string acquire_time, renew_time;  // MicroTime
  std::int64_t transitions = 0;

  static LeaseRecord Of(const Object& lease);
  void WriteTo(Object& lease) const;
  bool operator==(const LeaseRecord&) const = default;
};

// The record of `identity` that takes or renews the lease that says `seen`.
LeaseRecord Held(const LeaseRecord& seen, const std::string& identity, Seconds duration, WallTime now);
// The record that gives the lease back.
LeaseRecord Released(const LeaseRecord& seen, WallTime now);

}  // namespace capi::kube
