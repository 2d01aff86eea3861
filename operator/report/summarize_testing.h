// What tests of a status begin with.
#pragma once

#include <string>
#include <string_view>

#include "operator/report/summarize.h"

namespace capi::ops::testing {

inline const kube::Condition* Get(const api::ProviderStatus& status, std::string_view type) {
  return kube::FindCondition(status.conditions, type);
}

// "True"; "" where there is no such condition.
inline std::string StatusOf(const api::ProviderStatus& status, std::string_view type) {
  const auto* condition = Get(status, type);
  return condition == nullptr ? "" : condition->status;
}

// Of a pass that sent everything.
inline Done Applied() {
  Done done;
  done.applied = "digest";
  done.installed_version = "v1.12.0";
  done.contract = "v1beta2";
  done.release_digest = "sha256:1";
  done.rollout = api::HistoryEntry{"v1.12.0", "v1beta2", "sha256:1"};
  done.rollout->outcome = "RollingOut";
  done.rollout->inputs = "digest";
  done.fleet.emplace();
  return done;
}

}  // namespace capi::ops::testing
