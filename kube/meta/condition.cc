#include "kube/meta/condition.h"

#include <algorithm>

namespace capi::kube {

std::vector<Condition> ConditionsFromJson(const Json& list) {
  std::vector<Condition> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) {
    Condition c{
        .type = GetString(item, {"type"}),
        .status = GetString(item, {"status"}),
        .reason = GetString(item, {"reason"}),
        .message = GetString(item, {"message"}),
        .observed_generation = GetInt(item, {"observedGeneration"}),
        .last_transition_time = GetString(item, {"lastTransitionTime"}),
    };
    if (!c.type.empty()) out.push_back(std::move(c));
  }
  return out;
}

Json ConditionsToJson(const std::vector<Condition>& conditions) {
  Json out = Json::array();
  for (const Condition& c : conditions) {
    Json item = {{"type", c.type},
                 {"status", c.status},
                 {"reason", c.reason},
                 {"message", c.message},
                 {"lastTransitionTime", c.last_transition_time}};
    if (c.observed_generation != 0) item["observedGeneration"] = c.observed_generation;
    out.push_back(std::move(item));
  }
  return out;
}

const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  auto it = std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  return it == conditions.end() ? nullptr : &*it;
}

bool IsTrue(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* found = FindCondition(conditions, type);
  return found != nullptr && found->status == "True";
}

void SettleConditions(std::vector<Condition>& conditions, const std::vector<Condition>& old, WallTime now) {
  for (Condition& c : conditions) {
    const Condition* before = FindCondition(old, c.type);
    bool same = before != nullptr && before->status == c.status && !before->last_transition_time.empty();
    c.last_transition_time = same ? before->last_transition_time : FormatTime(now);
  }
  std::stable_sort(conditions.begin(), conditions.end(), [](const Condition& a, const Condition& b) {
    bool a_ready = a.type == "Ready", b_ready = b.type == "Ready";
    return a_ready != b_ready ? a_ready : a.type < b.type;
  });
}

}  // namespace capi::kube
