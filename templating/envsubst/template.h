// The ${...} grammar of release templates: text to a flat tree, once; then discovery and evaluation on that tree.
//
// The grammar is that of the envsubst dialect clusterctl uses (docs/formats.md, "Templates"): plain, length, default,
// substring, replace, trim and case forms, arguments nested to any depth. Nothing recurses on the input, and every step
// is linear in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::templating {

enum class Op : std::uint8_t {
  kText,
  kPlain,               // ${N}
  kLength,              // ${#N}
  kDefault,             // ${N=w} ${N:=w} ${N:-w} ${N:?w} ${N:+w}: all the same
  kSubstring,           // ${N:p} ${N:p:l}
  kReplaceFirst,        // ${N/p/r}
  kReplaceAll,          // ${N//p/r}
  kReplacePrefix,       // ${N/#p/r}
  kReplaceSuffix,       // ${N/%p/r}
  kTrimShortestPrefix,  // ${N#g}
  kTrimLongestPrefix,   // ${N##g}
  kTrimShortestSuffix,  // ${N%g}
  kTrimLongestSuffix,   // ${N%%g}
  kUpperFirst,          // ${N^}
  kUpperAll,            // ${N^^}
  kLowerFirst,          // ${N,}
  kLowerAll,            // ${N,,}
};

// A text, or a variable with its arguments as a list of siblings.
struct TemplateNode {
  Op op = Op::kText;
  std::uint32_t first_arg = 0, last_arg = 0, next = 0;  // indices into the tree; 0 is none
  std::string_view text;                                // the text, or the variable's name
  size_t offset = 0;                                    // of the text or of "${" in the parsed text
};

// clusterctl's takes white space around a plain ASCII name: "${ A }" is "${A}", also where it is escaped.
enum class Dialect { kClusterctl, kEnvsubst };

// What is wrong, and where: a byte offset into the text as given.
struct TemplateError {
  std::string message;
  size_t offset = 0;
};

// From here on the output comes from `source` on (an offset into the text as given), byte by byte when `literal`,
// else all of it from the variable that starts there.
struct OutputSegment {
  size_t output = 0, source = 0;
  bool literal = true;
  std::string variable;  // "" when literal
};

struct TemplateOutput {
  std::string text;
  std::vector<OutputSegment> segments;  // ascending
};

inline constexpr size_t kMaxTemplateOutput = 64u << 20;
inline constexpr size_t kMaxTemplateParts = 120'000;  // texts and variables, nested ones too

// Immutable. Keeps views of the text it was parsed from: that text must outlive it.
class Template {
 public:
  using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

  // nullopt where the text doesn't parse, or has more than kMaxTemplateParts; `error` then says why. A NUL byte ends
  // the template.
  static std::optional<Template> Parse(std::string_view text, TemplateError& error,
                                       Dialect dialect = Dialect::kClusterctl);

  // Every name on the top level with the default text of its first occurrence, nullopt where it has none. Names that
  // occur only within arguments are not listed: clusterctl never asks for them.
  std::map<std::string, std::optional<std::string>> Variables() const;

  // A variable that isn't set is "". nullopt and `error` when a value can't be used, or when the output, or what is
  // held on the way to it, would be larger than `max_output`.
  std::optional<TemplateOutput> Evaluate(const Lookup& lookup, TemplateError& error,
                                         size_t max_output = kMaxTemplateOutput) const;

  // The text has no substitution and no escape: evaluation gives it back as it is.
  bool IsPlainText() const { return plain_; }

 private:
  friend class TemplateParser;
  size_t SourceOffset(size_t offset) const;  // into the text as given

  std::vector<TemplateNode> nodes_;  // [0] is the root: its arguments are the top level
  // White space that was removed from "${ A }": where (in the stripped text), and how much up to there.
  std::vector<std::pair<size_t, size_t>> stripped_;
  std::unique_ptr<const std::string> stripped_text_;
  std::vector<std::unique_ptr<const std::string>> unescaped_;
  bool plain_ = true;
};

}  // namespace capi::templating
