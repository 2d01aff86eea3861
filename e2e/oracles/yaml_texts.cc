#include "e2e/oracles/yaml_texts.h"

#include <string_view>

#include "base/strings.h"

namespace capi::e2e {
namespace {

// Booleans and nulls of YAML 1.1, and what only looks like them; numbers of all bases, with underscores, of base 60,
// and beyond 64 bits; dates; floats, infinities, not-a-number; indicators alone; tags. One word each.
constexpr std::string_view kWords =
    R"(y Y yes Yes YES yEs n N no No NO nO on On ON off Off OFF true True TRUE tRUE false False FALSE ~ null Null NULL
nUll '' 0 00 07 08 0777 0o17 0O17 0o8 0x1F 0X1f 0xG 0x 0b101 -0b11 0b 0b2 0b-1 0b+1 +0b1 -0x10 +0x10 -0777
+0777 -0o7 0_7 0x_1 0b_1 1_000 -_1 _1 1__2 1_ +_1 0x1_F ._5 .5_0 1_.5 1._5 1_0.5_0 1e_3 1_e3 1:30 190:20:30
190:20:30.15 -1:30 1:99 2001-01-01 2001-1-1 2001-13-01 2001-02-30 2001-01-01T00:00:00Z 2001-01-01t00:00:00Z
2001-01-01T00:00:00+01:00 2001-01-01T25:00:00Z 2001-12-14t21:59:43.10-05:00 0000-00-00 20010101
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615
18446744073709551616 +18446744073709551615 100000000000000000000 0x7FFFFFFFFFFFFFFF 0xFFFFFFFFFFFFFFFF
0xFFFFFFFFFFFFFFFFF -0x8000000000000000 01777777777777777777777 9007199254740993 -9007199254740993
9223372036854775807.0 1234567890123456789012345678901234567890 1.5 1.0 1. .5 +.5 -.5 1e3 1E3 1e+3 1E-3 1e999
-1e999 1e-999 1.e3 .e3 1e 1e+ e3 -0 -0.0 +0 0.1 1.7976931348623157e308 1.7976931348623159e308 4.9e-324 2.4e-324
123456.789 1234567.25 1e20 1e21 1e22 1e-6 1e-7 0.000001 3.0e5 0x1p4 0x1.8p1 1.5.2 1,000 123abc
0.30000000000000004 18446744073709551616.0 1e19 .inf -.inf +.inf .Inf .INF .iNF .nan .NaN .NAN .nAN inf nan
Infinity . .. ... + - -- -. +. = << < % @ ` ! & * ? : , | > a#b # a:b a: :a ?a -a -1a [ ] { } {} [] [a a] a,b
'a''b' 'a 'a'b a'b 'a'#c !!str)";

std::string Repeat(std::string_view piece, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

void AddScalars(std::vector<std::string>& out) {
  // clang-format off
  const std::string_view more[] = {
      "\"\"", "2001-01-01 00:00:00", "2001-01-01 00:00:00.5", "1 000", "- -", "a #b", "a: b", "? a", "a\tb", "\"a",
      "\"a\"b", "a\"b", "'a' # c", "!!str 1", "!!str yes", "!!int '1'", "!!int x", "!!int 1.0", "!!float 1",
      "!!float x", "!!float .inf", "!!bool 'on'", "!!bool 1", "!!null ~", "!!null x", "!!null ''", "!!binary aGk=",
      "!!binary '?'", "!!binary /w==", "!!timestamp 2001-01-01", "!!timestamp x", "!!merge <<", "!!map {}",
      "!!seq []", "!!map []", "!!seq {}", "!!str {}", "!!str []", "!!int []", "!!set {a}", "!!omap [a: 1]",
      "!foo 1", "!foo [1]", "! 1", "! 'a'", "!<tag:yaml.org,2002:int> 1", "!<!foo> 1", "!<> 1", "!e!x 1",
      "!!python/none x", "!!int 0x10", "!!int 1_0", "!!float 1_0.5", "!!str 'x'", "!a%20b 1",
      "!!float 9223372036854775808", "!!float 0x10", "!!bool yes", "!!bool TRUE", "!!int 9223372036854775808",
      R"("\x41\u00e9\U0001F600\n\t\\\/\"")", R"("\e\a\b\v\f\r\0\_\N\L\P")", R"("\q")", R"("\x4")", R"("\u12")",
      R"("\ud800")", R"("\ud83d\ude00")", R"("\UFFFFFFFF")", R"("\U00110000")", "\"a\\\n  b\"", "\"a\n\n  b\"",
      "'a\n\n  b'", "a\n  b", "\"a \\\n b\"", "\"\\ a\"", "\"\\\ta\"", "\xc3\xa9", "\xe2\x80\xa8", "\xc2\x85",
      "\xc2\xa0", "\xef\xbb\xbf", "\xef\xbf\xbd", "\xef\xbf\xbe", "\xf0\x9f\x98\x80", "\x7f", "a\xc2\x85" "b",
      "a\xe2\x80\xa8" "b", "a\xe2\x80\xa9" "b", "\xed\xa0\x80", "\xff", "\xc0\xaf", "\xf4\x90\x80\x80", "a\x01",
      "\xc2\x80", "a\xef\xbb\xbf" "b",
  };
  // clang-format on
  std::vector<std::string> scalars = Split(ReplaceAll(std::string(kWords), "\n", " "), ' ');
  scalars.insert(scalars.end(), std::begin(more), std::end(more));
  for (const std::string& text : scalars) {
    out.push_back(text);
    out.push_back("a: " + text + "\n");
    out.push_back("- " + text + "\n- " + text + "\n");
    out.push_back("[" + text + ", " + text + "]\n");
    out.push_back("{a: " + text + "}\n");
    out.push_back(text + ": 1\n");
    out.push_back("{" + text + ": 1, b: 2}\n");
    out.push_back("? " + text + "\n: 1\n");
    out.push_back("- &x " + text + "\n- *x\n- {*x : *x}\n");
  }
}

void AddBlocks(std::vector<std::string>& out) {
  const std::string_view bodies[] = {"  a\n",
                                     "  a\n  b\n",
                                     "  a\n\n  b\n\n\n",
                                     "   a\n  b\n",
                                     "  a\n   b\n  c\n",
                                     "\n\n  a\n",
                                     "  a",
                                     "",
                                     "\n",
                                     "  \n",
                                     "   \n  a\n",
                                     "  a\n \n",
                                     "\ta\n",
                                     "  \ta\n",
                                     "  a\t\n",
                                     "  a\n---\n  b\n",
                                     "  a\n  ---\n  b\n",
                                     "  a\n...\n",
                                     "  a\n  ...\n",
                                     "  a\n# c\n",
                                     "  a\n  # c\n",
                                     "  a\nb: 1\n",
                                     "    a\n   b\n",
                                     "  a\r\n  b\r\n",
                                     "  a\xc2\x85  b\n",
                                     " a\n",
                                     "a\n"};
  for (std::string_view body : bodies) {
    for (std::string_view style : {"|", ">"}) {
      for (std::string_view mark :
           {"", "-", "+", "1", "2", "3", "2-", "+2", "9", "0", "-+", "22", " # c", "# c", "- x", "2 "}) {
        std::string head = std::string(style).append(mark) + "\n";
        out.push_back("k: " + head + std::string(body));
        out.push_back("- " + head + std::string(body) + "- z\n");
      }
    }
  }
}

void AddLong(std::vector<std::string>& out) {
  for (size_t length : {127u, 128u, 1023u, 1024u, 1025u, 4096u, 70'000u}) {
    std::string name = Repeat("k", length);
    out.push_back(name + ": 1\n");
    out.push_back("{" + name + ": 1}\n");
    out.push_back("\"" + name + "\": 1\n");
    out.push_back("'" + name + "' : 1\n");
    out.push_back("a: " + name + "\n");
    out.push_back("a: " + Repeat("word ", length / 5) + "\n");
    out.push_back("a: &" + name + " 1\nb: *" + name + "\n");
    out.push_back("# " + name + "\na: 1\n");
    out.push_back("a: |\n  " + name + "\n  " + name + "\n");
    out.push_back("a: \"" + Repeat("\\u00e9", length) + "\"\n");
  }
  for (size_t depth : {10u, 50u, 90u}) {
    out.push_back(Repeat("[", depth) + Repeat("]", depth));
    out.push_back(Repeat("{a: ", depth) + Repeat("}", depth));
    out.push_back(Repeat("- ", depth) + "a\n");
  }
}

}  // namespace

std::vector<std::string> HandMadeYaml() {
  std::vector<std::string> out;
  AddScalars(out);
  AddBlocks(out);
  AddYamlStructures(out);
  AddLong(out);
  return out;
}

}  // namespace capi::e2e
