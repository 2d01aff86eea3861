#include <charconv>
#include <cstring>
#include <deque>

#include "templating/envsubst/glob.h"
#include "templating/envsubst/template.h"
#include "templating/envsubst/unicode.h"

namespace capi::templating {
namespace {

constexpr std::string_view kTooLarge = "the result is too large";

// No form but the default has more than two, and the default's are never collected.
using Args = std::vector<std::string>;
using Value = Result<std::string>;

Error Refuse(std::string_view message) { return Error{Code::kInvalidArgument, std::string(message), {}}; }

// As Go's strconv.Atoi.
std::optional<std::int64_t> ParseInt(std::string_view text) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return std::nullopt;
  }
  std::int64_t out = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Positions and lengths count bytes; what is no number leaves the value alone.
Value Substring(const std::string& value, const Args& args) {
  auto start = ParseInt(args[0]);
  if (!start) return value;
  auto size = static_cast<std::int64_t>(value.size());
  if (*start < 0) start = std::max<std::int64_t>(0, size + *start);
  if (args.size() == 1) return *start < size ? value.substr(static_cast<size_t>(*start)) : "";
  auto length = ParseInt(args[1]);
  if (!length) return value;
  if (*start >= size) return std::string();
  if (*length < 0) return Refuse("slice bounds out of range");
  return value.substr(static_cast<size_t>(*start), static_cast<size_t>(*length));
}

// An empty pattern stands before every character and at the end.
Value InsertBetween(std::string_view value, const std::string& with, bool all, size_t max) {
  if (!all) return with + std::string(value);
  std::string out = with;
  while (!value.empty()) {
    size_t size = DecodeRune(value).size;
    out.append(value.substr(0, size)).append(with);
    if (out.size() > max) return Refuse(kTooLarge);
    value.remove_prefix(size);
  }
  return out;
}

// Linear whatever the texts are, as the C library's search is and std::string's isn't.
size_t FindFrom(std::string_view text, std::string_view part, size_t from) {
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? text.npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

Value Replace(std::string_view value, const Args& args, bool all, size_t max) {
  const std::string with = args.size() > 1 ? args[1] : "";
  if (args[0].empty()) return InsertBetween(value, with, all, max);
  std::string out;
  size_t from = 0;
  while (true) {
    size_t found = FindFrom(value, args[0], from);
    if (found == std::string_view::npos) break;
    out.append(value, from, found - from).append(with);
    if (out.size() > max) return Refuse(kTooLarge);
    from = found + args[0].size();
    if (!all) break;
  }
  return out.append(value, from);
}

Value ReplaceAffix(const std::string& value, const Args& args, bool prefix) {
  // Without a replacement the dialect leaves the value alone.
  if (args.size() != 2) return value;
  if (prefix) return value.starts_with(args[0]) ? args[1] + value.substr(args[0].size()) : value;
  return value.ends_with(args[0]) ? value.substr(0, value.size() - args[0].size()) + args[1] : value;
}

std::string MapFirst(const std::string& value, char32_t (*map)(char32_t)) {
  if (value.empty()) return value;
  Rune rune = DecodeRune(value);
  std::string out;
  AppendRune(out, map(rune.value));
  return out.append(value, rune.size);
}

Value Apply(Op op, std::string value, const Args& args, size_t max) {
  switch (op) {
    case Op::kText:
    case Op::kDefault:
    case Op::kPlain: return value;
    case Op::kLength: return std::to_string(value.size());
    case Op::kSubstring: return Substring(value, args);
    case Op::kReplaceFirst: return Replace(value, args, false, max);
    case Op::kReplaceAll: return Replace(value, args, true, max);
    case Op::kReplacePrefix: return ReplaceAffix(value, args, true);
    case Op::kReplaceSuffix: return ReplaceAffix(value, args, false);
    case Op::kTrimShortestPrefix: return TrimPrefix(value, args[0], TrimLength::kShortest);
    case Op::kTrimLongestPrefix: return TrimPrefix(value, args[0], TrimLength::kLongest);
    case Op::kTrimShortestSuffix: return TrimSuffix(value, args[0], TrimLength::kShortest);
    case Op::kTrimLongestSuffix: return TrimSuffix(value, args[0], TrimLength::kLongest);
    case Op::kUpperFirst: return MapFirst(value, ToUpperRune);
    case Op::kUpperAll: return ToUpperText(value);
    case Op::kLowerFirst: return MapFirst(value, ToLowerRune);
    case Op::kLowerAll: return ToLowerText(value);
  }
  return value;
}

// Evaluates variables with everything nested in them, on a stack of its own. What a default says goes straight to where
// its variable's value would go, so that nesting copies nothing.
class Evaluator {
 public:
  Evaluator(const std::vector<TemplateNode>& nodes, const Template::Lookup& lookup, size_t max)
      : nodes_(nodes), lookup_(lookup), max_(max), budget_(kWorkPerOutput * max) {}

  // Appends the value of `root` to `out`.
  Status Run(std::uint32_t root, std::string& out) {
    stack_.clear();
    held_ = 0;
    out_ = &out;
    TRY(Push(root, &out));
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next_arg == 0) {
        size_t held = top.value.size();
        for (const std::string& arg : top.args) held += arg.size();
        TRY(Finish(top));
        held_ -= held;
        stack_.pop_back();
        continue;
      }
      std::uint32_t arg = top.next_arg;
      top.next_arg = nodes_[arg].next;
      std::string* sink = top.sink;
      if (nodes_[top.node].op != Op::kDefault) sink = &top.args.emplace_back();
      if (nodes_[arg].op == Op::kText) {
        TRY(Append(*sink, nodes_[arg].text));
      } else {
        TRY(Push(arg, sink));
      }
    }
    return Ok();
  }

