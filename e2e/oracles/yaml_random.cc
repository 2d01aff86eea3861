#include <array>
#include <random>
#include <span>
#include <string_view>

#include "e2e/oracles/yaml_texts.h"

namespace capi::e2e {
namespace {

constexpr std::array<std::string_view, 86> kScalars = {"y",
                                                       "no",
                                                       "On",
                                                       "true",
                                                       "~",
                                                       "null",
                                                       "0",
                                                       "07",
                                                       "0x1F",
                                                       "0b11",
                                                       "1_000",
                                                       "1:30",
                                                       "2001-01-01",
                                                       "2001-01-01T00:00:00Z",
                                                       "9223372036854775808",
                                                       "18446744073709551616",
                                                       "1.5",
                                                       "1e3",
                                                       "1e21",
                                                       "-0.0",
                                                       ".5",
                                                       "1.",
                                                       "text",
                                                       "two words",
                                                       "a:b",
                                                       "a#b",
                                                       "http://x/y:z",
                                                       "'quoted'",
                                                       "'it''s'",
                                                       "\"dq\"",
                                                       "\"\\u00e9\\n\"",
                                                       "\"a\\\"b\"",
                                                       "\xc3\xa9",
                                                       "''",
                                                       "\"\"",
                                                       "-x",
                                                       "?x",
                                                       ":x",
                                                       "x:",
                                                       "a-b",
                                                       "10.0.0.1",
                                                       "v1.2.3",
                                                       "1.2.3",
                                                       "<<",
                                                       "=",
                                                       "0o17",
                                                       "+1",
                                                       "-.5e-3",
                                                       "0.000001",
                                                       "123456789012345678",
                                                       "''''",
                                                       "{}",
                                                       "[]",
                                                       "!!str 1",
                                                       "!!int '7'",
                                                       "!!float 2",
                                                       "!foo x",
                                                       "\"\\x41\"",
                                                       "'multi\n   line'",
                                                       "\"multi\n\n   line\"",
                                                       "$x",
                                                       "$(A)",
                                                       "a,b",
                                                       "a]",
                                                       "a}b",
                                                       "{{ x }}",
                                                       "!!null ''",
                                                       "!!bool yes",
                                                       "%x",
                                                       "@x",
                                                       "x%",
                                                       "x@",
                                                       "a  b",
                                                       "a\tb",
                                                       "*.x",
                                                       "&",
                                                       "|",
                                                       "1e",
                                                       "e1",
                                                       "\"\\t\"",
                                                       "'#'",
                                                       "\"- x\"",
                                                       "a: b",
                                                       "\xf0\x9f\x98\x80",
                                                       "0.1e1",
                                                       "~x"};

constexpr std::array<std::string_view, 66> kPieces = {" ",
                                                      "  ",
                                                      "    ",
                                                      "\n",
                                                      "\n",
                                                      "\n  ",
                                                      "\n    ",
                                                      "\n- ",
                                                      "\n  - ",
                                                      "- ",
                                                      "-",
                                                      ": ",
                                                      ":",
                                                      ",",
                                                      ", ",
                                                      "[",
                                                      "]",
                                                      "{",
                                                      "}",
                                                      "? ",
                                                      "?",
                                                      "|\n",
                                                      "|-\n  ",
                                                      ">\n  ",
                                                      ">+\n ",
                                                      "|2\n",
                                                      "'",
                                                      "\"",
                                                      "''",
                                                      "\\",
                                                      "\\n",
                                                      "#",
                                                      " # c\n",
                                                      "&x ",
                                                      "*x",
                                                      "*x ",
                                                      "&y",
                                                      "!!str ",
                                                      "!!int ",
                                                      "!foo ",
                                                      "! ",
                                                      "!",
                                                      "<<: ",
                                                      "<<",
                                                      "---\n",
                                                      "\n---\n",
                                                      "...\n",
                                                      "%YAML 1.1\n",
                                                      "\t",
                                                      "\r\n",
                                                      "\r",
                                                      "a",
                                                      "b: ",
                                                      "a: 1\n",
                                                      "key",
                                                      "1",
                                                      "0x1",
                                                      "~",
                                                      "yes",
                                                      "\xc3\xa9",
                                                      "\xc2\x85",
                                                      "\xe2\x80\xa8",
                                                      "\xef\xbb\xbf",
                                                      "\xff",
                                                      "\x01",
                                                      "%"};

// Builds one text. std::uniform_int_distribution isn't the same everywhere, so it does without.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string Text() {
    switch (Below(3)) {
      case 0: return Valid();
      case 1: return Mutated();
      default: return Soup();
    }
  }

 private:
  size_t Below(size_t n) { return static_cast<size_t>(random_() % n); }
  bool OneIn(size_t n) { return Below(n) == 0; }
  std::string Of(std::span<const std::string_view> texts) { return std::string(texts[Below(texts.size())]); }

