#include "cli/frame/table.h"

#include <algorithm>

#include "cli/frame/printable.h"

namespace capi::cli {
namespace {

// In characters: what follows the first byte of one isn't counted.
size_t Width(const std::string& cell) {
  return static_cast<size_t>(std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string FormatTable(std::vector<std::vector<std::string>> rows, size_t gap, size_t min_width) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = Printable(cell);
  }
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::max(Width(row[i]) + gap, min_width));
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - Width(row[i]), ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace capi::cli
