#include "fetch/github/git_refs.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr size_t kLengthDigits = 4;  // with which each line begins; they count themselves
constexpr std::string_view kTags = "refs/tags/";
constexpr std::string_view kPeeled = "^{}";  // behind the name: what an annotated tag points to

Error NoRefs(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("the answer is no list of a git server: {}", why), {}};
}

// Takes the next line off `text`; nullopt for the end of a section.
Result<std::optional<std::string_view>> TakeLine(std::string_view& text) {
  size_t length = 0;
  const char* digits = text.data();
  if (text.size() < kLengthDigits) return NoRefs("it is cut off");
  if (auto [end, failure] = std::from_chars(digits, digits + kLengthDigits, length, 16);
      failure != std::errc() || end != digits + kLengthDigits) {
    return NoRefs("a line has no length");
  }
  if (length == 0) {
    text.remove_prefix(kLengthDigits);
    return std::optional<std::string_view>();
  }
  if (length < kLengthDigits || length > text.size()) return NoRefs("it is cut off");
  std::string_view line = text.substr(kLengthDigits, length - kLengthDigits);
  text.remove_prefix(length);
  if (line.ends_with('\n')) line.remove_suffix(1);
  return std::optional(line);
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
