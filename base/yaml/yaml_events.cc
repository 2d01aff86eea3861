#include "base/yaml/yaml_events.h"

namespace capi::yaml {

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

EventParser::EventParser(std::string_view text) : text_(text) {
  yaml_parser_initialize(&parser_);
  // The mark is dropped here: with an encoding given, libyaml doesn't look for it (nor for UTF-16).
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()), text_.size());
}

bool EventParser::Next(Event& event) {
  yaml_event_delete(&event);
  return yaml_parser_parse(&parser_, &event) != 0;
}

bool EventParser::Load(yaml_document_t& document) { return yaml_parser_load(&parser_, &document) != 0; }

std::string_view TextOf(const yaml_event_t& scalar) {
  return {reinterpret_cast<const char*>(scalar.data.scalar.value), scalar.data.scalar.length};
}

bool IsMergeKey(const yaml_event_t& scalar) {
  bool merges = scalar.data.scalar.plain_implicit != 0 || View(scalar.data.scalar.tag) == "tag:yaml.org,2002:merge";
  return merges && TextOf(scalar) == "<<";
}

}  // namespace capi::yaml
