#include "base/yaml/yaml_places.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "base/yaml/yaml_events.h"
#include "base/yaml/yaml_scalar.h"

namespace capi {
namespace {

YamlPlace Place(const yaml_mark_t& mark, size_t first_line) { return {mark.line + first_line, mark.column + 1}; }

std::string_view Written(const yaml_node_t& node) {
  return {reinterpret_cast<const char*>(node.data.scalar.value), node.data.scalar.length};
}

// The tag as base/yaml/yaml_scalar.h wants it: libyaml's loader puts the default tag on what has none.
std::string_view ExplicitTag(const yaml_node_t& node) {
  std::string_view tag = node.tag == nullptr ? "" : reinterpret_cast<const char*>(node.tag);
  return tag == YAML_DEFAULT_SCALAR_TAG ? "" : tag;
}

// The shortest digits that read back, never with an exponent: "1e21" is a one and 21 zeros.
std::string PlainDecimal(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value < 0 ? "-Inf" : "+Inf";
  std::array<char, 40> buffer;
  char* last = buffer.data() + buffer.size();
  last = std::to_chars(buffer.data(), last, std::abs(value), std::chars_format::scientific).ptr;
  std::string_view shortest(buffer.data(), static_cast<size_t>(last - buffer.data()));  // "1.25e+03"
  size_t e = shortest.find('e');
  int exponent = 0;
  std::from_chars(buffer.data() + e + 2, last, exponent);
  if (shortest[e + 1] == '-') exponent = -exponent;
  std::string digits = ReplaceAll(std::string(shortest.substr(0, e)), ".", "");
  int point = exponent + 1;  // how many digits stand before it
  auto length = static_cast<int>(digits.size());
  std::string sign = value < 0 ? "-" : "";
  if (point <= 0) return sign + "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  if (point >= length) return sign + digits + std::string(static_cast<size_t>(point - length), '0');
  return sign + digits.insert(static_cast<size_t>(point), ".");
}

// Words that are booleans in YAML 1.1 only.
bool IsOldBoolean(std::string_view text) {
  std::string word = ToLower(text);
  return word == "y" || word == "n" || word == "yes" || word == "no" || word == "on" || word == "off";
}

std::string Octal(std::string_view digits) {
  std::uint64_t number = 0;
  auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  bool whole = end.ec == std::errc() && end.ptr == digits.data() + digits.size() && !digits.empty();
  return whole ? std::to_string(number) : "0o" + std::string(digits);
}

std::optional<std::string> ToText(const yaml::Scalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar)) return *text;
  if (const auto* boolean = std::get_if<bool>(&scalar)) return *boolean ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&scalar)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&scalar)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&scalar)) return PlainDecimal(*number);
  return std::nullopt;
}

}  // namespace

struct YamlPlaces::Document {
  yaml_document_t yaml = {};
  Document() = default;
  ~Document() { yaml_document_delete(&yaml); }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  const yaml_node_t* Node(int id) { return yaml_document_get_node(&yaml, id); }

  // `named` gets what names the step: the key in a map, the item itself in a list.
  const yaml_node_t* Child(const yaml_node_t& node, const std::string& step, const yaml_node_t** named = nullptr) {
    if (node.type == YAML_SEQUENCE_NODE) {
      const auto& items = node.data.sequence.items;
      size_t index = 0;
      auto end = std::from_chars(step.data(), step.data() + step.size(), index);
      bool inside = end.ec == std::errc() && index < static_cast<size_t>(items.top - items.start);
      const yaml_node_t* item = inside ? Node(items.start[index]) : nullptr;
      if (named != nullptr && item != nullptr) *named = item;
      return item;
    }
    if (node.type != YAML_MAPPING_NODE) return nullptr;
    const yaml_node_t* found = nullptr;
    for (const auto* pair = node.data.mapping.pairs.start; pair < node.data.mapping.pairs.top; ++pair) {
      const yaml_node_t* key = Node(pair->key);
      if (key->type != YAML_SCALAR_NODE || ToLower(Written(*key)) != ToLower(step)) continue;
      found = Node(pair->value);
      if (named != nullptr) *named = key;
    }
    return found;
  }

  // The node at `path`; with `nearest`, the last one on the way there.
  const yaml_node_t* Find(Path path, bool nearest) {
    const yaml_node_t* node = yaml_document_get_root_node(&yaml);
    for (const std::string& step : path) {
      const yaml_node_t* next = node == nullptr ? nullptr : Child(*node, step);
      if (next == nullptr) return nearest ? node : nullptr;
      node = next;
    }
    return node;
  }
};

std::string YamlPlace::ToString() const { return fmt::format("line {}, column {}", line, column); }

YamlPlaces::YamlPlaces(std::string_view text, size_t first_line) : first_line_(first_line) {
  yaml::EventParser parser(text);
  auto document = std::make_unique<Document>();
  if (parser.Load(document->yaml)) document_ = std::move(document);
}

YamlPlaces::~YamlPlaces() = default;

std::string YamlPlaces::Of(Path path) const {
  const yaml_node_t* node = document_ ? document_->Find(path, true) : nullptr;
  return node == nullptr ? "" : Place(node->start_mark, first_line_).ToString();
}

std::optional<YamlPlace> YamlPlaces::KeyAt(Path path) const {
  const yaml_node_t* node = document_ ? yaml_document_get_root_node(&document_->yaml) : nullptr;
  if (node == nullptr) return std::nullopt;
  const yaml_node_t* named = node;
  for (const std::string& step : path) {
    const yaml_node_t* next = document_->Child(*node, step, &named);
    if (next == nullptr) break;
    node = next;
  }
  return Place(named->start_mark, first_line_);
}

std::optional<std::string> YamlPlaces::WrittenAt(Path path) const {
  const yaml_node_t* node = document_ ? document_->Find(path, false) : nullptr;
  if (node == nullptr || node->type != YAML_SCALAR_NODE) return std::nullopt;
  return std::string(Written(*node));
}

std::optional<std::string> YamlPlaces::TextOf(Path path) const {
  const yaml_node_t* node = document_ ? document_->Find(path, false) : nullptr;
  if (node == nullptr || node->type != YAML_SCALAR_NODE) return std::nullopt;
  std::string_view written = Written(*node), tag = ExplicitTag(*node);
  bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (plain && tag.empty() && IsOldBoolean(written)) return std::string(written);
  if (plain && tag.empty() && written.starts_with("0o")) return Octal(written.substr(2));
  auto scalar = yaml::Resolve(tag, plain || !tag.empty(), written);
  return scalar.ok() ? ToText(*scalar) : std::string(written);
}

std::string YamlPlaces::RepeatedKey() const {
  if (!document_) return "";
  const auto& nodes = document_->yaml.nodes;
  for (const yaml_node_t* node = nodes.start; node < nodes.top; ++node) {
    if (node->type != YAML_MAPPING_NODE) continue;
    std::map<std::string_view, size_t> lines;
    for (const auto* pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; ++pair) {
      const yaml_node_t* key = document_->Node(pair->key);
      if (key->type != YAML_SCALAR_NODE) continue;
      auto [before, first] = lines.emplace(Written(*key), key->start_mark.line + first_line_);
      if (!first)
        return fmt::format("{}: key \"{}\" is already on line {}", Place(key->start_mark, first_line_).ToString(),
                           Written(*key), before->second);
    }
  }
  return "";
}

}  // namespace capi
