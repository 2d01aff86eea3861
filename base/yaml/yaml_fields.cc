#include "base/yaml/yaml_fields.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/yaml/yaml_events.h"
#include "base/yaml/yaml_scalar.h"

namespace capi {
namespace {

using Paths = std::span<const size_t>;  // by their index, in the order of their steps

// As a key of the JSON object; none for what can't be one, and for the merge key, whose members are elsewhere.
std::optional<std::string> KeyOf(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  if (yaml::IsMergeKey(event)) return std::nullopt;
  auto resolved = yaml::Resolve(yaml::View(scalar.tag), scalar.plain_implicit != 0, yaml::TextOf(event));
  if (!resolved.ok()) return std::nullopt;
  auto key = yaml::ToKey(*resolved);
  return key.ok() ? std::optional(*std::move(key)) : std::nullopt;
}

// A map or list that is still open.
struct Frame {
  bool map = false, expects_key = false;
  size_t items = 0;  // of a list, so far
  YamlExtent type_from;
  Paths ends;    // paths that end at it
  Paths inside;  // paths that lead further in
  Paths at_key;  // those of them that take the key at hand
  std::string anchor;
};

// Follows paths through the events of one document. Thread-compatible.
class FieldFinder {
 public:
  // `begin`: where in `text` the parser began to count.
  FieldFinder(std::string_view text, size_t begin, std::span<const YamlPath> paths)
      : text_(text), byte_(begin), paths_(paths), sorted_(paths.size()), found_(paths.size()), keys_(paths.size()) {
    for (size_t i = 0; i < paths.size(); ++i) keys_[i].resize(paths[i].size());
    std::iota(sorted_.begin(), sorted_.end(), 0);
    std::sort(sorted_.begin(), sorted_.end(), [&](size_t a, size_t b) { return paths[a] < paths[b]; });
  }

  // False where there is nothing to follow any more.
  bool Handle(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT: OnScalar(event); return true;
      case YAML_ALIAS_EVENT: OnAlias(event); return true;
      case YAML_SEQUENCE_START_EVENT: {
        const auto& start = event.data.sequence_start;
        return OnStart(event, false, start.style == YAML_FLOW_SEQUENCE_STYLE, start.anchor);
      }
      case YAML_MAPPING_START_EVENT: {
        const auto& start = event.data.mapping_start;
        return OnStart(event, true, start.style == YAML_FLOW_MAPPING_STYLE, start.anchor);
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: OnEnd(); return true;
      case YAML_STREAM_START_EVENT:
      case YAML_DOCUMENT_START_EVENT: return true;
      default: return false;
    }
  }

  std::vector<std::optional<YamlField>> Take() && { return std::move(found_); }

 private:
  void OnScalar(const yaml_event_t& event) {
    YamlExtent extent = ExtentOf(event);
    if (ExpectsKey()) return OnKey(KeyOf(event), extent);
    if (event.data.scalar.anchor != nullptr) anchors_[std::string(yaml::View(event.data.scalar.anchor))] = extent;
    Set(EndingHere(Reached()), extent);
  }

  void OnAlias(const yaml_event_t& event) {
    YamlExtent extent = ExtentOf(event);
    if (ExpectsKey()) return OnKey(std::nullopt, extent);
    auto anchor = anchors_.find(std::string(yaml::View(event.data.alias.anchor)));
    Set(EndingHere(Reached()), anchor == anchors_.end() ? extent : anchor->second);
  }

  bool OnStart(const yaml_event_t& event, bool map, bool flow, const yaml_char_t* anchor) {
    if (ExpectsKey()) return false;  // no JSON has such keys
    Frame frame{.map = map, .expects_key = map};
    const auto [begin, end] = ExtentOf(event);  // from its anchor or tag, where it has one
    if (flow && begin < end) {
      frame.type_from = {end - 1, end};
    } else if (!map) {  // a list that is further in than its key ends in front of its dash here, others behind it
      const size_t dash = text_.substr(end).starts_with('-') ? end : end - 1;
      frame.type_from = {dash, dash + 1};
    }  // else it comes with the first key: of a block map, and of the map of one that a list has without brackets
    frame.anchor = yaml::View(anchor);
    Paths reached = Reached();
    frame.ends = EndingHere(reached);
    frame.inside = reached.subspan(frame.ends.size());
    stack_.push_back(std::move(frame));
    return true;
  }

