// Where things stand in a YAML file, and how they are written there: for files that people edit, whose errors should
// lead to the line. Values come from base/yaml/yaml.h.
#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace capi {

// Line and column, from 1 on. A value.
struct YamlPlace {
  size_t line = 1, column = 1;
  std::string ToString() const;  // "line 4, column 3"
  auto operator<=>(const YamlPlace&) const = default;
};

// The first document of a text. Keys are found without regard to case; an element of a list by its decimal index; merge
// keys ("<<") are not followed. Thread-compatible.
class YamlPlaces {
 public:
  using Path = std::span<const std::string>;

  // Knows no places where the text isn't YAML: ParseYaml says why. `first_line`: the number of the text's first line,
  // where it is a part of a file.
  explicit YamlPlaces(std::string_view text, size_t first_line = 1);
  ~YamlPlaces();
  YamlPlaces(const YamlPlaces&) = delete;
  YamlPlaces& operator=(const YamlPlaces&) = delete;

  // "line 4, column 3": where the value at `path` begins, or the last step to it that is there; "" where nothing is.
  std::string Of(Path path) const;
  // Where the last step of `path` is named: its key, or the begin of an item. The last step that is there, where not
  // all are; nullopt where nothing is.
  std::optional<YamlPlace> KeyAt(Path path) const;

  // The scalar at `path` as configuration readers in Go hand it out as text: numbers in plain decimal, "true" and
  // "false", everything else as written ("yes" and dates too). nullopt for null, for lists and maps, and where nothing
  // is.
  std::optional<std::string> TextOf(Path path) const;
  // The same scalar as written, without quotes.
  std::optional<std::string> WrittenAt(Path path) const;

  // The first key that stands twice in one map: "line 4, column 1: key "a" is already on line 3"; "" for none.
  std::string RepeatedKey() const;

 private:
  struct Document;
  std::unique_ptr<Document> document_;
  size_t first_line_;
};

}  // namespace capi
