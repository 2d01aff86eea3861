// Tables as commands print them.
#pragma once

#include <string>
#include <vector>

namespace capi::cli {

// Lines of columns, each as wide as its longest cell and at least `min_width`, with `gap` spaces behind it. The last
// column has none behind it. Control characters are replaced.
std::string FormatTable(std::vector<std::vector<std::string>> rows, size_t gap, size_t min_width = 0);

}  // namespace capi::cli
