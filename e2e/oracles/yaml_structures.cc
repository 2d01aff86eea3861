#include <string_view>

#include "e2e/oracles/yaml_texts.h"

namespace capi::e2e {
namespace {

using std::string_literals::operator""s;

// clang-format off
constexpr std::string_view kTexts[] = {
    // nothing
    "", "\n", " ", "\t", "# c", "# c\n", "\n\n# c\n\n", "---", "---\n", "---\n---\n", "--- # c\n", "...\n",
    "---\n...\n", "...\n---\na: 1\n",
    // documents
    "a: 1\n---\nb: 2\n", "a: 1\n---\n---\nb: 2\n", "---\na: 1\n---\n", "--- a: 1\n", "--- {a: 1}\n", "---a\n",
    "----\n", "a\n----\nb\n", "a: 1\n--- \nb: 2\n", "a: 1\n---\t\nb: 2\n", "a: 1\n---#\nb: 2\n", "a: 1\n--- x\n",
    "a: 1\n...\nb: 2\n", "a: 1\n... # c\nb: 2\n", "a: 1\n...x\n", "a: 1\n ---\nb: 2\n", " ---\na: 1\n",
    "a: '\n---\n'\n", "a: \"x\n---\ny\"\n", "a:\n---\nb", "\r\n---\r\na: 1\r\n---\r\nb: 2", "a: 1\r---\rb: 2\r",
    "a: 1\r\n", "a: 'x\r\n  y'\r\n", "a: |\r\n  x\r\n  y\r\n", "a: 1\n\r\nb: 2", "\xef\xbb\xbf" "a: 1\n",
    "\xef\xbb\xbf---\na: 1\n", "a: 1\n---\n\xef\xbb\xbf" "b: 2\n", "\xef\xbb\xbf", "\xef\xbb\xbf\xef\xbb\xbf" "a: 1",
    "# c\n\xef\xbb\xbf" "a: 1\n",
    // directives
    "%YAML 1.1\n---\na: 1\n", "%YAML 1.2\n---\na: 1\n", "%YAML 1.3\n---\na: 1\n", "%YAML 2.0\n---\na: 1\n",
    "%YAML 1.1\n%YAML 1.1\n---\na\n", "%YAML 1.1\na: 1\n", "%TAG !e! tag:yaml.org,2002:\n---\na: !e!int '1'\n",
    "%TAG ! tag:yaml.org,2002:\n---\na: !int '1'\n", "%FOO bar\n---\na: 1\n", "%TAG\n---\na", "%\n---\na",
    "a: 1\n%YAML 1.1\n", "a: 1\n...\n%YAML 1.1\n---\nb: 2\n", "%YAML 1.1 # c\n---\na: 1\n",
    "%YAML 1.1x\n---\na: 1\n",
    // duplicate keys
    "a: 1\na: 2\n", "{a: 1, a: 2, 'a': 3}", "1: a\n0x1: b\n", "yes: a\ntrue: b\n", "'1': a\n1: b\n", "~: a\n",
    "a: {b: 1, b: {c: 1}}\n",
    // other keys
    "1: a\n", "1.5: a\n", "1e10: a\n", "1e400: a\n", "true: a\n", "null: a\n", "'': a\n", ": a\n", "[a]: b\n",
    "{a: b}: c\n", "? [a]\n: b\n", "? {a: b}\n: c\n", "? |\n  a\n: b\n", "? a\n", "? a\n? b\n", "{? a : b}", "{? a}",
    "{a}", "{a, b: c}", "[a: b]", "[? a : b]", "[a: b, c: d]", "[: b]", "{: b}", "{a:b}", "{a:b, c: d}", "{\"a\":b}",
    "{'a':1}", "[a:b]", "[a:1]", "{a: b:c}", "[http://x.y/z]", "{u: http://x.y:8/z}", "a: b: c\n", "a: - b\n",
    "a:\n- b\n- c\n", "a:\n - b\n-c\n", "- a\n - b\n", "- a\n-b\n", "- - a\n  - b\n", "-\n  a\n", "- a: 1\n  b: 2\n",
    "- a: 1\n b: 2\n", "a:\n  b: 1\n c: 2\n", "a:\n    b: 1\n  c: 2\n", "a\nb: 1\n", "a b: 1\n", "a:\n\n\n  b\n",
    "a: 'x'\n 'y'\n", "18446744073709551615: a\n", "9223372036854775808: a\n", "1.0: a\n", "-0.0: a\n", "0.1: a\n",
    "16777217: a\n", "1.23456789: a\n", "2001-01-01: a\n", ".inf: a\n", ".nan: a\n", "!!binary aGk=: a\n",
    "!!str 1: a\n", "? !!int '1'\n: a\n",
    // anchors, aliases
    "a: &x 1\nb: *x\n", "a: &x\nb: *x\n", "a: &x {b: 1}\nc: *x\n", "a: &x [1]\nb: [*x, *x]\n", "a: *x\n",
    "a: &x *x\n", "a: &x [*x]\n", "a: &x 1\nb: &x 2\nc: *x\n", "&x a: 1\nb: *x\n", "*x : 1\n", "- &x a\n- *x : 1\n",
    "- &x a\n- {*x: 1}\n", "- &x a\n- *x: 1\n", "a: & b\n", "a: * b\n", "a: &x &y 1\n", "a: !!str &x 1\nb: *x\n",
    "a: &x !!str 1\nb: *x\n", "&x\na: 1\n", "--- &x\na: 1\n", "a: &x-y_z.1 2\nb: *x-y_z.1\n", "a: &x:y 1\nb: *x:y\n",
    "a: &\xc3\xa9 1\nb: *\xc3\xa9\n", "[&a a, *a]", "[&a a, *a ]", "{a: &x, b: *x}", "a: &x b\nc: *x d\n", "&a [*a]",
    "a: &x 1\n---\nb: *x\n", "- &x 1\n- &y *x\n", "? &x a\n: *x\n", "&x : a\nb: *x\n",
    // merges
    "- &x {a: 1, b: 2}\n- {b: 3, <<: *x}\n", "- &x {a: 1, b: 2}\n- {<<: *x, b: 3}\n",
    "- [&x {a: 1}, &y {a: 2, b: 2}]\n- {<<: [*x, *y], c: 3}\n", "<<: {a: 1}\n", "'<<': {a: 1}\n", "\"<<\": {a: 1}\n",
    "<<: 1\n", "<<: [1]\n", "<<: []\n", "<<: ~\n", "<<: [{a: 1}, {a: 2}]\n", "<<: [[{a: 1}]]\n",
    "- &x [{a: 1}]\n- {<<: *x}\n", "- &x 1\n- {<<: *x}\n", "a: <<\n", "- <<\n", "<<: {a: 1}\n<<: {b: 2}\n",
    "a: 1\n<<: {a: 2}\n<<: {a: 3}\n", "- &x <<\n- {*x : {a: 1}}\n", "!!merge <<: {a: 1}\n", "!!str <<: {a: 1}\n",
    "<<: {<<: {a: 1}, b: 2}\n", "<<: &x {a: 1}\nb: *x\n", "- &x {1: a}\n- {<<: *x, '1': b}\n", "? <<\n: {a: 1}\n",
    "<<: !!map {a: 1}\n", "! <<: {a: 1}\n", "!foo <<: {a: 1}\n", "{<<: {a: 1}, <<}",
    // tabs, comments, long flow
    "a:\tb\n", "a: \tb\n", "\ta: b\n", "a:\n\tb: c\n", "a:\n  \tb: c\n", "-\ta\n", "-\t- a\n", "- \t- a\n",
    "a: b\t\n", "a: b\t# c\n", "[\ta,\tb\t]\n", "{a:\tb}\n", "{\n\ta: b\n}\n", "[\n\ta\n]\n", "a: [\nb\n]\n",
    "a: [\n  b,\n]\n", "a: {\n  b: c,\n}\n", "a: {\nb: c\n}\n", "[a,,b]", "[,]", "{,}", "{a: 1,,}", "[a, ]", "[ ]",
    "{ }", "a: b#c\n", "a: b # c\n", "a: # c\n  b\n", "a: 'b' #c\n", "a: [b #c\n]\n", "[a #c\n, b]", "[a#c, b]",
    "a: b\n # c\nd: e\n", "a: b\n  # c\n  d\n", "a:\n# c\n  b: 1\n", "a: >\n  # c\n", "# a\n# b\na: 1 # c\n# d\n",
    "a: |  # c\n  b\n", "a: | # c\n  b\n", "a: 'b\n# c\n  d'\n", "a: b\n\n\n", "a: b\n\t\n", "a: b\n  \n",
    "a: 'it''s'\n", "a: 'x\n\n\n  y'\n", "a: x\n  y\n\n  z\n", "a: \"x\\\n    y\"\n", "a: \"x\\\n\n    y\"\n",
    "key with spaces: 1\n", "? very\n  long\n: 1\n", "a: -\n", "a: - \n", "- - - a\n", "-", "- ", "-\n-\n", "- \n- ",
    "?", "? ", ":", ": ", "a:", "a: ", "a", "a ", " a", "[a]: 1\n", "a: [1, 2\n", "a: {b: 1\n", "a: ]\n", "a: }\n",
    "a: @b\n", "a: `b\n", "a: %b\n", "%a: b\n", "a: !\n", "a: !<\n", "a: b]c\n", "a: b}c\n", "[a{b]", "[a[b]]",
    "a: b?c\n", "[a?b]", "[?a]", "[a?]", "{?a: b}", "{a?: b}", "[-a]", "[-]", "[- a]", "[a-]", "{-a: -b}",
    "a: \"b\" c\n", "a: [b] c\n", "a: {b: c} d\n", "[a] b", "'a': b\n'c'\n",
};
// clang-format on

}  // namespace

void AddYamlStructures(std::vector<std::string>& out) {
  for (std::string_view text : kTexts) out.emplace_back(text);
  out.push_back("{a: {~: 1}, a: 2}");
  out.push_back("{!t, b: 2}");
  out.push_back("[][[[]|\n]]]");
  out.push_back("a: 1\n---\xe2\x80\xa8\nb: 2\n");
  out.push_back("a\0b"s);
  out.push_back("a: b\n\0"s);
  out.push_back(
      "\xff\xfe"
      "a\0:\0 \0b\0"s);
  out.push_back(
      "\xff\xfe"
      "a\0:\0 \0b"s);  // a newline completes the last character
  out.push_back("\xfe\xff\0a\0:\0 \0b"s);
}

}  // namespace capi::e2e
