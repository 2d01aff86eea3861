#include "base/yaml/yaml.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/json_memory.h"
#include "base/strings.h"
#include "base/yaml/yaml_events.h"
#include "base/yaml/yaml_lines.h"
#include "base/yaml/yaml_scalar.h"

namespace capi {
namespace {

using yaml::Event;
using yaml::View;

Error At(int line, size_t column, std::string_view problem) {
  return Error{Code::kInvalidArgument, fmt::format("line {}, column {}: {}", line, column, problem), {}};
}

// The events of one text, and errors with their places. Thread-compatible.
class Parser {
 public:
  // `first_line`: the line of the whole stream where `text` begins.
  Parser(std::string_view text, int first_line) : events_(text), first_line_(first_line) {}

  Status Next(Event& event) {
    if (events_.Next(event)) return Ok();
    return Problem(events_.state());
  }

  Error ErrorAt(const yaml_mark_t& mark, std::string_view problem) const {
    return At(LineOf(mark), mark.column + 1, problem);
  }
  int LineOf(const yaml_mark_t& mark) const { return first_line_ + static_cast<int>(mark.line); }

 private:
  Error Problem(const yaml_parser_t& parser) const {
    std::string problem = parser.problem != nullptr ? parser.problem : "out of memory";
    if (parser.error == YAML_READER_ERROR) return ReaderProblem(problem, parser.problem_offset);
    if (parser.context != nullptr) {
      problem += fmt::format(" {}", parser.context);
      if (parser.context_mark.line != parser.problem_mark.line)
        problem += fmt::format(" that begins on line {}", LineOf(parser.context_mark));
    }
    return ErrorAt(parser.problem_mark, problem);
  }

  // The reader knows bytes, not lines.
  Error ReaderProblem(const std::string& problem, size_t offset) const {
    std::string_view before = events_.text().substr(0, offset);
    size_t newline = before.rfind('\n');
    size_t column = newline == before.npos ? before.size() : before.size() - newline - 1;
    return At(first_line_ + static_cast<int>(CountYamlBreaks(before)), column + 1, problem);
  }

  yaml::EventParser events_;
  int first_line_;
};

// Go's limit on how much of a document may come from aliases: nearly all of a small one, a tenth of a huge one.
bool TooManyAliases(size_t nodes, size_t from_aliases) {
  constexpr double kLow = 400'000, kHigh = 4'000'000;
  if (from_aliases <= 100 || nodes <= 1000) return false;
  auto n = static_cast<double>(nodes);
  double allowed = n <= kLow ? 0.99 : n >= kHigh ? 0.10 : 0.99 - 0.89 * (n - kLow) / (kHigh - kLow);
  return static_cast<double>(from_aliases) / n > allowed;
}

constexpr std::string_view kAliasing = "document contains excessive aliasing";

// A finished node.
struct Node {
  Json value;
  std::optional<std::string> key;  // as a key of a map; none for maps, lists and what can't be a key
  bool alias = false;
  bool merge = false;            // the plain scalar "<<"
  size_t nodes = 1;              // with all below it
  size_t height = 0;             // levels below it
  size_t size = kJsonValueSize;  // in memory, about, with all below it
};

// A map or list that is still open.
struct Frame {
  Node node;
  std::string anchor;
  std::string key;  // of the value that comes next
  bool has_key = false;
  bool merging = false;   // that key is "<<"
  bool only_maps = true;  // list: every item is a map, or an alias of one
};

// Makes one document's value of its events. Thread-compatible.
class Builder {
 public:
  // `memory` is what the stream's documents took so far.
  Builder(Parser& parser, const YamlLimits& limits, size_t& memory)
      : parser_(parser), limits_(limits), memory_(memory) {}

  // Reads up to the end of the document, whose start was read. The value is null for an empty document.
  Result<YamlDocument> Build() {
    Event event;
    YamlDocument document;
    TRY(parser_.Next(event));
    document.line = parser_.LineOf(event.start_mark);
    while (event.type != YAML_DOCUMENT_END_EVENT) {
      TRY(Handle(event));
      TRY(parser_.Next(event));
    }
    document.value = std::move(root_);
    return document;
  }

 private:
  Status Handle(const Event& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT: return OnScalar(event);
      case YAML_ALIAS_EVENT: return OnAlias(event);
      case YAML_SEQUENCE_START_EVENT: return OnStart(event, Json::array(), event.data.sequence_start.anchor);
      case YAML_MAPPING_START_EVENT: return OnStart(event, Json::object(), event.data.mapping_start.anchor);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: return OnEnd(event);
      default: return Fail(event, "unexpected event");
    }
  }

