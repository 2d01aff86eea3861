// Lines at the end of a terminal that change while a command waits.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace capi::cli {

// 0: it is no terminal. A value.
struct TerminalSize {
  int columns = 0, rows = 0;
};

// Draws lines below what was said so far, and draws them anew where they are when they change. Nothing else may be
// written to `out` meanwhile. Draws nothing where `columns` is 0: that is no terminal. Thread-compatible.
class LiveLines {
 public:
  LiveLines(std::ostream& out, int columns) : out_(out), columns_(columns) {}
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;
  ~LiveLines() { Draw({}); }  // takes them away

  // Cuts them, and replaces what isn't ASCII or would steer the terminal.
  void Draw(const std::vector<std::string>& lines);
  // The same of lines that their maker has made fit: each takes fewer columns than there are, and steers nothing but
  // colours.
  void DrawFitted(std::vector<std::string> lines);

 private:
  std::ostream& out_;
  size_t columns_;
  std::vector<std::string> drawn_;
};

// The terminal that a descriptor is. One whose size isn't known has 80 columns and 24 rows.
TerminalSize SizeOfTerminal(int descriptor);

}  // namespace capi::cli
