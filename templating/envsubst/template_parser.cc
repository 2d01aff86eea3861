#include <algorithm>
#include <cstring>

#include "templating/envsubst/identifier.h"
#include "templating/envsubst/template.h"

namespace capi::templating {
namespace {

constexpr std::string_view kBadSubstitution = "bad substitution";
constexpr std::string_view kMissingBrace = "missing closing brace";
constexpr std::string_view kBadName = "unable to parse variable name";
constexpr std::string_view kTooMany = "the template has too many variables and escapes";
constexpr std::string_view kBadArgument = "unable to parse substitution within function";

bool IsLegacySpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }
bool IsLegacyName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// "${ A }" at `at`, which is the position of the '$'.
struct LegacySpan {
  size_t name_begin = 0, name_end = 0, end = 0;  // end: behind the '}'
  bool spaces = false;
};

std::optional<LegacySpan> MatchLegacy(std::string_view text, size_t at) {
  LegacySpan out;
  size_t i = at + 2;
  while (i < text.size() && IsLegacySpace(text[i])) ++i;
  out.name_begin = i;
  while (i < text.size() && IsLegacyName(text[i])) ++i;
  out.name_end = i;
  while (i < text.size() && IsLegacySpace(text[i])) ++i;
  if (out.name_end == out.name_begin || i >= text.size() || text[i] != '}') return std::nullopt;
  out.end = i + 1;
  out.spaces = out.name_begin != at + 2 || out.name_end != i;
  return out;
}

}  // namespace

// One pass over the text with a stack of the functions that are still open.
class TemplateParser {
 public:
  TemplateParser(std::string_view text, TemplateError& error) : given_(text), error_(error) {}

  std::optional<Template> Run(Dialect dialect) {
    text_ = given_;
    if (dialect == Dialect::kClusterctl) StripLegacySpaces();
    size_t nul = text_.find('\0');
    cut_ = nul != std::string_view::npos;
    out_.plain_ = !cut_;
    text_ = text_.substr(0, nul);
    out_.nodes_.emplace_back();
    while (pos_ < text_.size()) {
      TopLevelText();
      if (TooMany()) return Fail();
      if (pos_ >= text_.size()) break;
      if (!BeginFunction(0)) return Fail();
      while (!open_.empty()) {
        if (!Step() || TooMany()) return Fail();
      }
    }
    return std::move(out_);
  }

 private:
  // A function whose arguments are being read. `stage` counts what was read: argument, delimiter, argument.
  struct Open {
    std::uint32_t node;
    int stage = 0;
  };

  void StripLegacySpaces() {
    std::string kept;
    size_t copied = 0, removed = 0;
    auto drop = [&](size_t from, size_t to) {
      if (from == to) return;
      kept.append(given_, copied, from - copied);
      copied = to;
      removed += to - from;
      out_.stripped_.emplace_back(kept.size(), removed);
    };
    size_t at = 0;
    while ((at = given_.find("${", at)) != std::string_view::npos) {
      auto span = MatchLegacy(given_, at);
      if (span && span->spaces) {
        drop(at + 2, span->name_begin);
        drop(span->name_end, span->end - 1);
      }
      at = span ? span->end : at + 2;
    }
    if (removed == 0) return;
    kept.append(given_, copied, std::string_view::npos);
    out_.stripped_text_ = std::make_unique<const std::string>(std::move(kept));
    text_ = *out_.stripped_text_;
  }

  std::optional<Template> Fail() {
    error_.offset = out_.SourceOffset(error_.offset);
    return std::nullopt;
  }

  bool Error(std::string_view message, size_t offset) {
    error_ = {std::string(message), offset};
    return false;
  }

  std::uint32_t Append(std::uint32_t parent, Op op, std::string_view text, size_t offset) {
    auto index = static_cast<std::uint32_t>(out_.nodes_.size());
    out_.nodes_.push_back({op, 0, 0, 0, text, offset});
    TemplateNode& to = out_.nodes_[parent];
    if (to.first_arg == 0) {
      to.first_arg = index;
    } else {
      out_.nodes_[to.last_arg].next = index;
    }
    to.last_arg = index;
    return index;
  }

  bool TooMany() {
    if (out_.nodes_.size() <= kMaxTemplateParts) return false;
    error_ = {std::string(kTooMany), out_.nodes_.back().offset};
    return true;
  }