  std::string Valid() {
    out_.clear();
    for (size_t documents = 1 + Below(OneIn(4) ? 3 : 1); documents > 0; --documents) {
      if (!out_.empty() || OneIn(3)) out_ += "---\n";
      Node(0, 0);
    }
    return out_;
  }

  void Line(size_t indent, std::string_view text) { out_.append(indent, ' ').append(text); }

  std::string Decoration() {
    if (OneIn(8)) return "&a" + std::to_string(anchors_++) + " ";
    return OneIn(30) ? "!!map " : "";
  }

  // A node that stands on lines of its own.
  void Node(size_t indent, size_t depth) {
    if (depth < 4 && OneIn(depth == 0 ? 12 : 5)) return Line(indent, Flow(depth) + "\n");
    if (depth >= 4) return Line(indent, Scalar() + "\n");
    bool list = OneIn(3);
    for (size_t items = 1 + Below(4); items > 0; --items) {
      if (OneIn(12)) Line(OneIn(2) ? 0 : indent, "# comment\n");
      if (OneIn(20)) out_ += OneIn(2) ? "\n" : "  \n";
      Line(indent, list ? "-" : Key() + ":");
      Value(indent, depth, list);
    }
  }

  // What comes behind "-" or "key:".
  void Value(size_t indent, size_t depth, bool list) {
    switch (Below(6)) {
      case 0: out_ += "\n"; break;
      case 1: Block(indent); break;
      case 2:
      case 3: {
        out_ += " " + Decoration();
        out_ += "\n";
        Node(indent + (list || OneIn(3) ? 1 + Below(4) : 2), depth + 1);
        break;
      }
      default: out_ += " " + (OneIn(3) ? Flow(depth + 1) : Scalar()) + (OneIn(10) ? " # c\n" : "\n");
    }
  }

  void Block(size_t indent) {
    static constexpr std::array<std::string_view, 10> kHeads = {"|",  ">",  "|-",  ">-", "|+",
                                                                ">+", "|2", ">2-", "|1", "|+2"};
    static constexpr std::array<std::string_view, 12> kLines = {
        "a", "", " more", "---", "- x", "k: v", "# no comment", "\ttab", "  ", "...", "\xc3\xa9", "trail "};
    out_ += " " + Of(kHeads) + "\n";
    for (size_t lines = Below(5); lines > 0; --lines) {
      std::string line = Of(kLines);
      Line(line.empty() ? 0 : indent + 2, line + "\n");
    }
  }

  std::string Key() {
    if (OneIn(6)) return Scalar();
    if (OneIn(25)) return "<<";
    static constexpr std::array<std::string_view, 10> kKeys = {"a",   "b",   "name",  "kind",     "1",
                                                               "yes", "'q'", "\"d\"", "long key", "x.y/z"};
    return Of(kKeys);
  }

  std::string Scalar() {
    if (anchors_ > 0 && OneIn(6)) return "*a" + std::to_string(Below(anchors_)) + (OneIn(2) ? " " : "");
    std::string anchor = OneIn(15) ? "&a" + std::to_string(anchors_++) + " " : "";
    return anchor + Of(kScalars);
  }

  std::string Flow(size_t depth) {
    if (depth > 5) return Scalar();
    bool list = OneIn(2);
    std::string out = Decoration();
    if (list && out == "!!map ") out.clear();
    out += list ? "[" : "{";
    for (size_t items = Below(4); items > 0; --items) {
      if (!list || OneIn(8)) out += Key() + (OneIn(10) ? ":" : ": ");
      out += OneIn(4) ? Flow(depth + 1) : Scalar();
      if (items > 1 || OneIn(8)) out += OneIn(5) ? "," : ", ";
      if (OneIn(20)) out += "\n   ";
    }
    return out + (list ? "]" : "}");
  }

  std::string Mutated() {
    static const std::vector<std::string> kHandMade = HandMadeYaml();
    std::string text = OneIn(2) ? Valid() : kHandMade[Below(kHandMade.size())];
    if (text.size() > 2000) text.resize(2000);
    for (size_t changes = 1 + Below(4); changes > 0; --changes) {
      size_t at = Below(text.size() + 1), length = Below(std::min<size_t>(6, text.size() - at + 1));
      switch (Below(4)) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, Of(kPieces)); break;
        case 2: text.insert(Below(text.size() + 1), text.substr(at, length)); break;
        default: text.replace(at, length, Of(kPieces));
      }
    }
    return text;
  }

  std::string Soup() {
    std::string out;
    for (size_t pieces = 1 + Below(16); pieces > 0; --pieces) out += OneIn(4) ? Of(kScalars) : Of(kPieces);
    return out;
  }

  std::mt19937_64 random_;
  std::string out_;
  size_t anchors_ = 0;
};

}  // namespace

std::string RandomYaml(std::uint64_t index) { return Generator(index).Text(); }

}  // namespace capi::e2e
