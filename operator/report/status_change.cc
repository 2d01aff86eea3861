#include "operator/report/status_change.h"

#include "api/reasons.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/pause.h"

namespace capi::ops {

bool IsReady(const api::ProviderStatus& status) { return kube::IsTrue(status.conditions, api::condition::kReady); }

namespace {

bool IsRolledBack(const api::ProviderStatus& status) {
  return !status.history.empty() && status.history.front().outcome == api::outcome::kRolledBack;
}

}  // namespace

bool GoesOn(const api::ProviderStatus& was, const api::ProviderStatus& is, const Done& done) {
  // It waits for what its own status says now: that it is paused (C3), that a contract can't be told (C5), or that
  // objects are to be migrated (U3).
  if (was.desired_version != is.desired_version || SaysPaused(was) != SaysPaused(is) ||
      SaysUnmigrated(was) != SaysUnmigrated(is)) {
    return true;
  }
  // Of what a policy had gone to: what ran before is what is to run now (U13).
  if (!IsRolledBack(was) && IsRolledBack(is) && !is.history.front().instead_of.empty()) return true;
  if (done.hold) return false;
  if (done.again) return true;
  // Everything new became healthy in this pass, and something is left over. Before that, the events of what isn't
  // healthy bring the next pass.
  if (!done.fleet || !done.fleet->ready()) return false;
  return !done.fleet->unmigrated.empty() || (done.inventory && done.inventory->has_stale());
}

bool OnlyWordsDiffer(const api::ProviderStatus& was, const api::ProviderStatus& is) {
  if (was.conditions.size() != is.conditions.size()) return false;
  for (size_t i = 0; i < is.conditions.size(); ++i) {
    const kube::Condition &a = was.conditions[i], &b = is.conditions[i];
    if (a.type != b.type || a.status != b.status || a.reason != b.reason) return false;
    if (a.observed_generation != b.observed_generation) return false;
  }
  api::ProviderStatus same = is;
  same.conditions = was.conditions;
  return same == was;
}

bool MayWait(const api::ProviderStatus& was, const api::ProviderStatus& is, const Done& done) {
  bool tells_time = done.hold && done.hold->next_try;
  return was != is && !tells_time && OnlyWordsDiffer(was, is);
}

}  // namespace capi::ops
