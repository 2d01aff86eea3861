#include "templating/source.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "base/yaml/yaml_lines.h"

namespace capi::templating {
namespace {

// As in kubernetes-sigs/cluster-api-operator: the manifests are one more document of the stream.
constexpr std::string_view kSeparator = "\n---\n";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Columns count characters, from 1.
size_t Forward(std::string_view text, size_t at, size_t column) {
  for (; column > 1 && at < text.size(); --column) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
  }
  return at;
}

// The segment that made output[at]; null where the output is the source's own text.
const OutputSegment* SegmentAt(const std::vector<OutputSegment>& segments, size_t at) {
  auto behind = std::upper_bound(segments.begin(), segments.end(), at,
                                 [](size_t value, const OutputSegment& segment) { return value < segment.output; });
  return behind == segments.begin() ? nullptr : &*std::prev(behind);
}

// Calls `each` for those that made output[begin, end) and come from variables, until it says false.
template <typename Each>
void ForEachVariable(const std::vector<OutputSegment>& segments, size_t begin, size_t end, const Each& each) {
  const OutputSegment* segment = begin < end ? SegmentAt(segments, begin) : nullptr;
  if (segment == nullptr) return;
  for (; segment != segments.data() + segments.size() && segment->output < end; ++segment) {
    if (!segment->literal && !each(*segment)) return;
  }
}

// Names of the variables that stand in output[begin, end), in order, each once.
std::vector<std::string> NamesIn(const std::vector<OutputSegment>& segments, size_t begin, size_t end) {
  std::vector<std::string> out;
  std::set<std::string_view> known;
  ForEachVariable(segments, begin, end, [&](const OutputSegment& segment) {
    if (known.insert(segment.variable).second) out.push_back(segment.variable);
    return true;
  });
  return out;
}

}  // namespace

size_t ToSource(const std::vector<OutputSegment>& segments, size_t at) {
  const OutputSegment* segment = SegmentAt(segments, at);
  if (segment == nullptr) return at;
  return segment->literal ? segment->source + (at - segment->output) : segment->source;
}

Source::Source(std::string_view components, std::string_view additional)
    : text_(components), additional_begin_(components.size() + 1) {
  if (additional.empty()) return;
  joined_.reserve(components.size() + kSeparator.size() + additional.size());
  joined_.append(components).append(kSeparator);
  additional_begin_ = joined_.size();
  joined_.append(additional);
  text_ = joined_;
}

Source::Position Source::Find(size_t offset) const {
  std::string_view before = text_.substr(0, std::min(offset, text_.size()));
  bool additional = offset >= additional_begin_;
  if (additional) before.remove_prefix(additional_begin_);
  auto line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  std::string_view in_line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
  auto inner = static_cast<size_t>(std::count_if(in_line.begin(), in_line.end(), IsContinuation));
  return {line, in_line.size() - inner + 1, additional ? " of the additional manifests" : ""};
}

std::string Source::Place(size_t offset) const {
  Position at = Find(offset);
  return fmt::format("line {}, column {}{}", at.line, at.column, at.file);
}

std::string Source::PlaceOfLine(size_t offset) const {
  Position at = Find(offset);
  return fmt::format("line {}{}", at.line, at.file);
}

std::string ExplainYamlError(std::string_view message, std::string_view output,
                             const std::vector<OutputSegment>& segments, const Source& source) {
  static const RE2 kPlace(R"(line (\d{1,9})(?:, column (\d{1,9}))?)");
  std::string out;
  re2::StringPiece rest(message.data(), message.size()), match[3];
  while (kPlace.Match(rest, 0, rest.size(), RE2::UNANCHORED, match, 3)) {
    size_t line = std::stoul(std::string(match[1])), begin = OffsetOfYamlStreamLine(output, line);
    bool has_column = !match[2].empty();
    size_t at = has_column ? Forward(output, begin, std::stoul(std::string(match[2]))) : begin;
    size_t offset = ToSource(segments, at);
    out.append(rest.data(), static_cast<size_t>(match[0].data() - rest.data()));
    out += has_column ? source.Place(offset) : source.PlaceOfLine(offset);
    auto here = NamesIn(segments, begin, std::max(at, std::min(output.find('\n', begin), output.size())) + 1);
    if (!here.empty()) {
      return fmt::format("{}: no valid YAML once the value of {} is filled in", source.Place(offset),
                         ListVariables(here));
    }
    rest.remove_prefix(static_cast<size_t>(match[0].data() - rest.data()) + match[0].size());
  }
  return out.append(rest.data(), rest.size());
}

bool HasVariable(const std::vector<OutputSegment>& segments, size_t begin, size_t end) {
  bool found = false;
  ForEachVariable(segments, begin, end, [&](const OutputSegment&) {
    found = true;
    return false;
  });
  return found;
}

std::vector<std::string> VariablesIn(YamlExtent extent, std::string_view output,
                                     const std::vector<OutputSegment>& segments) {
  if (extent.begin < extent.end) return NamesIn(segments, extent.begin, extent.end);
  size_t line = extent.begin == 0 ? 0 : output.rfind('\n', extent.begin - 1) + 1;  // npos + 1 is 0
  return NamesIn(segments, line, std::min(output.find('\n', extent.begin), output.size()) + 1);
}

std::string ListVariables(const std::vector<std::string>& names) {
  constexpr size_t kMostNamed = 10;
  if (names.size() <= kMostNamed) return Join(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + kMostNamed);
  return fmt::format("{} and {} more", Join(first, ", "), names.size() - kMostNamed);
}

}  // namespace capi::templating
