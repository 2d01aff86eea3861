#include "kube/runtime/lease_record.h"

namespace capi::kube {

LeaseRecord LeaseRecord::Of(const Object& lease) {
  const Json& json = lease.json();
  return {.holder = GetString(json, {"spec", "holderIdentity"}),
          .duration_seconds = GetInt(json, {"spec", "leaseDurationSeconds"}),
          .acquire_time = GetString(json, {"spec", "acquireTime"}),
          .renew_time = GetString(json, {"spec", "renewTime"}),
          .transitions = GetInt(json, {"spec", "leaseTransitions"})};
}

void LeaseRecord::WriteTo(Object& lease) const {
  Json& spec = Ensure(lease.json(), {"spec"});
  if (!spec.is_object()) spec = Json::object();
  spec["holderIdentity"] = holder;
  spec["leaseDurationSeconds"] = duration_seconds;
  spec["acquireTime"] = acquire_time;
  spec["renewTime"] = renew_time;
  spec["leaseTransitions"] = transitions;
}

LeaseRecord Held(const LeaseRecord& seen, const std::string& identity, Seconds duration, WallTime now) {
  LeaseRecord out = seen;
  out.duration_seconds = duration.count();
  out.renew_time = FormatMicroTime(now);
  if (seen.holder == identity && !seen.acquire_time.empty()) return out;
  out.holder = identity;
  out.acquire_time = out.renew_time;
  ++out.transitions;
  return out;
}

// A duration of one second: the server takes no zero, and whoever sees the empty holder need not wait anyway.
LeaseRecord Released(const LeaseRecord& seen, WallTime now) {
  std::string time = FormatMicroTime(now);
  return {
      .holder = "", .duration_seconds = 1, .acquire_time = time, .renew_time = time, .transitions = seen.transitions};
}

}  // namespace capi::kube
