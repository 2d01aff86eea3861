// What `describe providers` prints: once, or again with each change (--watch).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/describe/providers/providers_text.h"
#include "cli/frame/live_lines.h"
#include "cli/frame/structured.h"

namespace capi::cli::describe {

// A value.
struct PictureOptions {
  OutputFormat format = OutputFormat::kTable;
  bool colours = false;
  std::function<TerminalSize()> window = nullptr;  // the terminal that the output is, as it is now; null for none
};

// The whole, once. `columns`: as in ProvidersTextOptions.
std::string ProvidersOutput(const ProvidersTree& tree, const PictureOptions& options, size_t columns, WallTime now);

// On a terminal a table is drawn anew in its place; elsewhere, and as JSON, YAML or names, each change is printed below
// what was printed before. Thread-compatible.
class ProvidersPicture {
 public:
  // `world` must outlive it.
  ProvidersPicture(World& world, const PictureOptions& options);

  // Shows it; nothing where it is as it was shown last, and can't be seen to be older. `words`: lines of Notes, of what
  // couldn't be read.
  void Show(ProvidersTree tree, std::string words, WallTime now);
  // The cluster couldn't be asked for this reason: what is shown is as it was, until the next Show.
  void Lose(const Error& error, WallTime now);
  // The last picture stays on the terminal, whole.
  void End(WallTime now);
  // Whoever read the output has gone.
  bool IsClosed() const { return !world_.out; }

 private:
  bool IsLive() const { return live_.has_value(); }
  void Draw(WallTime now);
  std::vector<std::string> Warnings(size_t columns, size_t most) const;
  std::vector<std::string> Body(WallTime now, size_t columns, bool ill_alone) const;
  void Print(WallTime now);
  std::string Facts() const;

  World& world_;
  const PictureOptions options_;
  std::optional<LiveLines> live_;
  std::optional<ProvidersTree> tree_;   // shown last
  std::string words_;                   // beside it
  std::optional<std::string> printed_;  // its facts, where it was printed
  std::string lost_;                    // why the cluster can't be asked, in words; "" where it can
};

}  // namespace capi::cli::describe
