#include "templating/envsubst/glob.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "templating/envsubst/unicode.h"

namespace capi::templating {
namespace {

struct Item {
  enum class Kind { kByte, kAnyRune, kAnyRun, kClass } kind = Kind::kByte;
  char byte = 0;
  bool negated = false;
  std::vector<std::pair<char32_t, char32_t>> ranges;

  bool MatchesRune(char32_t rune) const {
    if (kind == Kind::kAnyRune) return true;
    bool in = std::any_of(ranges.begin(), ranges.end(),
                          [&](const auto& range) { return range.first <= rune && rune <= range.second; });
    return in != negated;
  }
};

using Pattern = std::vector<Item>;

// One end of a range within [...]; moves `pattern` behind it. Something has to follow it.
std::optional<char32_t> ClassEnd(std::string_view& pattern) {
  if (pattern.empty() || pattern[0] == '-' || pattern[0] == ']') return std::nullopt;
  if (pattern[0] == '\\') pattern.remove_prefix(1);
  if (pattern.empty()) return std::nullopt;
  Rune rune = DecodeRune(pattern);
  pattern.remove_prefix(rune.size);
  if (!rune.valid || pattern.empty()) return std::nullopt;
  return rune.value;
}

// `pattern` begins behind the '['.
std::optional<Item> ParseClass(std::string_view& pattern) {
  Item item{.kind = Item::Kind::kClass, .byte = 0, .negated = false, .ranges = {}};
  if (!pattern.empty() && pattern[0] == '^') {
    item.negated = true;
    pattern.remove_prefix(1);
  }
  while (item.ranges.empty() || pattern.empty() || pattern[0] != ']') {
    auto low = ClassEnd(pattern);
    if (!low) return std::nullopt;
    auto high = low;
    if (pattern[0] == '-') {
      pattern.remove_prefix(1);
      high = ClassEnd(pattern);
      if (!high) return std::nullopt;
    }
    item.ranges.emplace_back(*low, *high);
  }
  pattern.remove_prefix(1);
  return item;
}

std::optional<Pattern> ParsePattern(std::string_view pattern) {
  Pattern out;
  while (!pattern.empty()) {
    char c = pattern[0];
    pattern.remove_prefix(1);
    if (c == '*') {
      if (out.empty() || out.back().kind != Item::Kind::kAnyRun) out.push_back({.kind = Item::Kind::kAnyRun});
    } else if (c == '?') {
      out.push_back({.kind = Item::Kind::kAnyRune});
    } else if (c == '[') {
      auto item = ParseClass(pattern);
      if (!item) return std::nullopt;
      out.push_back(std::move(*item));
    } else {
      if (c == '\\') {
        if (pattern.empty()) return std::nullopt;
        c = pattern[0];
        pattern.remove_prefix(1);
      }
      out.push_back({.kind = Item::Kind::kByte, .byte = c});
    }
  }
  return out;
}

// Which items may come next, at one position of the text. [pattern.size()] is "all matched".
using States = std::vector<bool>;

// All states of a text read so far, for the current position and the three after it (a character has up to four bytes).
class Matcher {
 public:
  Matcher(const Pattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {
    for (States& states : window_) states.assign(pattern.size() + 1, false);
    Enter(At(0), 0);
  }

  // Steps over the byte at `position`: afterwards the states at `position` + 1 are complete.
  void Advance(size_t position) {
    Step(At(position), position, text_.size());
    Clear(At(position));
  }

  // Does the pattern match text[0, end)? The states at `end` are complete. A character that `end` cuts reads as single
  // bytes, so those of the last three positions are run again with the text ending here.
  bool MatchesAt(size_t end) {
    if (At(end)[pattern_.size()]) return true;
    for (size_t from = end > 3 ? end - 3 : 0; from < end; ++from) {
      if (from + DecodeRune(text_.substr(from)).size > end && CutMatch(from, end)) return true;
    }
    return false;
  }

  // Keeps what MatchesAt needs of a position that Advance is about to leave.
  void Remember(size_t position) { recent_[position % 4] = At(position); }

 private:
  States& At(size_t position) { return window_[position % 5]; }
  static void Clear(States& states) { std::fill(states.begin(), states.end(), false); }

  // '*' may match nothing.
  void Enter(States& states, size_t item) {
    while (!states[item]) {
      states[item] = true;
      if (item >= pattern_.size() || pattern_[item].kind != Item::Kind::kAnyRun) return;
      ++item;
    }
  }

  void Step(const States& states, size_t position, size_t end) {
    Rune rune = DecodeRune(text_.substr(position, end - position));
    for (size_t i = 0; i < pattern_.size(); ++i) {
      if (!states[i]) continue;
      const Item& item = pattern_[i];
      switch (item.kind) {
        case Item::Kind::kByte:
          if (item.byte == text_[position]) Enter(At(position + 1), i + 1);
          break;
        case Item::Kind::kAnyRun: Enter(At(position + 1), i); break;
        default:
          if (item.MatchesRune(rune.value)) Enter(At(position + rune.size), i + 1);
      }
    }
  }

  // From the states at `from` (within the last three bytes) to the end, on a copy.
  bool CutMatch(size_t from, size_t end) {
    Matcher copy(pattern_, text_.substr(0, end));
    for (States& states : copy.window_) Clear(states);
    copy.At(from) = recent_[from % 4];
    for (size_t p = from; p < end; ++p) {
      copy.Step(copy.At(p), p, end);
    }
    return copy.At(end)[pattern_.size()];
  }

  const Pattern& pattern_;
  std::string_view text_;
  States window_[5];
  States recent_[4];
};

// Length of the prefix to cut; 0 for none.
size_t MatchedPrefix(std::string_view text, std::string_view glob, TrimLength length) {
  auto pattern = ParsePattern(glob);
  if (!pattern || pattern->empty()) return 0;
  Matcher matcher(*pattern, text);
  size_t found = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    matcher.Remember(i);
    matcher.Advance(i);
    if (!matcher.MatchesAt(i + 1)) continue;
    found = i + 1;
    if (length == TrimLength::kShortest) break;
  }
  return found;
}

std::string Reverse(std::string_view text) {
  std::vector<char32_t> runes;
  while (!text.empty()) {
    Rune rune = DecodeRune(text);
    runes.push_back(rune.value);
    text.remove_prefix(rune.size);
  }
  std::string out;
  for (auto it = runes.rbegin(); it != runes.rend(); ++it) AppendRune(out, *it);
  return out;
}

}  // namespace

bool GlobMatches(std::string_view text, std::string_view glob) {
  auto pattern = ParsePattern(glob);
  if (!pattern) return false;
  Matcher matcher(*pattern, text);
  for (size_t i = 0; i < text.size(); ++i) {
    matcher.Remember(i);
    matcher.Advance(i);
  }
  return matcher.MatchesAt(text.size());
}

std::string TrimPrefix(std::string_view text, std::string_view pattern, TrimLength length) {
  return std::string(text.substr(MatchedPrefix(text, pattern, length)));
}

std::string TrimSuffix(std::string_view text, std::string_view pattern, TrimLength length) {
  return Reverse(TrimPrefix(Reverse(text), Reverse(pattern), length));
}

}  // namespace capi::templating
