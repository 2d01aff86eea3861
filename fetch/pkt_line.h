// The lines in which git's protocol comes: four hexadecimal digits, and so many bytes, these four among them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::fetch {

// A value; of the text that it was taken off.
struct PktLine {
  enum class Kind { kText, kFlush, kDelimiter, kEnd };  // the latter are "0000", "0001" and "0002"
  Kind kind = Kind::kText;
  std::string_view text;  // with the line feed at its end, where it has one

  std::string_view words() const { return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text; }
};

// Takes the next line off `text`. kInvalidArgument for what is none, or is cut off.
Result<PktLine> TakePktLine(std::string_view& text);

inline constexpr std::string_view kPktFlush = "0000", kPktDelimiter = "0001";
std::string AsPktLine(std::string_view text);

}  // namespace capi::fetch
