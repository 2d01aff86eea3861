// metav1.Condition, and a list of them kept in order.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace capi::kube {

struct Condition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::int64_t observed_generation = 0;
  std::string last_transition_time;  // RFC 3339

  bool operator==(const Condition&) const = default;
};

std::vector<Condition> ConditionsFromJson(const Json& list);  // malformed entries are skipped
Json ConditionsToJson(const std::vector<Condition>& conditions);
const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type);
bool IsTrue(const std::vector<Condition>& conditions, std::string_view type);

// Carries lastTransitionTime over from `old` where the status is the same, else sets `now`. Ready comes first, then by
// type.
void SettleConditions(std::vector<Condition>& conditions, const std::vector<Condition>& old, WallTime now);

}  // namespace capi::kube