  Status OnScalar(const Event& event) {
    const auto& scalar = event.data.scalar;
    std::string_view text = yaml::TextOf(event);
    TRY(Count(event, 1));
    auto resolved = yaml::Resolve(View(scalar.tag), scalar.plain_implicit != 0, text);
    if (!resolved.ok()) return Fail(event, resolved.error().message);

    Node node;
    node.size += text.size();
    TRY(Take(event, node.size));
    node.merge = yaml::IsMergeKey(event);
    bool is_key = ExpectsKey();
    if (is_key || scalar.anchor != nullptr) {
      auto key = yaml::ToKey(*resolved);
      if (!key.ok() && is_key && !node.merge) return Fail(event, key.error().message);
      if (key.ok()) node.key = *std::move(key);
    }
    if (!is_key || scalar.anchor != nullptr) {
      auto value = yaml::ToJson(*std::move(resolved));
      if (!value.ok()) return Fail(event, value.error().message);
      node.value = *std::move(value);
    }
    if (scalar.anchor != nullptr) TRY(Keep(event, std::string(View(scalar.anchor)), node));
    return Add(event, std::move(node));
  }

  Status OnAlias(const Event& event) {
    std::string name(View(event.data.alias.anchor));
    auto found = anchors_.find(name);
    if (found == anchors_.end()) return Fail(event, "unknown anchor referenced");
    if (!found->second) return Fail(event, "anchor value contains itself");
    const Node& target = *found->second;
    TRY(Count(event, 1 + target.nodes));
    from_aliases_ += target.nodes;
    if (TooManyAliases(nodes_, from_aliases_)) return Fail(event, kAliasing);
    TRY(Take(event, target.size));  // a few long texts can explode as well as many short ones
    if (stack_.size() + target.height > limits_.max_depth) return TooDeep(event);
    Node node = target;
    node.alias = true;
    node.merge = false;
    node.nodes += 1;
    return Add(event, std::move(node));
  }

  Status OnStart(const Event& event, Json empty, const yaml_char_t* anchor) {
    if (ExpectsKey()) return Fail(event, "invalid map key: a map or a list");
    if (stack_.size() >= limits_.max_depth) return TooDeep(event);
    TRY(Count(event, 1));
    TRY(Take(event, kJsonValueSize));
    Frame frame;
    frame.node.value = std::move(empty);
    frame.anchor = View(anchor);
    if (!frame.anchor.empty()) anchors_[frame.anchor] = std::nullopt;
    stack_.push_back(std::move(frame));
    return Ok();
  }

  Status OnEnd(const Event& event) {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    if (!frame.anchor.empty()) TRY(Keep(event, frame.anchor, frame.node));
    only_maps_ = frame.only_maps;
    return Add(event, std::move(frame.node));
  }

  bool ExpectsKey() const { return !stack_.empty() && stack_.back().node.value.is_object() && !stack_.back().has_key; }

  // Puts a finished node where it belongs.
  Status Add(const Event& event, Node node) {
    if (stack_.empty()) {
      root_ = std::move(node.value);
      return Ok();
    }
    Frame& frame = stack_.back();
    frame.node.nodes += node.nodes;
    frame.node.size += node.size;
    frame.node.height = std::max(frame.node.height, node.height + 1);
    if (frame.node.value.is_array()) {
      frame.only_maps = frame.only_maps && node.value.is_object();
      frame.node.value.get_ref<Json::array_t&>().push_back(std::move(node.value));
      return Ok();
    }
    if (!frame.has_key) return AddKey(event, frame, std::move(node));
    frame.has_key = false;
    if (frame.merging) return Merge(event, frame, std::move(node));
    // The last of equal keys wins. Keys mostly come sorted, which makes the end a good hint.
    auto& members = frame.node.value.get_ref<Json::object_t&>();
    members.insert_or_assign(members.end(), std::move(frame.key), std::move(node.value));
    return Ok();
  }

  Status AddKey(const Event& event, Frame& frame, Node node) {
    frame.merging = node.merge;
    frame.has_key = true;
    if (node.merge) return Ok();
    if (!node.key) return Fail(event, "invalid map key: null, a map or a list");
    frame.key = *std::move(node.key);
    return Ok();
  }

  // The Go tools set merged members where the merge key stands: before it they are overwritten, after it they win.
  Status Merge(const Event& event, Frame& frame, Node node) {
    auto& members = frame.node.value.get_ref<Json::object_t&>();
    auto merge_one = [&](Json& from) {
      for (auto& [key, value] : from.get_ref<Json::object_t&>()) members.insert_or_assign(key, std::move(value));
    };
    if (node.value.is_object()) {
      merge_one(node.value);
      return Ok();
    }
    if (!node.value.is_array() || node.alias || !only_maps_)
      return Fail(event, "map merge requires map or sequence of maps as the value");
    auto& items = node.value.get_ref<Json::array_t&>();
    std::for_each(items.rbegin(), items.rend(), merge_one);
    return Ok();
  }

  Status Count(const Event& event, size_t more) {
    nodes_ += more;
    if (nodes_ <= limits_.max_nodes) return Ok();
    return Fail(event, fmt::format("more than {} nodes", limits_.max_nodes));
  }

