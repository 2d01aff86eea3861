// The lines that tie the rows of a tree together. Pure.
#pragma once

#include <string>

namespace capi::cli::describe {

// What stands before the row of a child of the row with `prefix`.
std::string ChildPrefix(const std::string& prefix, bool last);

// Before a further line of the same row: the lines go on, down to its children where it has some.
std::string FurtherPrefix(const std::string& prefix, bool has_children);

// Before the row of a condition: indented further than children are, which come after it.
std::string ConditionPrefix(const std::string& prefix, bool has_children, bool last);
// Before a further line of such a row.
std::string FurtherConditionPrefix(const std::string& prefix);

}  // namespace capi::cli::describe
