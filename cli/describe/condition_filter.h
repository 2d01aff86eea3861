// --show-conditions: of which objects a tree shows the conditions, and which of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::cli::describe {

enum class ShowConditions { kNone, kAll, kNotable };

// What is chosen, part by part; the first that is about an object counts. A value.
class ConditionFilter {
 public:
  // "all", KIND or KIND/NAME, several of them with commas between, in any case; "+" behind one leaves out conditions
  // that are as they should be and say nothing. kInvalidArgument for white space, and for what is none of these.
  static Result<ConditionFilter> Parse(std::string_view text);

  ShowConditions For(std::string_view kind, std::string_view name) const;

 private:
  struct Part {
    std::string kind, name;  // in lower case; "" for any
    bool named = false;
    ShowConditions shown = ShowConditions::kAll;
  };
  std::vector<Part> parts_;
};

}  // namespace capi::cli::describe
