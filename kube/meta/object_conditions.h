// What an object's status says of itself. Apart from condition.h, which needs no objects.
#pragma once

#include <vector>

#include "kube/meta/condition.h"
#include "kube/meta/object.h"

namespace capi::kube {

// Of status.conditions; malformed entries are skipped.
inline std::vector<Condition> Conditions(const Object& object) {
  const Json* list = Find(object.json(), {"status", "conditions"});
  return list == nullptr ? std::vector<Condition>() : ConditionsFromJson(*list);
}

}  // namespace capi::kube
