// Lines at the end of a terminal that change while a command waits.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace capi::cli {

// Draws lines below what was said so far, and draws them anew where they are when they change. Nothing else may be
// written to `out` meanwhile. Draws nothing where `columns` is 0: that is no terminal. Thread-compatible.
class LiveLines {
 public:
  LiveLines(std::ostream& out, int columns) : out_(out), columns_(columns) {}
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;
  ~LiveLines() { Draw({}); }  // takes them away

  void Draw(const std::vector<std::string>& lines);

 private:
  std::ostream& out_;
  size_t columns_;
  std::vector<std::string> drawn_;
};

// The width of the terminal that a descriptor is; 0 where it is none. One whose width isn't known has 80 columns.
int TerminalColumns(int descriptor);

}  // namespace capi::cli
