// The text that is rendered, and positions in it as its author sees them: those of the file as fetched (behaviour.md
// F2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml/yaml_fields.h"
#include "templating/envsubst/template.h"

namespace capi::templating {

// The components file, with the additional manifests behind it where there are any. Keeps views of both texts.
// Immutable.
class Source {
 public:
  Source(std::string_view components, std::string_view additional);
  // Views into itself.
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::string_view text() const { return text_; }

  // "line 12, column 3", or "line 1, column 2 of the additional manifests".
  std::string Place(size_t offset) const;
  std::string PlaceOfLine(size_t offset) const;  // the same without the column

 private:
  struct Position {
    size_t line, column;
    std::string_view file;  // " of the additional manifests", or ""
  };
  Position Find(size_t offset) const;

  std::string_view text_;
  std::string joined_;
  size_t additional_begin_;  // text_.size() + 1 when there are none
};

// `message` of the YAML parser, which speaks of lines and columns of `output`, in terms of `source`. Where values of
// variables stand in the line in question, the variables are named and the parser's words are left out: they may quote
// a value, and values never reach an error (I7).
std::string ExplainYamlError(std::string_view message, std::string_view output,
                             const std::vector<OutputSegment>& segments, const Source& source);

// Where output[at] comes from: an offset of the source.
size_t ToSource(const std::vector<OutputSegment>& segments, size_t at);

// Whether a variable made any of output[begin, end).
bool HasVariable(const std::vector<OutputSegment>& segments, size_t begin, size_t end);

// Names of the variables that made any of that part of the output, in order, each once; of an empty part, which can't
// show what made it so, those of its line.
std::vector<std::string> VariablesIn(YamlExtent extent, std::string_view output,
                                     const std::vector<OutputSegment>& segments);

// "A, B", for messages; of many the first few, and how many more there are.
std::string ListVariables(const std::vector<std::string>& names);

}  // namespace capi::templating
