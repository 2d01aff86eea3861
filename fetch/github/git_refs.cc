#include "fetch/github/git_refs.h"

#include <fmt/format.h>

#include <optional>

#include "base/strings.h"
#include "fetch/pkt_line.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kTags = "refs/tags/";
constexpr std::string_view kPeeled = "^{}";  // behind the name: what an annotated tag points to

Error NoRefs(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("the answer is no list of a git server: {}", why), {}};
}

// Takes the next line off `text`; nullopt for the end of a section.
Result<std::optional<std::string_view>> TakeLine(std::string_view& text) {
  auto line = TakePktLine(text);
  if (!line.ok()) return NoRefs(line.error().message);
  if (line->kind == PktLine::Kind::kFlush) return std::optional<std::string_view>();
  if (line->kind != PktLine::Kind::kText) return NoRefs("it is cut off");
  return std::optional(line->words());
}

// The name in "{digest} {name}", behind which the first line has what the server can do.
Result<std::string_view> NameIn(std::string_view line) {
  if (line.starts_with("ERR ")) return NoRefs(Shorten(line.substr(4), 200));
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || space < 40) return NoRefs("a line names nothing");
  return line.substr(space + 1, line.find('\0') - (space + 1));
}

}  // namespace

Result<std::vector<std::string>> ReadTags(std::string_view answer) {
  const auto service = TRY(TakeLine(answer));
  if (service != "# service=git-upload-pack") return NoRefs("it doesn't begin as one");
  if (TRY(TakeLine(answer))) return NoRefs("it doesn't begin as one");
  std::vector<std::string> tags;
  while (true) {
    const std::optional<std::string_view> line = TRY(TakeLine(answer));
    if (!line) break;
    const std::string_view name = TRY(NameIn(*line));
    if (name.starts_with(kTags) && !name.ends_with(kPeeled)) tags.emplace_back(name.substr(kTags.size()));
  }
  if (!answer.empty()) return NoRefs("it goes on behind its end");
  return tags;
}

}  // namespace capi::fetch
