// The difference of two texts, as `diff -u` prints it.
#pragma once

#include <string>
#include <string_view>

namespace capi {

// "--- name", "+++ name" and the hunks, with three lines around each; "" for equal texts. As few lines as can be,
// except where that would be more than 8,000: all between the first and the last of them is shown as replaced.
std::string UnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                        std::string_view after_name);

}  // namespace capi
