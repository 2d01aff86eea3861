#include "cli/frame/live_lines.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace capi::cli {
namespace {

// A line that is broken in two couldn't be taken away any more; so it is cut, and what may take no column or two, or
// steer the terminal, is replaced.
std::string Fitted(const std::string& line, size_t columns) {
  std::string out;
  for (char c : line) {
    bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // of a character that was replaced
    if (continues) continue;
    if (out.size() + 1 >= columns) break;
    out += c >= ' ' && c < '\x7f' ? c : '?';
  }
  return out;
}

}  // namespace

void LiveLines::Draw(const std::vector<std::string>& lines) {
  if (columns_ == 0) return;
  std::vector<std::string> fitted;
  for (const std::string& line : lines) fitted.push_back(Fitted(line, columns_));
  DrawFitted(std::move(fitted));
}

void LiveLines::DrawFitted(std::vector<std::string> lines) {
  if (columns_ == 0 || lines == drawn_) return;
  // ECMA-48: cursor up, erase to the end of the display. From the first column: what is typed, as Ctrl-C, is shown and
  // moves the cursor.
  if (!drawn_.empty()) out_ << fmt::format("\r\x1b[{}A\x1b[J", drawn_.size());
  for (const std::string& line : lines) out_ << line << '\n';
  out_ << std::flush;
  drawn_ = std::move(lines);
}

TerminalSize SizeOfTerminal(int descriptor) {
  if (isatty(descriptor) != 1) return {};
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) size = {};
  return {size.ws_col == 0 ? 80 : size.ws_col, size.ws_row == 0 ? 24 : size.ws_row};
}

}  // namespace capi::cli
