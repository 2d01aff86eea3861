// A table with colours: cells may hold escape sequences and characters of any width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capi::cli::describe {

enum class Colour { kGray, kRed, kGreen, kYellow, kWhite, kCyan, kBold, kBoldWhite };

// Colours a text, or leaves it as it is. A value.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string operator()(Colour colour, std::string_view text) const;

 private:
  bool on_;
};

// How many columns of a terminal a text takes.
size_t DisplayWidth(std::string_view text);

// As much of a line as takes `columns` at most; its colours end with it.
std::string CutToWidth(std::string_view line, size_t columns);

// Lines of columns, the first row being the header: each column as wide as its widest cell with `gap` spaces behind it,
// or the header's with one. The last column too.
std::string FormatGrid(const std::vector<std::vector<std::string>>& rows, size_t gap);

}  // namespace capi::cli::describe
