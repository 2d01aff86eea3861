// The ${...} grammar in both dialects: errors have a place in the text, output is bounded, and every segment of the
// output leads back to where it comes from.
#include "base/fuzz.h"
#include "templating/envsubst/template.h"

namespace capi::templating {
namespace {

constexpr size_t kMaxOutput = 1 << 16;

void CheckSegments(const TemplateOutput& out, std::string_view text) {
  size_t last = 0;
  for (const OutputSegment& segment : out.segments) {
    FUZZ_REQUIRE(segment.output >= last && segment.output <= out.text.size());
    FUZZ_REQUIRE(segment.source < text.size());
    last = segment.output;
    if (!segment.literal) FUZZ_REQUIRE(text.substr(segment.source, 2) == "${");
  }
}

void Check(std::string_view text, const Template::Lookup& lookup, Dialect dialect) {
  TemplateError error;
  auto parsed = Template::Parse(text, error, dialect);
  if (!parsed) {
    FUZZ_REQUIRE(!error.message.empty() && error.offset < text.size());
    FUZZ_REQUIRE(text.substr(error.offset, 2) == "${");
    return;
  }
  auto variables = parsed->Variables();
  auto out = parsed->Evaluate(lookup, error, kMaxOutput);
  if (!out) {
    FUZZ_REQUIRE(!error.message.empty() && error.offset < text.size());
    return;
  }
  FUZZ_REQUIRE(out->text.size() <= kMaxOutput);
  CheckSegments(*out, text);
  if (parsed->IsPlainText()) {
    FUZZ_REQUIRE(out->text == text && variables.empty());
  }
  auto again = parsed->Evaluate(lookup, error, kMaxOutput);
  FUZZ_REQUIRE(again && again->text == out->text);
}

}  // namespace
}  // namespace capi::templating

// A template, then values, with 0xFF between. The first character of a name chooses its value, or none.
CAPI_FUZZ(envsubst, "templating/envsubst",
          {"a: ${A:=x${B:-y}} $${C} ${ D }\xff"
           "value\xff"
           "other",
           "${A:1:2}${B/x/y}${C//a/b}${D/#a/b}${E/%a/b}\xff"
           "aaa\xff"
           "xyz",
           "${#A} ${A##*/} ${A%.*} ${A^} ${A^^} ${A,} ${A,,}\xff"
           "/usr/Lib.so\xff\xc3\xa9",
           "${A:", "${ A }}${B!}", "${A/[a-z]?/\\/}"}) {
  using namespace capi::templating;
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= input.size();) {
    size_t to = std::min(input.find('\xff', from), input.size());
    parts.push_back(input.substr(from, to - from));
    from = to + 1;
  }
  Template::Lookup lookup = [&](const std::string& name) -> std::optional<std::string> {
    size_t index = name.empty() ? 0 : static_cast<unsigned char>(name[0]) % parts.size();
    if (index == 0) return std::nullopt;
    return std::string(parts[index]);
  };
  Check(parts[0], lookup, Dialect::kEnvsubst);
  Check(parts[0], lookup, Dialect::kClusterctl);
}
