// YAML: what is read can be written and read again; errors have places; aliases don't explode.
#include "base/fuzz.h"
#include "base/yaml/yaml.h"
#include "base/yaml/yaml_fields.h"
#include "base/yaml/yaml_lines.h"

namespace capi {
namespace {

size_t SizeOf(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  size_t size = 1;
  if (value.is_structured()) {
    for (const Json& item : value) size += SizeOf(item);
  }
  return size;
}

// "line 3, column 14: ..." within the text, which has that many ends of lines at most.
void CheckPlace(const std::string& message, std::string_view text, size_t breaks) {
  unsigned line = 0, column = 0;
  FUZZ_REQUIRE(std::sscanf(message.c_str(), "line %u, column %u: ", &line, &column) == 2);
  FUZZ_REQUIRE(line >= 1 && line <= breaks + 2);
  FUZZ_REQUIRE(column >= 1 && column <= text.size() + 2);
}

// Where libyaml says that a document begins, something does.
void CheckBegin(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
  FUZZ_REQUIRE(!text.empty());
  for (std::string_view nothing : {"#", "\n", "\r", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"})
    FUZZ_REQUIRE(!text.starts_with(nothing));
}

void CheckRoundTrip(const Json& value) {
  std::string written = ToYaml(value);
  auto read = ParseYaml(written);
  FUZZ_REQUIRE(read.ok());
  FUZZ_REQUIRE(*read == value);
  FUZZ_REQUIRE(ToYaml(*read) == written);
}

// Whatever is found is in the text.
void CheckFields(std::string_view text, const Json& value) {
  std::vector<YamlPath> paths = {{}, {"0"}};
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) paths.push_back({key});
  }
  for (const auto& field : FindYamlFields(text, paths)) {
    if (!field) continue;
    FUZZ_REQUIRE(field->type_from.begin <= field->type_from.end && field->type_from.end <= text.size());
    for (const YamlExtent& key : field->keys) FUZZ_REQUIRE(key.begin <= key.end && key.end <= text.size());
  }
}

}  // namespace
}  // namespace capi

CAPI_FUZZ(yaml, "base/yaml",
          {"a: 1\nb: [x, 'y', \"z\\n\"]\n---\n# c\n- |\n  text\n- >-\n  more\n  text\n",
           "- &x {a: 1}\n- {<<: *x, b: *x}\n", "a: [\n", "? a\n: !!int '7'\n", "%YAML 1.1\n---\n.5e3: ~\n...\n",
           "# a\r\r\n\r\r\na: 1\r\n---\n# b\r\r\nc: |\r\r\n  d\n"}) {
  using namespace capi;
  YamlLimits limits;
  limits.max_nodes = 20'000;
  auto documents = ParseYamlStream(input, limits);
  if (!documents.ok()) return CheckPlace(documents.error().message, input, CountYamlStreamBreaks(input));
  for (const YamlDocument& document : *documents) {
    FUZZ_REQUIRE(document.offset == OffsetOfYamlStreamLine(input, static_cast<size_t>(document.line)));
    CheckBegin(input.substr(document.offset));
    FUZZ_REQUIRE(SizeOf(document.value) <= (128u << 20));
    CheckRoundTrip(document.value);
    CheckFields(input.substr(std::min(document.offset, input.size())), document.value);
  }
  auto one = ParseYaml(input, limits);
  if (!one.ok()) return CheckPlace(one.error().message, input, CountYamlBreaks(input));
}