  // Where the last failed Run failed.
  size_t failed_at() const { return failed_at_; }

 private:
  struct Frame {
    std::uint32_t node = 0, next_arg = 0;
    std::string* sink = nullptr;
    std::string value;
    Args args;
  };

  // All values that are looked up, and all texts that are scanned and written, in multiples of the largest output: a
  // short template could otherwise take a long value apart a million times.
  static constexpr size_t kWorkPerOutput = 16;
  // Of a step of the glob matcher, which may look at three characters again.
  static constexpr size_t kGlobCost = 16;

  Status Push(std::uint32_t index, std::string* sink) {
    const TemplateNode& node = nodes_[index];
    failed_at_ = node.offset;
    Frame& frame = stack_.emplace_back();
    frame.node = index;
    frame.sink = sink;
    frame.value = lookup_(std::string(node.text)).value_or("");
    frame.args.reserve(2);  // so that sinks stay where they are
    if (node.op != Op::kDefault || frame.value.empty()) frame.next_arg = node.first_arg;
    TRY(Hold(frame.value.size()));
    return Charge(frame.value.size());
  }

  Status Finish(Frame& frame) {
    const TemplateNode& node = nodes_[frame.node];
    failed_at_ = node.offset;
    if (node.op >= Op::kTrimShortestPrefix && node.op <= Op::kTrimLongestSuffix) {
      TRY(Charge(frame.value.size() * frame.args[0].size() * kGlobCost));
    }
    for (const std::string& arg : frame.args) TRY(Charge(arg.size()));
    return Append(*frame.sink, TRY(Apply(node.op, std::move(frame.value), frame.args, max_)));
  }

  Status Append(std::string& sink, std::string_view text) {
    if (sink.size() + text.size() > max_) return Refuse(kTooLarge);
    TRY(Charge(text.size()));
    if (&sink != out_) TRY(Hold(text.size()));
    sink += text;
    return Ok();
  }

  // Values and arguments of functions that are open.
  Status Hold(size_t bytes) {
    held_ += bytes;
    return held_ <= max_ ? Ok() : Refuse(kTooLarge);
  }

  Status Charge(size_t work) {
    if (work > budget_) return Refuse("the template takes too long to evaluate");
    budget_ -= work;
    return Ok();
  }

  const std::vector<TemplateNode>& nodes_;
  const Template::Lookup& lookup_;
  size_t max_, budget_;
  size_t held_ = 0;
  const std::string* out_ = nullptr;
  std::deque<Frame> stack_;  // a sink is often a string in another frame
  size_t failed_at_ = 0;
};

}  // namespace

std::optional<TemplateOutput> Template::Evaluate(const Lookup& lookup, TemplateError& error, size_t max_output) const {
  TemplateOutput out;
  Evaluator evaluator(nodes_, lookup, max_output);
  for (std::uint32_t i = nodes_[0].first_arg; i != 0; i = nodes_[i].next) {
    const TemplateNode& node = nodes_[i];
    bool literal = node.op == Op::kText;
    out.segments.push_back(
        {out.text.size(), SourceOffset(node.offset), literal, std::string(literal ? std::string_view() : node.text)});
    if (literal) {
      out.text += node.text;
    } else if (auto done = evaluator.Run(i, out.text); !done.ok()) {
      error = {done.error().message, SourceOffset(evaluator.failed_at())};
      return std::nullopt;
    }
    if (out.text.size() > max_output) {
      error = {std::string(kTooLarge), SourceOffset(node.offset)};
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace capi::templating
