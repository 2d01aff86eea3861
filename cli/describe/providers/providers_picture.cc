#include "cli/describe/providers/providers_picture.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/describe/grid.h"
#include "cli/describe/text.h"
#include "cli/frame/printable.h"

namespace capi::cli::describe {
namespace {

constexpr char kWatching[] = "Ctrl-C ends";

bool IsTable(OutputFormat format) { return format == OutputFormat::kTable || format == OutputFormat::kWide; }

ProvidersTextOptions TextOptions(const PictureOptions& options, size_t columns, WallTime now) {
  return {.wide = options.format == OutputFormat::kWide, .colours = options.colours, .columns = columns, .now = now};
}

// A warning says why at its end.
void AddWrapped(const std::string& text, size_t columns, const Paint& paint, std::vector<std::string>& out) {
  for (const std::string& line : WrapMessage(text, columns)) out.push_back(paint(Colour::kYellow, line));
}

}  // namespace

std::string ProvidersOutput(const ProvidersTree& tree, const PictureOptions& options, size_t columns, WallTime now) {
  if (IsTable(options.format)) return ProvidersText(tree, TextOptions(options, columns, now));
  return Format(options.format, {.table = "", .names = ProvidersNames(tree), .facts = ProvidersJson(tree)});
}

ProvidersPicture::ProvidersPicture(World& world, const PictureOptions& options) : world_(world), options_(options) {
  const bool can_draw = options.window && world.getenv("TERM").value_or("") != "dumb";
  if (can_draw && IsTable(options.format)) live_.emplace(world.out, options.window().columns);
}

void ProvidersPicture::Show(ProvidersTree tree, std::string words, WallTime now) {
  const bool told = words == words_;
  tree_ = std::move(tree);
  words_ = std::move(words);
  if (IsLive()) {
    lost_.clear();
    return Draw(now);
  }
  Notes notes(world_.err);
  if (!lost_.empty()) notes.Say(0, "The cluster answers again");
  lost_.clear();
  if (!told) notes.Pass(words_);
  world_.err.flush();
  Print(now);
}

void ProvidersPicture::Lose(const Error& error, WallTime now) {
  if (!lost_.empty()) return;  // it was told
  lost_ = fmt::format("the cluster can't be asked since {}, which is tried again: {}", FormatTime(now),
                      PrintableLine(error.message));
  if (IsLive()) return Draw(now);
  Notes(world_.err).Warn(lost_);
  world_.err.flush();
}

// Of names that they are others, of a table and the like that a fact is another one: an age alone is no change.
std::string ProvidersPicture::Facts() const {
  if (options_.format == OutputFormat::kName) return Join(ProvidersNames(*tree_), "\n");
  return ToJsonText(ProvidersJson(*tree_)) + (tree_->operators_known ? "" : "-") + (tree_->inventory_known ? "" : "-");
}

void ProvidersPicture::Print(WallTime now) {
  std::string facts = Facts();
  const bool first = !printed_;
  if (facts == printed_) return;
  printed_ = std::move(facts);
  if (IsTable(options_.format)) world_.out << fmt::format("{}--- {}\n", first ? "" : "\n", FormatTime(now));
  if (options_.format == OutputFormat::kYaml && !first) world_.out << "---\n";
  if (options_.format == OutputFormat::kName && !first) world_.out << "\n";
  const size_t columns = options_.window ? static_cast<size_t>(options_.window().columns) : 0;
  world_.out << ProvidersOutput(*tree_, options_, columns, now) << std::flush;
}

std::vector<std::string> ProvidersPicture::Body(WallTime now, size_t columns, bool ill_alone) const {
  ProvidersTextOptions options = TextOptions(options_, columns, now);
  options.ill_alone = ill_alone;
  std::string text = ProvidersText(*tree_, options);
  text.pop_back();  // the last line's break
  return Split(text, '\n');
}

// An outage first. All of them are printed at the end.
std::vector<std::string> ProvidersPicture::Warnings(size_t columns, size_t most) const {
  std::vector<std::string> lines;
  if (!lost_.empty()) AddWrapped("Warning: " + lost_, columns, Paint(options_.colours), lines);
  for (const std::string& line : Split(words_, '\n')) {
    if (!line.empty()) AddWrapped(PrintableLine(line), columns, Paint(false), lines);
  }
  if (lines.size() <= most) return lines;
  const size_t more = lines.size() - most + 1;
  lines.resize(most);
  if (most > 0) lines.back() = fmt::format("and {} lines of warnings more, which are printed at the end", more);
  return lines;
}

// In the window: where it is too low, workloads that are as they should be have no row, and then the last rows.
void ProvidersPicture::Draw(WallTime now) {
  const TerminalSize size = options_.window();
  const size_t columns = size.columns > 1 ? static_cast<size_t>(size.columns - 1) : 1;
  const Paint paint(options_.colours);
  const size_t rows = static_cast<size_t>(size.rows);
  std::vector<std::string> last = {""};
  for (std::string& line : Warnings(columns, rows / 3)) last.push_back(std::move(line));
  const size_t taken = last.size() + 2;  // with the one below, and the cursor's
  const size_t room = rows > taken ? rows - taken : 1;
  std::vector<std::string> lines = Body(now, columns, false);
  const bool ill_alone = lines.size() > room;
  if (ill_alone) lines = Body(now, columns, true);
  last.push_back(paint(Colour::kGray, fmt::format("{}  {}{}", FormatTime(now), kWatching,
                                                  ill_alone ? "; healthy workloads have no room" : "")));
  if (lines.size() > room) {
    const size_t more = lines.size() - (room - 1);
    lines.resize(room - 1);
    lines.push_back(paint(Colour::kYellow, fmt::format("and {} lines more: a larger window shows them", more)));
  }
  lines.insert(lines.end(), last.begin(), last.end());
  for (std::string& line : lines) line = CutToWidth(line, columns);
  live_->DrawFitted(std::move(lines));
}

void ProvidersPicture::End(WallTime now) {
  if (!IsLive() || !tree_) return;
  live_->DrawFitted({});
  world_.out << ProvidersOutput(*tree_, options_, static_cast<size_t>(options_.window().columns), now) << std::flush;
  world_.err << words_;
  if (!lost_.empty()) world_.err << "Warning: " << lost_ << "\n";
  world_.err << std::flush;
}

}  // namespace capi::cli::describe