  bool At(char c) const { return pos_ < text_.size() && text_[pos_] == c; }
  bool AtFunction() const { return At('$') && pos_ + 1 < text_.size() && text_[pos_ + 1] == '{'; }

  // Up to the next "${"; "$$" stands for one '$', whatever follows.
  void TopLevelText() {
    size_t begin = pos_;
    auto flush = [&](size_t end) {
      if (end > begin) Append(0, Op::kText, text_.substr(begin, end - begin), begin);
    };
    while (pos_ < text_.size() && out_.nodes_.size() <= kMaxTemplateParts) {
      const void* found = std::memchr(text_.data() + pos_, '$', text_.size() - pos_);
      if (found == nullptr) {
        pos_ = text_.size();
        break;
      }
      pos_ = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
      if (AtFunction()) break;
      ++pos_;
      if (At('$')) {
        out_.plain_ = false;
        flush(pos_ - 1);
        begin = pos_++;
      }
    }
    flush(pos_);
  }

  // Reads "${", the name and the operator. Functions without arguments end here, others are left open.
  bool BeginFunction(std::uint32_t parent) {
    out_.plain_ = false;
    size_t start = pos_;
    pos_ += 2;
    if (At('#')) return Length(parent, start);
    size_t length = IdentifierLength(text_.substr(pos_));
    if (length == 0) return Error(kBadName, start);
    std::string_view name = text_.substr(pos_, length);
    pos_ += length;
    if (At('}')) {
      ++pos_;
      Append(parent, Op::kPlain, name, start);
      return true;
    }
    // Where the text itself ends behind "${A:", the dialect has another message than where it goes on.
    if (At(':') && pos_ + 1 == text_.size() && !cut_) return Error(kBadSubstitution, start);
    auto op = ReadOperator();
    if (!op) return Error(kMissingBrace, start);
    std::uint32_t node = Append(parent, *op, name, start);
    if (IsCasing(*op)) {
      if (!At('}')) return Error(kBadSubstitution, start);
      ++pos_;
      return true;
    }
    open_.push_back({node});
    return true;
  }

  bool Length(std::uint32_t parent, size_t start) {
    ++pos_;
    size_t length = IdentifierLength(text_.substr(pos_));
    if (length == 0) return Error(kBadSubstitution, start);
    std::string_view name = text_.substr(pos_, length);
    pos_ += length;
    if (!At('}')) return Error(kBadSubstitution, start);
    ++pos_;
    Append(parent, Op::kLength, name, start);
    return true;
  }

  static bool IsCasing(Op op) { return op >= Op::kUpperFirst || op == Op::kPlain; }

  std::optional<Op> ReadOperator() {
    char first = pos_ < text_.size() ? text_[pos_] : '\0';
    char second = pos_ + 1 < text_.size() ? text_[pos_ + 1] : '\0';
    auto take = [&](size_t count, Op op) {
      pos_ += count;
      return op;
    };
    switch (first) {
      case '=': return take(1, Op::kDefault);
      case ':':
        if (second == '=' || second == '-' || second == '?' || second == '+') return take(2, Op::kDefault);
        return take(1, Op::kSubstring);
      case '/':
        if (second == '/') return take(2, Op::kReplaceAll);
        if (second == '#') return take(2, Op::kReplacePrefix);
        if (second == '%') return take(2, Op::kReplaceSuffix);
        return take(1, Op::kReplaceFirst);
      case '#': return second == '#' ? take(2, Op::kTrimLongestPrefix) : take(1, Op::kTrimShortestPrefix);
      case '%': return second == '%' ? take(2, Op::kTrimLongestSuffix) : take(1, Op::kTrimShortestSuffix);
      case '^':
        if (second == '^') return take(2, Op::kUpperAll);
        return second == ',' ? take(2, Op::kPlain) : take(1, Op::kUpperFirst);
      case ',':
        if (second == ',') return take(2, Op::kLowerAll);
        return second == '^' ? take(2, Op::kPlain) : take(1, Op::kLowerFirst);
      default: return std::nullopt;
    }
  }

