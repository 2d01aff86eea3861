// libyaml's parser and its events, and what they mean to all who read them. Used by yaml*.cc only.
#pragma once

#include <yaml.h>

#include <string_view>

namespace capi::yaml {

// "" for null.
std::string_view View(const yaml_char_t* text);

// An event of libyaml, freed with its owner. Thread-compatible.
struct Event : yaml_event_t {
  Event() : yaml_event_t() {}
  ~Event() { yaml_event_delete(this); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

// Over one text in UTF-8, which has to live as long. Thread-compatible.
class EventParser {
 public:
  explicit EventParser(std::string_view text);
  ~EventParser() { yaml_parser_delete(&parser_); }
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;

  // False at an error, which `state` tells of.
  bool Next(Event& event);
  // The next document; false at an error, and `document` is empty then.
  bool Load(yaml_document_t& document);

  std::string_view text() const { return text_; }  // without a byte order mark; marks count from its begin
  const yaml_parser_t& state() const { return parser_; }

 private:
  std::string_view text_;
  yaml_parser_t parser_ = {};
};

// Of a scalar's event: its text; whether it is "<<" as a key that merges.
std::string_view TextOf(const yaml_event_t& scalar);
bool IsMergeKey(const yaml_event_t& scalar);

}  // namespace capi::yaml