  void OnEnd() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    if (!frame.anchor.empty()) anchors_[frame.anchor] = frame.type_from;
    Set(frame.ends, frame.type_from);
  }

  bool ExpectsKey() const { return !stack_.empty() && stack_.back().expects_key; }

  void OnKey(const std::optional<std::string>& key, YamlExtent extent) {
    Frame& frame = stack_.back();
    frame.expects_key = false;
    if (frame.type_from.end == 0) frame.type_from = {extent.end, std::min(extent.end + 1, text_.size())};
    frame.at_key = key ? Taking(*key, extent) : Paths();
  }

  // The paths of the innermost map or list whose next step this is: they stand side by side.
  Paths Taking(const std::string& step, YamlExtent key) {
    const size_t at = stack_.size() - 1;
    const Paths inside = stack_.back().inside;
    auto first = std::lower_bound(inside.begin(), inside.end(), step,
                                  [&](size_t path, const std::string& to) { return paths_[path][at] < to; });
    auto last = std::upper_bound(first, inside.end(), step,
                                 [&](const std::string& to, size_t path) { return to < paths_[path][at]; });
    Paths found = inside.subspan(static_cast<size_t>(first - inside.begin()), static_cast<size_t>(last - first));
    for (size_t path : found) {
      keys_[path][at] = key;
      found_[path].reset();  // what an equal key held before is no more
    }
    return found;
  }

  // The paths that lead to the value at hand, or through it.
  Paths Reached() {
    if (stack_.empty()) return sorted_;
    Frame& frame = stack_.back();
    if (!frame.map) {
      size_t item = frame.items++;
      return frame.inside.empty() ? Paths() : Taking(std::to_string(item), {});
    }
    frame.expects_key = true;
    return frame.at_key;
  }

  // The shortest come first.
  Paths EndingHere(Paths reached) const {
    auto longer = std::ranges::find_if(reached, [&](size_t path) { return paths_[path].size() > stack_.size(); });
    return Paths(reached.begin(), longer);
  }

  void Set(Paths paths, YamlExtent type_from) {
    for (size_t path : paths) found_[path] = YamlField{type_from, keys_[path]};
  }

  // The parser counts characters. Its places come nearly in order, so the last one is near.
  size_t Byte(size_t character) {
    auto continues = [&](size_t at) {
      return at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80;
    };
    for (; character_ < character && byte_ < text_.size(); ++character_) {
      do ++byte_;
      while (continues(byte_));
    }
    for (; character_ > character; --character_) {
      do --byte_;
      while (continues(byte_));
    }
    return byte_;
  }

  YamlExtent ExtentOf(const yaml_event_t& event) {
    size_t begin = Byte(event.start_mark.index);
    return {begin, Byte(event.end_mark.index)};
  }

  std::string_view text_;
  size_t byte_, character_ = 0;  // one place of it
  std::span<const YamlPath> paths_;
  std::vector<size_t> sorted_;  // paths_, those first that others begin with
  std::vector<std::optional<YamlField>> found_;
  std::vector<std::vector<YamlExtent>> keys_;  // of each path, as far as it was followed last
  std::vector<Frame> stack_;
  std::map<std::string, YamlExtent> anchors_;
};

}  // namespace

std::vector<std::optional<YamlField>> FindYamlFields(std::string_view text, std::span<const YamlPath> paths) {
  yaml::EventParser parser(text);
  FieldFinder finder(text, text.size() - parser.text().size(), paths);
  yaml::Event event;
  while (parser.Next(event) && finder.Handle(event)) {
  }
  return std::move(finder).Take();
}

}  // namespace capi
