// A text with marks where values stood, and reading the values back from another text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace capi::templating {

// Immutable.
class MarkedText {
 public:
  using Values = std::map<std::string, std::string>;

  // `names`: mark to name. Marks are equally long, and none is part of another.
  static MarkedText Parse(std::string_view text, const Values& names);

  bool HasMarks() const { return !names_.empty(); }
  const std::vector<std::string>& Names() const { return names_; }  // in order of the text

  struct Reading {
    enum Kind { kRead, kAmbiguous, kMismatch };
    Kind kind = kMismatch;
    Values values;  // of kRead: those that weren't known
  };
  // Values that make this text `live`, given those that are `known`. kAmbiguous where several would do.
  Reading Read(std::string_view live, const Values& known) const;
  // Whether any values make this text `live`.
  bool Fits(std::string_view live) const { return Read(live, {}).kind != Reading::kMismatch; }

 private:
  std::vector<std::string> words_;  // around the marks: one more than names
  std::vector<std::string> names_;
};

}  // namespace capi::templating
