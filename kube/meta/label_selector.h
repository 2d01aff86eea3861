// metav1.LabelSelector and the string form "a=b,c in (d,e),!f".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace capi::kube {

// Immutable.
class LabelSelector {
 public:
  // From {matchLabels, matchExpressions}; {} selects everything, null is refused (whether a missing selector means
  // all or nothing is the caller's to say). kInvalidArgument names the field that is wrong.
  static Result<LabelSelector> FromJson(const Json& selector);
  static Result<LabelSelector> Parse(std::string_view text);

  bool Matches(const Json& labels) const;  // an object of strings; null is no labels
  std::string ToString() const;            // for the labelSelector query parameter
  bool empty() const { return requirements_.empty(); }

 private:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;  // sorted
  };
  class Parser;
  static Result<Requirement> RequirementFromJson(const Json& expression, const std::string& field);
  Status Add(Requirement requirement, const std::string& where);  // validates key, operator and values

  std::vector<Requirement> requirements_;  // sorted by key
};

}  // namespace capi::kube