  Status Take(const Event& event, size_t bytes) {
    memory_ += bytes;
    if (memory_ <= limits_.max_memory) return Ok();
    return Fail(event, fmt::format("more than {} bytes of values up to here", limits_.max_memory));
  }

  // What the aliases of an anchor stand for.
  Status Keep(const Event& event, const std::string& anchor, const Node& node) {
    TRY(Take(event, node.size));
    anchors_[anchor] = node;
    return Ok();
  }

  Error TooDeep(const Event& event) const {
    return Fail(event, fmt::format("nested deeper than {}", limits_.max_depth));
  }

  Error Fail(const Event& event, std::string_view problem) const { return parser_.ErrorAt(event.start_mark, problem); }

  Parser& parser_;
  const YamlLimits& limits_;
  std::vector<Frame> stack_;
  std::map<std::string, std::optional<Node>> anchors_;  // none: still open
  Json root_;
  bool only_maps_ = true;  // of the list that ended last
  size_t nodes_ = 0, from_aliases_ = 0;
  size_t& memory_;
};

// The next document of a parser, or none at the end.
Result<std::optional<YamlDocument>> NextDocument(Parser& parser, const YamlLimits& limits, size_t& memory) {
  Event event;
  do {
    TRY(parser.Next(event));
    if (event.type == YAML_STREAM_END_EVENT) return std::optional<YamlDocument>();
  } while (event.type != YAML_DOCUMENT_START_EVENT);
  return std::optional<YamlDocument>(TRY(Builder(parser, limits, memory).Build()));
}

// A piece of a stream between separators.
struct Piece {
  std::string_view text;
  int line = 1;
};

// Cuts a stream as Kubernetes' YAMLReader does: at every line that begins with "---", wherever it stands; such a line
// belongs to the document after it only where nothing comes before it. Thread-compatible.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : rest_(text) {}

  // None at the end.
  Result<std::optional<Piece>> Next() {
    Piece piece{rest_.substr(0, 0), line_};
    size_t length = 0;
    while (length < rest_.size()) {
      size_t newline = rest_.find('\n', length);
      size_t end = newline == rest_.npos ? rest_.size() : newline + 1;
      std::string_view line = rest_.substr(length, end - length);
      int at = std::exchange(line_, line_ + static_cast<int>(CountYamlStreamBreaks(line)));
      if (line.substr(0, 3) == "---") {
        TRY(CheckSeparator(line, at));
        if (length != 0) {
          piece.text = rest_.substr(0, length);
          rest_.remove_prefix(end);
          return std::optional<Piece>(piece);
        }
      }
      length = end;
    }
    piece.text = rest_.substr(0, length);
    rest_ = {};
    return piece.text.empty() ? std::optional<Piece>() : std::optional<Piece>(piece);
  }

 private:
  static Status CheckSeparator(std::string_view line, int number) {
    std::string_view after = Trim(line.substr(3));
    if (after.empty() || after[0] == '#') return Ok();
    return At(number, 4, fmt::format("invalid Yaml document separator: {}", after));
  }

  std::string_view rest_;
  int line_ = 1;
};

// Go's line reader ends every line with a newline, also the last one.
std::string_view WithUnixLines(std::string_view text, std::string& storage) {
  bool carriage = text.find("\r\n") != text.npos;
  if (!carriage && text.back() == '\n') return text;
  storage.assign(text);
  if (storage.back() != '\n') storage += '\n';
  if (carriage) storage = ReplaceAll(std::move(storage), "\r\n", "\n");
  return storage;
}

}  // namespace

Result<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, const YamlLimits& limits) {
  std::vector<YamlDocument> documents;
  Splitter splitter(text);
  std::string storage;
  size_t memory = 0;
  while (auto piece = TRY(splitter.Next())) {
    Parser parser(WithUnixLines(piece->text, storage), piece->line);
    auto document = TRY(NextDocument(parser, limits, memory));  // what follows "..." is not read, as in Go
    if (!document || document->value.is_null()) continue;
    if (documents.size() >= limits.max_documents)
      return At(piece->line, 1, fmt::format("more than {} documents", limits.max_documents));
    document->offset = static_cast<size_t>(piece->text.data() - text.data()) +
                       OffsetOfYamlStreamLine(piece->text, static_cast<size_t>(document->line - piece->line) + 1);
    documents.push_back(*std::move(document));
  }
  return documents;
}

Result<Json> ParseYaml(std::string_view text, const YamlLimits& limits) {
  Parser parser(text, 1);
  Json value;
  size_t memory = 0;
  while (auto document = TRY(NextDocument(parser, limits, memory))) {
    if (document->value.is_null()) continue;
    if (!value.is_null()) return At(document->line, 1, "a second document where one was expected");
    value = std::move(document->value);
  }
  return value;
}

}  // namespace capi
