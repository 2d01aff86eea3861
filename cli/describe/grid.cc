#include "cli/describe/grid.h"

#include <fmt/format.h>

#include <algorithm>

namespace capi::cli::describe {
namespace {

struct Sequence {
  std::string_view on, off;
};

Sequence SequenceOf(Colour colour) {
  switch (colour) {
    case Colour::kGray: return {"90", "0"};
    case Colour::kRed: return {"31", "0"};
    case Colour::kGreen: return {"32", "0"};
    case Colour::kYellow: return {"33", "0"};
    case Colour::kWhite: return {"37", "0"};
    case Colour::kCyan: return {"36", "0"};
    case Colour::kBold: return {"1", "22"};
    case Colour::kBoldWhite: return {"37;1", "0;22"};
  }
  return {};
}

struct Range {
  char32_t first, last;
};

// What takes two columns: East Asian wide characters and emoji.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440},
    {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A},
    {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC},
    {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD}};
// What takes none: marks that combine with the character before them, and joiners.
constexpr Range kNone[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
                           {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x2064},
                           {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

template <size_t N>
bool IsIn(char32_t c, const Range (&ranges)[N]) {
  auto next = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                               [](char32_t left, const Range& right) { return left < right.first; });
  return next != std::begin(ranges) && c <= std::prev(next)->last;
}

// The character at the front of a text in UTF-8, which is taken away.
char32_t TakeCharacter(std::string_view& text) {
  auto first = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (first < 0xC0) return first;
  char32_t out = first & (first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 0x07);
  for (; !text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80; text.remove_prefix(1))
    out = out << 6 | (static_cast<unsigned char>(text.front()) & 0x3F);
  return out;
}

}  // namespace

std::string Paint::operator()(Colour colour, std::string_view text) const {
  Sequence sequence = SequenceOf(colour);
  return on_ ? fmt::format("\x1b[{}m{}\x1b[{}m", sequence.on, text, sequence.off) : std::string(text);
}

size_t DisplayWidth(std::string_view text) {
  size_t out = 0;
  while (!text.empty()) {
    if (text.starts_with("\x1b[")) {
      text.remove_prefix(std::min(text.find('m'), text.size() - 1) + 1);
      continue;
    }
    char32_t c = TakeCharacter(text);
    if (c < ' ' || c == 0x7F || IsIn(c, kNone)) continue;
    out += IsIn(c, kWide) ? 2 : 1;
  }
  return out;
}

std::string CutToWidth(std::string_view line, size_t columns) {
  std::string out;
  size_t width = 0;
  bool coloured = false;
  while (!line.empty()) {
    std::string_view rest = line;
    if (rest.starts_with("\x1b[")) {
      rest.remove_prefix(std::min(rest.find('m'), rest.size() - 1) + 1);
      coloured = true;
    } else {
      TakeCharacter(rest);
      width += DisplayWidth(line.substr(0, line.size() - rest.size()));
      if (width > columns) return out + (coloured ? "\x1b[0m" : "");
    }
    out += line.substr(0, line.size() - rest.size());
    line = rest;
  }
  return out;
}

std::string FormatGrid(const std::vector<std::vector<std::string>>& rows, size_t gap) {
  std::vector<std::vector<size_t>> cells;
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    std::vector<size_t>& line = cells.emplace_back();
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) {
      line.push_back(DisplayWidth(row[i]));
      widths[i] = std::max(widths[i], line[i] + (cells.size() == 1 ? 1 : gap));
    }
  }
  std::string out;
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < rows[row].size(); ++i) {
      out += rows[row][i];
      out.append(widths[i] - cells[row][i], ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace capi::cli::describe