  // One token of the innermost open function. References into open_ are not kept: BeginFunction may grow it.
  bool Step() {
    size_t top = open_.size() - 1;
    std::uint32_t node = open_[top].node;
    int stage = open_[top].stage++;
    size_t start = out_.nodes_[node].offset;
    switch (out_.nodes_[node].op) {
      case Op::kDefault:
        if (At('}')) return Close();
        return Argument(node, "}", false);
      case Op::kSubstring:
        if (stage == 0) return Argument(node, ":}", false);
        if (stage == 1) return At('}') ? Close() : Delimiter(':', start);
        return stage == 2 ? Argument(node, "}", false) : CloseOr(start);
      case Op::kReplaceFirst:
      case Op::kReplaceAll:
      case Op::kReplacePrefix:
      case Op::kReplaceSuffix:
        if (stage == 0) return Argument(node, "/", true);
        if (stage == 1) return Delimiter('/', start);
        if (stage == 2) return At('}') ? Close() : Argument(node, "}", true);
        return CloseOr(start);
      default: return stage == 0 ? Argument(node, "}", false) : CloseOr(start);
    }
  }

  bool Close() {
    ++pos_;
    open_.pop_back();
    return true;
  }
  bool CloseOr(size_t start) { return At('}') ? Close() : Error(kBadSubstitution, start); }

  // A run of the delimiter counts as one.
  bool Delimiter(char delimiter, size_t start) {
    if (!At(delimiter)) return Error(kBadSubstitution, start);
    while (At(delimiter)) ++pos_;
    return true;
  }

  // A nested function, or text up to one of `stops` or the next "${". With `escapes`, "\/" "\\" and "$$" lose their
  // first character.
  bool Argument(std::uint32_t node, std::string_view stops, bool escapes) {
    size_t start = out_.nodes_[node].offset;
    if (AtFunction()) return BeginFunction(node);
    if (pos_ >= text_.size() || stops.find(text_[pos_]) != std::string_view::npos) return Error(kBadArgument, start);
    size_t begin = pos_;
    std::string unescaped;
    bool changed = false;
    while (pos_ < text_.size() && !AtFunction()) {
      char c = text_[pos_];
      char next = pos_ + 1 < text_.size() ? text_[pos_ + 1] : '\0';
      bool escape = escapes && ((c == '$' && next == '$') || (c == '\\' && (next == '/' || next == '\\')));
      if (escape) {
        if (!changed) unescaped.assign(text_, begin, pos_ - begin);
        changed = true;
        c = next;
        ++pos_;
      } else if (stops.find(c) != std::string_view::npos) {
        break;
      }
      if (changed) unescaped += c;
      ++pos_;
    }
    std::string_view text = text_.substr(begin, pos_ - begin);
    if (changed) {
      out_.unescaped_.push_back(std::make_unique<const std::string>(std::move(unescaped)));
      text = *out_.unescaped_.back();
    }
    Append(node, Op::kText, text, begin);
    return true;
  }

  std::string_view given_, text_;
  TemplateError& error_;
  Template out_;
  std::vector<Open> open_;
  size_t pos_ = 0;
  bool cut_ = false;  // a NUL byte ended the text early
};

std::optional<Template> Template::Parse(std::string_view text, TemplateError& error, Dialect dialect) {
  return TemplateParser(text, error).Run(dialect);
}

size_t Template::SourceOffset(size_t offset) const {
  auto behind = std::upper_bound(stripped_.begin(), stripped_.end(), offset,
                                 [](size_t value, const auto& entry) { return value < entry.first; });
  return behind == stripped_.begin() ? offset : offset + std::prev(behind)->second;
}

std::map<std::string, std::optional<std::string>> Template::Variables() const {
  std::map<std::string, std::optional<std::string>> out;
  for (std::uint32_t i = nodes_[0].first_arg; i != 0; i = nodes_[i].next) {
    const TemplateNode& node = nodes_[i];
    if (node.op == Op::kText) continue;
    auto [entry, is_new] = out.try_emplace(std::string(node.text));
    if (!is_new) continue;
    std::string fallback;
    for (std::uint32_t a = node.first_arg; a != 0; a = nodes_[a].next) {
      if (nodes_[a].op == Op::kText) {
        fallback += nodes_[a].text;
      } else {
        fallback.append("${").append(nodes_[a].text).append("}");
      }
    }
    if (!fallback.empty()) entry->second = std::move(fallback);
  }
  return out;
}

}  // namespace capi::templating
